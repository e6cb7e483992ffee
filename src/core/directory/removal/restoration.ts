import { isDeepStrictEqual } from 'node:util'
import type { CheckLease } from '../../jobs/task-worker.ts'
import { addressKey, type DocumentAddress, documentAddress, organizationPrefix } from '../../model/address.ts'
import type { Engine, Key, KvEntry } from '../../store/engine.ts'
import { entryPages } from '../../store/pages.ts'
import { anyRecordType, encodeRecord, readRecord } from '../../store/stored-record.ts'
import {
  type BranchPlace,
  type BranchRecord,
  branchKeys,
  branchRecordType,
} from '../branches/branch-records.ts'
import { BranchStore, branchPlaceOf } from '../branches/branch-store.ts'
import { folderPath, markTreeChanged, parentsOfAll } from '../documents/folder-tree.ts'
import { findMissing } from '../documents/resource-lookup.ts'
import { directoryLimits } from '../limits.ts'
import type { CascadeHandler } from '../organizations/cascade-handler.ts'
import {
  keys,
  type OrganizationScope,
  organizationPart,
  tenantKeys,
  tenantPart,
} from '../organizations/organization-keys.ts'
import type { OrganizationStore } from '../organizations/organization-store.ts'
import { mapInSlices } from '../store/batch.ts'
import type { DirectoryReader } from '../store/directory-reader.ts'
import { deletionMark, emptyValue, placedDocumentType, placedFolderType } from '../store/records.ts'
import type { Transaction } from '../store/transaction.ts'
import { copyBlobs, copyLogs } from './copy-stored.ts'
import { copiedMark, type DeletionRecord } from './deletion-record.ts'
import { type RemovalMessage, removalTopic } from './removal-task.ts'

/** Maximum number of records in one commit. */
const atOnce = 200

/** Mark of copied logs. It is longer than the marks of the removal, because any id may be `back`. */
const copiedLogs: Key = [copiedMark, 'back', 'logs']

/**
 * Moves the data of a deletion back. First the records of the resources are written as being deleted: they reserve the
 * ids, and no call sees the resources. The last commit makes the resource visible with everything in it. Every step
 * can be repeated, so a job that a crash has interrupted continues.
 */
export class Restoration {
  readonly #engine: Pick<Engine, 'kv' | 'log' | 'blobs' | 'bus'>
  readonly #store: OrganizationStore
  readonly #cascade: readonly CascadeHandler[]
  readonly #deletion: DeletionRecord
  readonly #from: OrganizationScope
  readonly #into: OrganizationScope
  readonly #goOn: CheckLease

  /** @param places the organization that keeps the data, and the one that gets it back */
  constructor(
    engine: Pick<Engine, 'kv' | 'log' | 'blobs' | 'bus'>,
    store: OrganizationStore,
    cascade: readonly CascadeHandler[],
    deletion: DeletionRecord,
    [from, into]: readonly [OrganizationScope, OrganizationScope],
    goOn: CheckLease,
  ) {
    this.#engine = engine
    this.#store = store
    this.#cascade = cascade
    this.#deletion = deletion
    this.#from = from
    this.#into = into
    this.#goOn = goOn
  }

  /** Returns null when everything is restored; otherwise the reason why nothing has changed. */
  async carryOut(): Promise<DeletionRecord['problem'] | null> {
    const isDone = await this.#store.read(this.#into).get(keys.restored(this.#deletion.deletionId))
    if (isDone !== null) return null
    const places = [organizationPrefix(this.#from), organizationPrefix(this.#into)] as const
    // An attempt that has copied the logs has reserved all ids, and may have made some resources visible. The logs get
    // a new epoch, so they are copied only once.
    const [isCopied = null] = await this.#engine.kv.get(organizationPart(this.#from), [copiedLogs])
    if (isCopied === null) {
      const problem = await this.#reserve()
      if (problem !== null) {
        await this.#release()
        return problem
      }
      this.#publish({ kind: 'begun', task: { kind: 'restore', scope: this.#into } })
      await copyLogs(this.#engine.log, places, this.#goOn)
      const puts = [{ key: copiedLogs, value: encodeRecord(emptyValue) }]
      await this.#engine.kv.commit(organizationPart(this.#from), { puts })
    }
    for (const handler of this.#cascade) await handler.beforeRestore?.(this.#from, this.#into, this.#goOn)
    await this.#moveEntries()
    // A sweep deletes contents of versions that have no record.
    await copyBlobs(this.#engine.blobs, places, this.#goOn)
    return this.#show()
  }

  /** Reserves the ids. Returns the reason if one of them is in use, or if the parent does not exist. */
  async #reserve(): Promise<DeletionRecord['problem'] | null> {
    if (this.#deletion.type === 'organization') return this.#reserveOrganization()
    if (this.#deletion.type === 'branch') return this.#reserveBranch()
    const levels = await levelsOf(this.#store.read(this.#from))
    for (const prefix of [keys.folders, keys.documents])
      for await (const page of this.#pages(prefix)) {
        const problem = await this.#store.carryOut(this.#into, (transaction) =>
          this.#reserveSome(transaction, page, levels),
        )
        if (problem !== null) return problem
        await this.#goOn()
      }
    return null
  }

  async #reserveSome(
    transaction: Transaction,
    page: readonly KvEntry[],
    levels: number,
  ): Promise<DeletionRecord['problem'] | null> {
    const there = await transaction.getAll(page.map(({ key }) => key))
    let folders = 0
    for (const [index, entry] of page.entries()) {
      const { key } = entry
      const [kind, id = ''] = key
      const record = readRecord(anyRecordType, entry)
      const parent = id === this.#deletion.id ? parentIn(kind, entry) : null
      const above = parent === null ? [] : await folderPath(transaction, parent)
      if (above === null || above.length + levels > directoryLimits.folderDepth)
        return { code: 'deletion/no-parent', id: parent ?? id }
      const found = there[index] ?? null
      if (found !== null && !isDeepStrictEqual(found, record)) return { code: 'deletion/id-exists', id }
      if (found === null && kind === keys.folders[0]) folders += 1
      transaction.put(key, record)
    }
    if (folders > 0) await markTreeChanged(transaction, folders)
    return null
  }

  async #reserveOrganization(): Promise<DeletionRecord['problem'] | null> {
    const { deletionId, id } = this.#deletion
    const record = await this.#store.read(this.#from).get(keys.organization)
    const reserved = { ...record, ...deletionMark(deletionId) }
    const isFree = await this.#store.carryOut(this.#into, async (transaction) => {
      const found = await transaction.get(keys.organization)
      if (found === null) transaction.put(keys.organization, reserved)
      return found === null || isDeepStrictEqual(found, reserved)
    })
    if (!isFree) return { code: 'deletion/id-exists', id }
    const puts = [{ key: tenantKeys.organization(id), value: encodeRecord(emptyValue) }]
    await this.#engine.kv.commit(tenantPart(this.#into), { puts })
    return null
  }

  async #reserveBranch(): Promise<DeletionRecord['problem'] | null> {
    const branches = new BranchStore(this.#store)
    const { place, branch } = await this.#branch()
    const { documentId, editorId } = place
    const { id, deletionId } = this.#deletion
    const found = await branches.find(this.#into, place)
    const isOwn = found?.deletion?.id === deletionId
    const [missing] = await findMissing(this.#store.read(this.#into), [{ type: 'document', id: documentId }])
    if (missing !== undefined) return { code: 'deletion/no-parent', id: documentId }
    const [kept, main] = [this.#addressIn(this.#from, id), this.#addressIn(this.#into, editorId)]
    const [head = null] = await this.#engine.log.heads([addressKey(this.#addressIn(this.#into, id))])
    if (!isOwn && (found !== null || head !== null)) return { code: 'deletion/id-exists', id }
    // From now on, the editor is not pruned.
    if (!isOwn) await branches.add(this.#into, documentId, branch)
    for (const handler of this.#cascade)
      if ((await handler.canFollow?.(kept, main, branch.deletion)) === false) {
        await branches.remove(this.#into, place)
        return { code: 'deletion/editor-changed', id: editorId }
      }
    // Clients may have opened an ordinary editor with this id.
    this.#publish({ kind: 'begun', task: { kind: 'branch', scope: this.#into, place } })
    return null
  }

  /** Returns the deleted branch. */
  async #branch(): Promise<{ readonly place: BranchPlace; readonly branch: BranchRecord }> {
    const [entry] = await this.#store.read(this.#from).scan({ prefix: branchKeys.all, limit: 1 })
    if (entry === undefined) throw new Error('the deletion has lost its branch')
    const branch = readRecord(branchRecordType, entry)
    return { place: branchPlaceOf(this.#deletion.documentId ?? '', branch), branch }
  }

  /** Returns the address of an editor of the document of the deleted branch. */
  #addressIn(scope: OrganizationScope, editorId: string): DocumentAddress {
    return documentAddress(scope, { ...scope, documentId: this.#deletion.documentId ?? '', editorId })
  }

  #publish(message: RemovalMessage): void {
    removalTopic.publish(this.#engine.bus, message)
  }

  /** Removes the records that `#reserve` has written. */
  async #release(): Promise<void> {
    if (this.#deletion.type === 'organization') return
    for (const prefix of [keys.documents, keys.folders])
      for await (const page of this.#pages(prefix)) {
        await this.#store.carryOut(this.#into, async (transaction) => {
          const there = await transaction.getAll(page.map(({ key }) => key))
          const own = page.filter((entry, index) =>
            isDeepStrictEqual(there[index], readRecord(anyRecordType, entry)),
          )
          for (const { key } of own) transaction.delete(key)
          if (own.length > 0 && prefix === keys.folders) await markTreeChanged(transaction, -own.length)
        })
        await this.#goOn()
      }
  }

  /** Moves all other entries. Entries that exist stay, because they belong to other resources as well. */
  async #moveEntries(): Promise<void> {
    for await (const page of this.#pages()) {
      const moved = page.filter(({ key }) => key[0] !== keys.organization[0] && key[0] !== copiedMark)
      await this.#store.carryOut(this.#into, async (transaction) => {
        const there = await transaction.getAll(moved.map(({ key }) => key))
        const subjects = await this.#subjectsExist(transaction, moved)
        for (const [index, entry] of moved.entries())
          if ((there[index] ?? null) === null && subjects[index] === true)
            transaction.put(entry.key, readRecord(anyRecordType, entry))
      })
      await this.#goOn()
    }
  }

  /**
   * Returns for each entry false if it is a permission of a user or a group that does not exist any more. It would give
   * access to a user who was removed from the organization.
   */
  #subjectsExist(transaction: Transaction, entries: readonly KvEntry[]): Promise<readonly boolean[]> {
    return mapInSlices(entries, async ({ key }) => {
      const [kind] = key
      const [type, id] = kind === 'grants' ? key.slice(3) : kind === 'grantsOf' ? key.slice(1) : []
      if (id === undefined || this.#deletion.type === 'organization') return true
      return (await transaction.get(type === 'user' ? keys.user(id) : keys.group(id))) !== null
    })
  }

  /** Makes the resource visible. Returns the reason if it is a branch whose document was deleted meanwhile. */
  async #show(): Promise<DeletionRecord['problem'] | null> {
    const { type, deletionId, id } = this.#deletion
    const top =
      type === 'branch'
        ? branchKeys.branch((await this.#branch()).place)
        : { organization: keys.organization, folder: keys.folder(id), document: keys.document(id) }[type]
    // Resources that another deletion had marked come back as well.
    const inside = [keys.documents, branchKeys.all]
    for (const prefix of type === 'organization' ? [keys.folders, ...inside] : inside)
      for await (const page of this.#pages(prefix)) {
        const others = page.map(({ key }) => key).filter((key) => !isDeepStrictEqual(key, top))
        await this.#store.bringBack(this.#into, (transaction) => unmark(transaction, others))
        await this.#goOn()
      }
    const isThere = await this.#store.bringBack(this.#into, async (transaction) => {
      const isReserved = async () =>
        (await transaction.get(top, branchRecordType))?.deletion?.id === deletionId
      if (type === 'branch' && !(await isReserved())) return false
      await unmark(transaction, [top])
      transaction.put(keys.restored(deletionId), emptyValue)
      return true
    })
    if (type !== 'branch') return null
    const branch = this.#addressIn(this.#into, id)
    if (isThere) this.#publish({ kind: 'restored', branch })
    if (isThere) return null
    await this.#engine.log.destroyPrefix(addressKey(branch), { confirm: this.#goOn })
    await this.#engine.kv.commit(organizationPart(this.#from), { dels: [copiedLogs] })
    return { code: 'deletion/no-parent', id: branch.documentId }
  }

  #pages(prefix?: Key) {
    const { kv } = this.#engine
    const part = organizationPart(this.#from)
    return entryPages((range) => kv.scan(part, range), { limit: atOnce, ...(prefix && { prefix }) })
  }
}

/** Returns the number of levels of the folders in an organization that keeps a deleted folder. */
async function levelsOf(reader: DirectoryReader): Promise<number> {
  const parents = await parentsOfAll(reader)
  let levels = 0
  for (const folderId of parents.keys()) {
    let level = 0
    for (let id: string | undefined = folderId; id !== undefined && parents.has(id); id = parents.get(id))
      level += 1
    levels = Math.max(levels, level)
  }
  return levels
}

/** Returns the id of the folder that contains a document or a folder. */
const parentIn = (kind: string | undefined, entry: KvEntry): string =>
  kind === keys.folders[0]
    ? readRecord(placedFolderType, entry).parentFolderId
    : readRecord(placedDocumentType, entry).folderId

/** The marks of a document, a folder or an organization; or of a branch. */
interface Marked {
  readonly deleting?: true
  readonly deletion?: string | BranchRecord['deletion']
}

async function unmark(transaction: Transaction, marked: readonly Key[]): Promise<void> {
  const records = await transaction.getAll(marked)
  for (const [index, record] of records.entries()) {
    const { deleting, deletion, ...left } = (record ?? {}) as Marked
    const key = marked[index]
    if (key === undefined) continue
    if (typeof deletion === 'object') transaction.put(key, { ...left, status: deletion.status })
    else if (deleting === true) transaction.put(key, left)
  }
}

import { ApiError } from '../../base/errors.ts'
import { removeActivitiesOf } from '../../events/activity-store.ts'
import type { CheckLease } from '../../jobs/task-worker.ts'
import { documentPrefix, organizationPrefix } from '../../model/address.ts'
import { branchEditorId } from '../../model/branch-address.ts'
import type { Engine, Key } from '../../store/engine.ts'
import { keyName, lastSegment } from '../../store/key-encoding.ts'
import { entryPages } from '../../store/pages.ts'
import { encodeRecord } from '../../store/stored-record.ts'
import { branchLimits, writeBranch } from '../branches/branch-records.ts'
import { BranchStore } from '../branches/branch-store.ts'
import { documentExists } from '../documents/document-writes.ts'
import { folderExists, markTreeChanged, subfolderIds } from '../documents/folder-tree.ts'
import type { CascadeHandler } from '../organizations/cascade-handler.ts'
import {
  keys,
  type OrganizationScope,
  organizationPart,
  type Resource,
  type SubjectType,
  tenantKeys,
  tenantPart,
} from '../organizations/organization-keys.ts'
import type { OrganizationStore } from '../organizations/organization-store.ts'
import { removeGrant } from '../permissions/grants.ts'
import { mapInSlices } from '../store/batch.ts'
import type { DirectoryReader } from '../store/directory-reader.ts'
import {
  deletableType,
  deletionMark,
  emptyValue,
  placedDocumentType,
  placedFolderType,
} from '../store/records.ts'
import type { Transaction } from '../store/transaction.ts'
import { copyBlobs, copyLogs, deleteBlobs } from './copy-stored.ts'
import { branchDeletions, copiedMark, type DeletionRecord, deletionIn } from './deletion-record.ts'
import type { DeletionStore } from './deletion-store.ts'
import { RemovalLocks, untilRemoved } from './removal-locks.ts'
import { type KeptDeletion, type RemovalTask, removalTopic } from './removal-task.ts'
import { Restoration } from './restoration.ts'

/** Maximum number of keys in one commit. */
const keysAtOnce = 500
/** Maximum number of activities that one commit removes. */
const activitiesAtOnce = 200
/** Number of documents, or of folders, in one slice. */
const sliceSize = 50

/** Number of documents or logs whose data is copied at the same time. */
const copiesAtOnce = 4

type TaskOf<Kind extends RemovalTask['kind']> = Extract<RemovalTask, { readonly kind: Kind }>
export type RemovalEngine = Pick<Engine, 'kv' | 'log' | 'bus' | 'blobs'>

/**
 * Removes resources that are marked as being deleted, in slices. The mark is removed last, so that an
 * interrupted removal can be repeated. For documents, the logs are removed first, then the rooms are closed,
 * then the keys are removed. An open room may have created a log again in the meantime, so the logs are
 * removed a second time. A commit between the two removals ensures that the second one finds all earlier
 * appends.
 */
export class CascadeRemoval {
  readonly #engine: RemovalEngine
  readonly #store: OrganizationStore
  readonly #deletions: DeletionStore
  readonly #cascade: readonly CascadeHandler[]
  /** Removals that this process is executing, by the name of the organization's partition. */
  readonly #within = new Map<string, Set<Promise<void>>>()
  readonly #locks: RemovalLocks

  constructor(
    engine: RemovalEngine,
    store: OrganizationStore,
    cascade: readonly CascadeHandler[],
    deletions: DeletionStore,
  ) {
    this.#engine = engine
    this.#store = store
    this.#deletions = deletions
    this.#cascade = cascade
    this.#locks = new RemovalLocks(store)
  }

  async carryOut(task: RemovalTask, goOn: CheckLease): Promise<void> {
    if (task.kind === 'organization') return this.#organization(task, goOn)
    if (task.kind === 'purge') return this.#purge(task.scope, goOn)
    if (task.kind === 'restore') return this.#restore(task, goOn)
    return this.#during(task, () => this.#removeWithin(task, goOn))
  }

  /** Runs `work` for a task in an organization, whose own removal then waits for the end of the work. */
  async #during(task: RemovalTask, work: () => Promise<void>): Promise<void> {
    const name = keyName(organizationPart(task.scope))
    const within = this.#within.get(name) ?? new Set()
    const done = this.#locks.during(task, work)
    this.#within.set(name, within.add(done))
    try {
      await done
    } finally {
      within.delete(done)
      if (within.size === 0) this.#within.delete(name)
    }
  }

  async #removeWithin(task: TaskOf<'documents' | 'folder' | 'branch'>, goOn: CheckLease): Promise<void> {
    // If the organization is gone, its own removal has included this resource.
    if ((await this.#store.read(task.scope).get(keys.organization)) === null) return
    if (task.kind === 'documents') return this.#documents(task, goOn)
    if (task.kind === 'branch') return this.#branch(task, goOn)
    await this.#folder(task, goOn)
  }

  /**
   * Begins to keep the data of a resource. Returns the scope for its removal; null if an earlier attempt has removed
   * it, or if a restore has begun.
   * @param kept the deletion that keeps the data; absent if no data is kept
   */
  async #begin(
    scope: OrganizationScope,
    kept: KeptDeletion | undefined,
    resource: Pick<DeletionRecord, 'type' | 'id' | 'name' | 'documentId'>,
    organization?: object,
  ): Promise<OrganizationScope | null> {
    if (kept === undefined) return scope
    const { id: deletionId, ...times } = kept
    const { organizationId } = scope
    const target = await this.#deletions.begin(
      scope,
      { deletionId, ...times, organizationId, ...resource },
      organization,
    )
    const found = await this.#deletions.find(scope, deletionId)
    return found?.state === 'moving' ? { ...scope, movesTo: target.organizationId } : null
  }

  /** Copies logs and saved contents to the organization that keeps them, unless an earlier attempt has done it. */
  async #keep(scope: OrganizationScope, places: readonly Key[], goOn: CheckLease): Promise<void> {
    const { movesTo } = scope
    if (movesTo === undefined) return
    const target = { ...scope, organizationId: movesTo }
    await mapInSlices(
      places,
      async (below) => {
        const copied = [copiedMark, ...below]
        const [done = null] = await this.#engine.kv.get(organizationPart(target), [copied])
        if (done !== null) return
        const ends = [
          [...organizationPrefix(scope), ...below],
          [...organizationPrefix(target), ...below],
        ] as const
        await copyLogs(this.#engine.log, ends, goOn)
        await copyBlobs(this.#engine.blobs, ends, goOn)
        const puts = [{ key: copied, value: encodeRecord(emptyValue) }]
        await this.#engine.kv.commit(organizationPart(target), { puts })
      },
      copiesAtOnce,
    )
  }

  async #kept(scope: OrganizationScope, kept: KeptDeletion | undefined): Promise<void> {
    if (kept !== undefined) await this.#deletions.update(scope, kept.id, ['moving'], { state: 'kept' })
  }

  /**
   * Removes a folder that is marked as being deleted, with everything below it. The folder itself is removed
   * last. Until then, the remaining contents still belong to the folder. Therefore they can be found after a
   * crash, and no user gains access to them.
   */
  async #folder({ scope: from, folderId, kept }: TaskOf<'folder'>, goOn: CheckLease): Promise<void> {
    const isGoing = async (): Promise<boolean> => isMarked(this.#store.read(from), folderId, kept)
    if (!(await isGoing())) return this.#kept(from, kept)
    const record = await this.#store.read(from).get(keys.folder(folderId))
    const resource = { type: 'folder', id: folderId, name: nameIn(record ?? {}, 'folderName') } as const
    const scope = await this.#begin(from, kept, resource)
    if (scope === null) return
    const upwards = (await folderAndBelow(this.#store, scope, folderId)).toReversed()
    if (kept !== undefined) await this.#othersEnded(scope, upwards.slice(0, -1).map(keys.folder), kept, goOn)
    for (let at = 0; at < upwards.length; at += sliceSize) {
      const slice = upwards.slice(at, at + sliceSize)
      for (const id of slice) await this.#emptyFolder(scope, id, kept, isGoing, goOn)
      await mapInSlices(slice, (id) => this.#removeGrants(scope, { type: 'folder', id }))
      await removeFolderRecords(this.#store, scope, { folderId, kept }, slice)
      await goOn()
    }
    await this.#kept(from, kept)
  }

  /** Removes the documents that are directly in a folder, while the folder above it is being deleted. */
  async #emptyFolder(
    scope: OrganizationScope,
    folderId: string,
    kept: KeptDeletion | undefined,
    isGoing: () => Promise<boolean>,
    goOn: CheckLease,
  ): Promise<void> {
    while (await isGoing()) {
      const range = { prefix: keys.documentsIn(folderId), limit: sliceSize }
      const entries = await this.#store.read(scope).scan(range)
      if (entries.length === 0) return
      const documentIds = entries.map(({ key }) => lastSegment(key))
      await markDocuments(this.#store, scope, documentIds, kept)
      if (kept !== undefined) await this.#othersEnded(scope, documentIds.map(keys.document), kept, goOn)
      await this.#removeDocuments(scope, documentIds, goOn)
    }
  }

  /**
   * Waits until no other deletion removes one of the resources. All data of a resource must move to one place.
   * @throws ApiError ABORTED if the wait takes more than about 10 s
   */
  #othersEnded(
    scope: OrganizationScope,
    of: readonly Key[],
    kept: KeptDeletion,
    goOn: CheckLease,
  ): Promise<void> {
    return untilRemoved(async () => {
      const records = await this.#store.read(scope).getAll(of, deletableType)
      return records.every((record) => record?.deleting !== true || record.deletion === kept.id)
    }, goOn)
  }

  async #organization({ scope: from, kept }: TaskOf<'organization'>, goOn: CheckLease): Promise<void> {
    const record = await this.#store.read(from).get(keys.organization, deletableType)
    if (record?.deleting !== true || record.deletion !== kept?.id) return this.#kept(from, kept)
    const name = nameIn(record, 'organizationName')
    const resource = { type: 'organization', id: from.organizationId, name } as const
    const scope = await this.#begin(from, kept, resource, record)
    if (scope === null) return
    const within = this.#within.get(keyName(organizationPart(scope)))
    // Waits for the removals that run in this organization. They must not continue when an organization with
    // the same ids is created again.
    if (within !== undefined) await Promise.allSettled(within)
    await this.#locks.ended(scope, goOn)
    await this.#keep(scope, [[]], goOn)
    await this.#destroyLogs([organizationPrefix(scope)], goOn)
    await this.#removePartition(scope, goOn, async () => {
      for (const handler of this.#cascade) await handler.removeOrganization?.(scope, goOn)
      // Removes the index entry before the record. As long as the record exists, the organization cannot be
      // created again.
      await this.#engine.kv.commit(tenantPart(scope), {
        dels: [tenantKeys.organization(scope.organizationId)],
      })
      await this.#destroyLogs([organizationPrefix(scope)], goOn)
    })
    await this.#kept(from, kept)
  }

  async #restore(task: TaskOf<'restore'>, goOn: CheckLease): Promise<void> {
    const deletionId = deletionIn(task.scope.organizationId) ?? ''
    const found = await this.#deletions.find(task.scope, deletionId)
    if (found?.state !== 'restoring') return
    const { organizationId, type } = found
    const into = { ...task.scope, organizationId }
    const restoration = new Restoration(
      this.#engine,
      this.#store,
      this.#cascade,
      found,
      [task.scope, into],
      goOn,
    )
    let problem: DeletionRecord['problem'] | null = { code: 'deletion/no-parent', id: organizationId }
    const restore = async (): Promise<void> => {
      problem = await restoration.carryOut()
    }
    // Nothing runs if the organization is being deleted.
    if (type === 'organization') await restore()
    else await this.#during({ ...task, scope: into }, restore)
    if (problem !== null)
      return void (await this.#deletions.update(into, deletionId, ['restoring'], { state: 'kept', problem }))
    await this.#discard(task.scope, goOn)
    await this.#store.carryOut(into, async (transaction) => transaction.delete(keys.restored(deletionId)))
  }

  /** Deletes the data of a deletion. */
  async #purge(scope: OrganizationScope, goOn: CheckLease): Promise<void> {
    const deletionId = deletionIn(scope.organizationId) ?? ''
    const found = await this.#deletions.find(scope, deletionId)
    if (found === null || found.state === 'restoring') return
    if (found.state === 'moving')
      throw new ApiError('organization/removal-in-progress', 'the deletion has not ended; try again')
    await this.#deletions.update(scope, deletionId, ['kept'], { state: 'purging' })
    await this.#discard(scope, goOn)
  }

  /** Deletes the data and the record of a deletion. */
  async #discard(scope: OrganizationScope, goOn: CheckLease): Promise<void> {
    await this.#destroyLogs([organizationPrefix(scope)], goOn)
    await deleteBlobs(this.#engine.blobs, organizationPrefix(scope), goOn)
    await this.#removePartition(scope, goOn, () => Promise.resolve())
    await this.#deletions.forget(scope, deletionIn(scope.organizationId) ?? '')
  }

  /**
   * Removes everything in the partition, last the record of the organization. No other call writes to the partition
   * meanwhile, because every change requires an organization that is not being deleted. Another node may have removed
   * the organization, and it may have been created again. So each commit checks that its record is the same.
   * @param beforeRecord called before the record is removed
   */
  async #removePartition(
    scope: OrganizationScope,
    goOn: CheckLease,
    beforeRecord: () => Promise<void>,
  ): Promise<void> {
    const part = organizationPart(scope)
    const { kv } = this.#engine
    const [value = null] = await kv.get(part, [keys.organization])
    await goOn()
    const checks = [{ key: keys.organization, value }]
    const remove = async (dels: readonly Key[]): Promise<void> => {
      if (!(await kv.commit(part, { checks, dels })))
        throw new ApiError(
          'organization/removal-in-progress',
          'another node removes the organization: try again',
        )
    }
    for await (const page of entryPages((range) => kv.scan(part, range), { limit: keysAtOnce })) {
      const puts = page.filter(({ key }) => key[0] !== keys.organization[0])
      if (scope.movesTo !== undefined)
        await kv.commit(organizationPart({ ...scope, organizationId: scope.movesTo }), { puts })
      await remove(puts.map(({ key }) => key))
      await goOn()
    }
    await beforeRecord()
    await remove([keys.organization])
  }

  async #documents({ scope, documentIds, kept }: TaskOf<'documents'>, goOn: CheckLease): Promise<void> {
    for (let at = 0; at < documentIds.length; at += sliceSize) {
      const slice = documentIds.slice(at, at + sliceSize)
      const records = await this.#store.read(scope).getAll(slice.map(keys.document), deletableType)
      const marked = slice.filter((_, index) => records[index]?.deleting === true)
      if (kept === undefined) await this.#removeDocuments(scope, marked, goOn)
      else
        await mapInSlices(
          slice,
          async (id, index) => {
            const own = { ...kept, id: `${kept.id}.${at + index}` }
            const record = records[index] ?? {}
            if (record.deletion !== kept.id) return this.#kept(scope, own)
            const name = nameIn(record, 'documentName')
            const into = await this.#begin(scope, own, { type: 'document', id, name })
            if (into === null) return
            await this.#removeDocuments(into, [id], goOn)
            await this.#kept(scope, own)
          },
          copiesAtOnce,
        )
    }
  }

  async #removeDocuments(
    scope: OrganizationScope,
    documentIds: readonly string[],
    goOn: CheckLease,
  ): Promise<void> {
    const prefixes = documentIds.map((id) => documentPrefix(scope, id))
    await this.#keep(
      scope,
      documentIds.map((id) => [id]),
      goOn,
    )
    await this.#destroyLogs(prefixes, goOn)
    await mapInSlices(documentIds, (id) => this.#removeGrants(scope, { type: 'document', id }))
    for (const id of documentIds) await this.#removeActivities(scope, id, goOn)
    for (const handler of this.#cascade) await handler.removeDocuments?.(scope, documentIds, goOn)
    await this.#engine.kv.commit(organizationPart(scope), {})
    await this.#destroyLogs(prefixes, goOn)
    await this.#store.carryOut(scope, async (transaction) => {
      const records = await transaction.getAll(documentIds.map(keys.document), placedDocumentType)
      for (const record of records.filter((each) => each !== null)) {
        // This document is not being deleted: another node has completed the removal, and then the document
        // was created again.
        if (await documentExists(transaction, record)) continue
        transaction.delete(keys.document(record.documentId))
        transaction.delete(keys.documentIn(record.folderId, record.documentId))
      }
    })
  }

  /**
   * Removes a branch that is marked as being deleted. Its record is copied first, because the document may be deleted
   * meanwhile, with everything that this removal has not moved yet.
   */
  async #branch({ scope: from, place, kept }: TaskOf<'branch'>, goOn: CheckLease): Promise<void> {
    const branches = new BranchStore(this.#store)
    const branch = await branches.find(from, place)
    if (branch?.status !== 'deleted' || branch.deletion?.id !== kept?.id) return this.#kept(from, kept)
    const { documentId } = place
    const editorId = branchEditorId(place)
    const scope = await this.#begin(from, kept, { type: 'branch', id: editorId, name: '', documentId })
    if (scope === null) return
    const { movesTo } = scope
    if (movesTo !== undefined)
      await this.#store.carryOut({ ...from, organizationId: movesTo }, (transaction) =>
        writeBranch(transaction, place, branch),
      )
    await this.#keep(scope, [[documentId, editorId]], goOn)
    const log = [...documentPrefix(from, documentId), editorId]
    await this.#destroyLogs([log], goOn)
    const editor = { ...scope, documentId, editorId }
    for (const handler of this.#cascade) await handler.removeBranch?.(editor, goOn)
    await this.#engine.kv.commit(organizationPart(from), {})
    await this.#destroyLogs([log], goOn)
    await branches.remove(from, place)
    await this.#kept(from, kept)
    if (kept !== undefined)
      await this.#deletions.deleteOldest(from, branchDeletions(from, documentId), branchLimits.deleted)
  }

  /** Removes the grants on a resource, unless it was created again. */
  async #removeGrants(scope: OrganizationScope, resource: Resource): Promise<void> {
    for (let isAgain = false; !isAgain; ) {
      const grants = await this.#store
        .read(scope)
        .scan({ prefix: keys.grantsOn(resource), limit: keysAtOnce })
      if (grants.length === 0) return
      isAgain = await this.#store.carryOut(scope, async (transaction) => {
        if (await resourceExists(transaction, resource)) return true
        for (const { key } of grants) {
          const subject = { type: key.at(-2) as SubjectType, id: lastSegment(key) }
          await removeGrant(transaction, resource, subject)
        }
        return false
      })
    }
  }

  /**
   * Removes the activities of a document, unless it was created again. No activity can be added meanwhile, because the
   * document is being deleted.
   */
  async #removeActivities(scope: OrganizationScope, documentId: string, goOn: CheckLease): Promise<void> {
    for (let removed = -1; removed !== 0; await goOn())
      removed = await this.#store.carryOut(scope, async (transaction) =>
        (await resourceExists(transaction, { type: 'document', id: documentId }))
          ? 0
          : removeActivitiesOf(transaction, documentId, activitiesAtOnce),
      )
  }

  /** Destroys all logs whose keys start with one of the prefixes, then notifies the rooms. */
  async #destroyLogs(prefixes: readonly Key[], goOn: CheckLease): Promise<void> {
    const { log, bus } = this.#engine
    await mapInSlices(prefixes, async (prefix) => {
      let after: Key | null | undefined
      // `confirm` runs before the first log is destroyed, because a node that has lost the lease must not
      // destroy any log. Logs that are created after `confirm` are not destroyed, even if this node pauses
      // for a long time.
      while (after !== null)
        after = await log.destroyPrefix(prefix, { ...(after && { after }), confirm: goOn })
    })
    removalTopic.publish(bus, { kind: 'gone', prefixes })
  }
}

/** Returns the name in a record, whose members may be malformed. */
function nameIn(record: object, member: string): string {
  const name: unknown = Reflect.get(record, member)
  return typeof name === 'string' ? name : ''
}

/** Returns whether a document or folder exists and is not being deleted. */
async function resourceExists(transaction: Transaction, { type, id }: Resource): Promise<boolean> {
  if (type === 'folder') return folderExists(transaction, id)
  const record = await transaction.get(keys.document(id), placedDocumentType)
  return record !== null && documentExists(transaction, record)
}

/** Returns the folder and all folders below it. Parents precede their children. */
async function folderAndBelow(
  store: OrganizationStore,
  scope: OrganizationScope,
  folderId: string,
): Promise<readonly string[]> {
  const all: string[] = []
  const reader = store.read(scope)
  for (let level: readonly string[] = [folderId]; level.length > 0; ) {
    all.push(...level)
    level = (await mapInSlices(level, (id) => subfolderIds(reader, id))).flat()
  }
  return all
}

/** Marks documents as being deleted. Each of them then has its own event of the deletion. */
function markDocuments(
  store: OrganizationStore,
  { movesTo: _movesTo, ...scope }: OrganizationScope,
  documentIds: readonly string[],
  kept: KeptDeletion | undefined,
): Promise<void> {
  return store.change(scope, async (transaction) => {
    const records = await transaction.getAll(documentIds.map(keys.document), placedDocumentType)
    for (const record of records) {
      if (record === null || record.deleting === true || (await documentExists(transaction, record))) continue
      transaction.put(keys.document(record.documentId), { ...record, ...deletionMark(kept?.id) })
    }
  })
}

/**
 * Returns whether a folder is marked as being deleted by this deletion. Returns false if the organization is deleted: its removal has
 * included the folder, and a folder with the same id may be created again later.
 */
async function isMarked(
  transaction: DirectoryReader,
  folderId: string,
  kept: KeptDeletion | undefined,
): Promise<boolean> {
  if ((await transaction.get(keys.organization)) === null) return false
  const record = await transaction.get(keys.folder(folderId), deletableType)
  return record?.deleting === true && record.deletion === kept?.id
}

/**
 * Removes the records of a slice of folders. Does not count records that an earlier attempt has already
 * removed.
 */
const removeFolderRecords = (
  store: OrganizationStore,
  scope: OrganizationScope,
  { folderId, kept }: { readonly folderId: string; readonly kept: KeptDeletion | undefined },
  slice: readonly string[],
): Promise<void> =>
  store.carryOut(scope, async (transaction) => {
    if (!(await isMarked(transaction, folderId, kept))) return
    const found = await transaction.getAll(slice.map(keys.folder), placedFolderType)
    const folders = found.filter((folder) => folder !== null)
    for (const { folderId, parentFolderId } of folders) {
      transaction.delete(keys.folder(folderId))
      transaction.delete(keys.folderIn(parentFolderId, folderId))
    }
    if (folders.length > 0) await markTreeChanged(transaction, -folders.length)
  })

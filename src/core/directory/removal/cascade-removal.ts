import { removeActivitiesOf } from '../../events/activity-store.ts'
import type { CheckLease } from '../../jobs/task-worker.ts'
import { documentPrefix, organizationPrefix } from '../../model/address.ts'
import type { Engine, Key } from '../../store/engine.ts'
import { keyName, lastSegment } from '../../store/key-encoding.ts'
import { entryPages } from '../../store/pages.ts'
import { documentExists } from '../documents/document-writes.ts'
import { markTreeChanged, subfolderIds } from '../documents/folder-tree.ts'
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
import { findOrganization, type OrganizationStore } from '../organizations/organization-store.ts'
import { removeGrant } from '../permissions/grants.ts'
import { mapInSlices } from '../store/batch.ts'
import type { DirectoryReader } from '../store/directory-reader.ts'
import { deletableType, placedDocumentType, placedFolderType } from '../store/records.ts'
import { RemovalLocks } from './removal-locks.ts'
import { encodeRemovalMessage, type RemovalTask, removalTopic } from './removal-task.ts'

/** Maximum number of keys in one commit. */
const keysAtOnce = 500
/** Maximum number of activities that one commit removes. */
const activitiesAtOnce = 200
/** Number of documents, or of folders, in one slice. */
const sliceSize = 50

/** A removal task whose organization is not removed itself. */
type TaskWithin = Exclude<RemovalTask, { kind: 'organization' }>

/**
 * Removes resources that are marked as being deleted, in slices. The mark is removed last, so that an
 * interrupted removal can be repeated. For documents, the logs are removed first, then the rooms are closed,
 * then the keys are removed. An open room may have created a log again in the meantime, so the logs are
 * removed a second time. A commit between the two removals ensures that the second one finds all earlier
 * appends.
 */
export class CascadeRemoval {
  readonly #engine: Pick<Engine, 'kv' | 'log' | 'bus'>
  readonly #store: OrganizationStore
  readonly #cascade: readonly CascadeHandler[]
  /** Removals that this process is executing, by the name of the organization's partition. */
  readonly #within = new Map<string, Set<Promise<void>>>()
  readonly #locks: RemovalLocks

  constructor(
    engine: Pick<Engine, 'kv' | 'log' | 'bus'>,
    store: OrganizationStore,
    cascade: readonly CascadeHandler[],
  ) {
    this.#engine = engine
    this.#store = store
    this.#cascade = cascade
    this.#locks = new RemovalLocks(store)
  }

  async carryOut(task: RemovalTask, goOn: CheckLease): Promise<void> {
    if (task.kind === 'organization') return this.#organization(task.scope, goOn)
    const name = keyName(organizationPart(task.scope))
    const within = this.#within.get(name) ?? new Set()
    const done = this.#locks.during(task, () => this.#removeWithin(task, goOn))
    this.#within.set(name, within.add(done))
    try {
      await done
    } finally {
      within.delete(done)
      if (within.size === 0) this.#within.delete(name)
    }
  }

  async #removeWithin(task: TaskWithin, goOn: CheckLease): Promise<void> {
    // If the organization is being deleted or is gone, its own removal includes this resource.
    if ((await findOrganization(this.#store.read(task.scope))) === null) return
    if (task.kind === 'documents') return this.#documents(task.scope, task.documentIds, goOn)
    await this.#folder(task.scope, task.folderId, goOn)
  }

  /**
   * Removes a folder that is marked as being deleted, with everything below it. The folder itself is removed
   * last. Until then, the remaining contents still belong to the folder. Therefore they can be found after a
   * crash, and no user gains access to them.
   */
  async #folder(scope: OrganizationScope, folderId: string, goOn: CheckLease): Promise<void> {
    const isGoing = async (): Promise<boolean> => isMarked(this.#store.read(scope), folderId)
    if (!(await isGoing())) return
    const upwards = (await folderAndBelow(this.#store, scope, folderId)).toReversed()
    for (let at = 0; at < upwards.length; at += sliceSize) {
      const slice = upwards.slice(at, at + sliceSize)
      for (const id of slice) await this.#emptyFolder(scope, id, isGoing, goOn)
      await mapInSlices(slice, (id) => this.#removeGrants(scope, { type: 'folder', id }))
      await removeFolderRecords(this.#store, scope, folderId, slice)
      await goOn()
    }
  }

  /** Removes the documents that are directly in a folder, while the folder above it is being deleted. */
  async #emptyFolder(
    scope: OrganizationScope,
    folderId: string,
    isGoing: () => Promise<boolean>,
    goOn: CheckLease,
  ): Promise<void> {
    while (await isGoing()) {
      const range = { prefix: keys.documentsIn(folderId), limit: sliceSize }
      const entries = await this.#store.read(scope).scan(range)
      if (entries.length === 0) return
      const documentIds = entries.map(({ key }) => lastSegment(key))
      await markDocuments(this.#store, scope, documentIds)
      await this.#removeDocuments(scope, documentIds, goOn)
    }
  }

  async #organization(scope: OrganizationScope, goOn: CheckLease): Promise<void> {
    const record = await this.#store.read(scope).get(keys.organization, deletableType)
    if (record?.deleting !== true) return
    const within = this.#within.get(keyName(organizationPart(scope)))
    // Waits for the removals that run in this organization. They must not continue when an organization with
    // the same ids is created again.
    if (within !== undefined) await Promise.allSettled(within)
    await this.#locks.ended(scope, goOn)
    await this.#destroyLogs([organizationPrefix(scope)], goOn)
    await this.#removeContents(scope, goOn)
    for (const handler of this.#cascade) await handler.removeOrganization?.(scope, goOn)
    // Removes the index entry before the record. As long as the record exists, the organization cannot be
    // created again.
    await this.#engine.kv.commit(tenantPart(scope), { dels: [tenantKeys.organization(scope.organizationId)] })
    await this.#destroyLogs([organizationPrefix(scope)], goOn)
    await this.#engine.kv.commit(organizationPart(scope), { dels: [keys.organization] })
  }

  /**
   * Removes everything in the partition except the record of the organization. No other call writes to the
   * partition meanwhile, because every change requires an organization that is not being deleted.
   */
  async #removeContents(scope: OrganizationScope, goOn: CheckLease): Promise<void> {
    const part = organizationPart(scope)
    const { kv } = this.#engine
    for await (const page of entryPages((range) => kv.scan(part, range), { limit: keysAtOnce })) {
      const dels = page.map(({ key }) => key).filter((key) => key[0] !== keys.organization[0])
      await kv.commit(part, { dels })
      await goOn()
    }
  }

  async #documents(
    scope: OrganizationScope,
    documentIds: readonly string[],
    goOn: CheckLease,
  ): Promise<void> {
    for (let at = 0; at < documentIds.length; at += sliceSize) {
      const slice = documentIds.slice(at, at + sliceSize)
      const records = await this.#store.read(scope).getAll(slice.map(keys.document), deletableType)
      const marked = slice.filter((_, index) => records[index]?.deleting === true)
      await this.#removeDocuments(scope, marked, goOn)
    }
  }

  async #removeDocuments(
    scope: OrganizationScope,
    documentIds: readonly string[],
    goOn: CheckLease,
  ): Promise<void> {
    const prefixes = documentIds.map((id) => documentPrefix(scope, id))
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

  async #removeGrants(scope: OrganizationScope, resource: Resource): Promise<void> {
    for (;;) {
      const grants = await this.#store
        .read(scope)
        .scan({ prefix: keys.grantsOn(resource), limit: keysAtOnce })
      if (grants.length === 0) return
      await this.#store.carryOut(scope, async (transaction) => {
        for (const { key } of grants) {
          const subject = { type: key.at(-2) as SubjectType, id: lastSegment(key) }
          await removeGrant(transaction, resource, subject)
        }
      })
    }
  }

  /**
   * Removes the activities of a document. No activity can be added meanwhile, because the document is being
   * deleted.
   */
  async #removeActivities(scope: OrganizationScope, documentId: string, goOn: CheckLease): Promise<void> {
    for (let removed = -1; removed !== 0; await goOn())
      removed = await this.#store.carryOut(scope, (transaction) =>
        removeActivitiesOf(transaction, documentId, activitiesAtOnce),
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
    bus.publish(removalTopic, encodeRemovalMessage({ kind: 'gone', prefixes }))
  }
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
  scope: OrganizationScope,
  documentIds: readonly string[],
): Promise<void> {
  return store.change(scope, async (transaction) => {
    const records = await transaction.getAll(documentIds.map(keys.document), placedDocumentType)
    for (const record of records) {
      if (record === null || record.deleting === true || (await documentExists(transaction, record))) continue
      transaction.put(keys.document(record.documentId), { ...record, deleting: true })
    }
  })
}

/**
 * Returns whether a folder is marked as being deleted. Returns false if the organization is deleted or being
 * deleted: the removal of the organization includes the folder, and a folder with the same id may be created
 * again later.
 */
async function isMarked(transaction: DirectoryReader, folderId: string): Promise<boolean> {
  if ((await findOrganization(transaction)) === null) return false
  return (await transaction.get(keys.folder(folderId), deletableType))?.deleting === true
}

/**
 * Removes the records of a slice of folders. Does not count records that an earlier attempt has already
 * removed.
 */
const removeFolderRecords = (
  store: OrganizationStore,
  scope: OrganizationScope,
  folderId: string,
  slice: readonly string[],
): Promise<void> =>
  store.carryOut(scope, async (transaction) => {
    if (!(await isMarked(transaction, folderId))) return
    const found = await transaction.getAll(slice.map(keys.folder), placedFolderType)
    const folders = found.filter((folder) => folder !== null)
    for (const { folderId, parentFolderId } of folders) {
      transaction.delete(keys.folder(folderId))
      transaction.delete(keys.folderIn(parentFolderId, folderId))
    }
    if (folders.length > 0) await markTreeChanged(transaction, -folders.length)
  })

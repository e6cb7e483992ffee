import { randomUUID } from 'node:crypto'
import type { Clock } from '../../core/base/clock.ts'
import { ApiError } from '../../core/base/errors.ts'
import type { AuthorEdit } from '../../core/directory/documents/edit-activity-recorder.ts'
import { requireExisting } from '../../core/directory/documents/resource-lookup.ts'
import type { OrganizationScope } from '../../core/directory/organizations/organization-keys.ts'
import type { OrganizationStore } from '../../core/directory/organizations/organization-store.ts'
import type { DirectoryReader } from '../../core/directory/store/directory-reader.ts'
import type { ListPage, PageRange } from '../../core/directory/store/list-page.ts'
import type { Metadata } from '../../core/directory/store/records.ts'
import type { Transaction } from '../../core/directory/store/transaction.ts'
import type { CheckLease } from '../../core/jobs/task-worker.ts'
import { addressKey, type DocumentAddress, documentAddress } from '../../core/model/address.ts'
import type { Blobs, Engine, Key, KvRange } from '../../core/store/engine.ts'
import { lastSegment } from '../../core/store/key-encoding.ts'
import { entryPages } from '../../core/store/pages.ts'
import { readRecord } from '../../core/store/stored-record.ts'
import { versionLimits } from './limits.ts'
import { versionSweepJob } from './version-jobs.ts'
import {
  type Author,
  BlobNames,
  blobKeys,
  contentDigest,
  type EditorVersionsRecord,
  editorVersionsType,
  hasDigest,
  putVersions,
  timeOfVersion,
  type VersionKind,
  type VersionRecord,
  versionIdOf,
  versionKeys,
  versionRecordType,
  withAuthors,
  writeVersion,
  writeVersions,
} from './version-keys.ts'

/** Maximum number of keys that one commit removes. */
const keysAtOnce = 200
/** More versions than an editor can ever have. Used as the limit of a scan that must read all versions. */
const versionsMax = versionLimits.manual + versionLimits.automatic + keysAtOnce

/** A version to add. */
export interface NewVersion {
  readonly kind: VersionKind
  readonly label: string
  readonly metadata: Metadata
  readonly createdBy: string
  /** Time at which the document had this content, in epoch milliseconds. */
  readonly createdAt: number
  /** The content as a whole state (encoding V1). */
  readonly bytes: Uint8Array
  readonly version: string
  readonly epoch: number
}

/**
 * Stores versions. The records are in the partition of the organization, and the contents are blobs. Within a
 * process, the caller must serialize the changes of one editor's versions. Before a blob is stored, a sweep
 * is enqueued, which removes the blob if no record uses it.
 */
export class VersionStore {
  readonly #organizations: OrganizationStore
  readonly #blobs: Blobs
  readonly #log: Engine['log']
  readonly #names: BlobNames

  constructor({ blobs, log }: Pick<Engine, 'blobs' | 'log'>, organizations: OrganizationStore, clock: Clock) {
    this.#names = new BlobNames(clock)
    this.#organizations = organizations
    this.#blobs = blobs
    this.#log = log
  }

  /**
   * Adds a version. If another version of the editor has the same content, both use the same blob.
   * @throws ApiError NOT_FOUND if the document was deleted meanwhile; FAILED_PRECONDITION if the editor has
   * too many versions
   */
  async add(address: DocumentAddress, version: NewVersion): Promise<VersionRecord> {
    const digest = contentDigest(version.bytes)
    const equal = (await this.all(address)).find(({ hash }) => hasDigest(hash, digest))
    const shared = equal === undefined ? null : await this.#addRecord(address, version, equal.hash, 'shared')
    if (shared !== null) return shared
    const hash = this.#names.of(digest)
    await this.#organizations.carryOut(address, async (transaction) => {
      await requireExisting(transaction, { type: 'document', id: address.documentId })
      transaction.enqueue(versionSweepJob(address, this.#names.settledAt()))
    })
    await this.#blobs.put(blobKeys.blob(address, hash), version.bytes)
    try {
      const record = await this.#addRecord(address, version, hash, 'new')
      if (record !== null) return record
    } catch (error) {
      // After an ApiError, it is certain that no record uses the blob. After any other error, a record may
      // use the blob.
      if (error instanceof ApiError) await this.#blobs.delete(blobKeys.blob(address, hash))
      throw error
    }
    throw new Error('could not add a version with new content')
  }

  /**
   * Adds the record of a version. Returns null if `content` is `shared` and no other version uses this
   * content any more.
   */
  async #addRecord(
    address: DocumentAddress,
    { bytes, ...version }: NewVersion,
    hash: string,
    content: 'new' | 'shared',
  ): Promise<VersionRecord | null> {
    await this.#requireEpoch(address, version.epoch)
    return this.#organizations.carryOut(address, async (transaction) => {
      await requireExisting(transaction, { type: 'document', id: address.documentId })
      // Because of this read, concurrent changes of the versions conflict: every change of the versions
      // writes this state.
      const state = await stateOf(transaction, address)
      const records = await recordsOf(transaction, address)
      if (content === 'shared' && !records.some((record) => record.hash === hash)) return null
      if (version.kind === 'manual') checkRoom(records)
      // The ids must sort by time. A version whose time is not later than that of the newest version
      // therefore gets a later time.
      const createdAt = Math.max(version.createdAt, state.lastAt + 1)
      const isNow = ({ at }: Author): boolean => at <= version.createdAt
      const record: VersionRecord = {
        ...version,
        versionId: versionIdOf(createdAt, randomUUID()),
        createdAt,
        sizeBytes: bytes.length,
        hash,
        authors: state.authors.filter(isNow),
      }
      await writeVersion(transaction, address, record.versionId, record)
      const authors = state.authors.filter((author) => !isNow(author))
      await writeVersions(transaction, address, { changes: state.changes + 1, lastAt: createdAt, authors })
      return record
    })
  }

  /** Returns a page of the versions of an editor, the newest first. */
  async list(address: DocumentAddress, { after, limit }: PageRange): Promise<ListPage<VersionRecord>> {
    const prefix = versionKeys.of(address)
    const from = after === undefined ? {} : { after: [...prefix, after] }
    const entries = await this.#read(address).scan({ prefix, reverse: true, limit: limit + 1, ...from })
    const items = entries.slice(0, limit).map((entry) => readRecord(versionRecordType, entry))
    return { items, next: entries.length > limit ? (items.at(-1)?.versionId ?? null) : null }
  }

  /** Returns all versions of an editor, the oldest first. */
  all(address: DocumentAddress): Promise<readonly VersionRecord[]> {
    return recordsOf(this.#read(address), address)
  }

  find(address: DocumentAddress, versionId: string): Promise<VersionRecord | null> {
    return this.#read(address).get(versionKeys.version(address, versionId), versionRecordType)
  }

  /** Returns the record of a version. @throws ApiError NOT_FOUND */
  async require(address: DocumentAddress, versionId: string): Promise<VersionRecord> {
    const record = await this.find(address, versionId)
    if (record === null) throw noVersion()
    return record
  }

  /**
   * Returns the content of a version as a whole state (encoding V1).
   * @throws ApiError NOT_FOUND if the version was deleted meanwhile
   */
  async contentOf(address: DocumentAddress, { hash, versionId }: VersionRecord): Promise<Uint8Array> {
    const bytes = await this.#blobs.get(blobKeys.blob(address, hash))
    if (bytes !== null) return bytes
    // Throws NOT_FOUND if the version was deleted after its record was read. If the version still exists, the
    // store has lost its content.
    await this.require(address, versionId)
    throw new Error(`the content of version ${versionId} is missing`)
  }

  /**
   * Removes versions. The authors of each removed version become authors of the next newer version. Returns
   * false if none of the versions existed.
   */
  async remove(address: DocumentAddress, versionIds: readonly string[]): Promise<boolean> {
    const hashes = new Set<string>()
    for (const versionId of versionIds) {
      const hash = await this.#removeRecord(address, versionId)
      if (hash !== null) hashes.add(hash)
    }
    if (hashes.size === 0) return false
    // Keeps the contents that remaining versions use. The other contents can be deleted safely: a new version
    // only uses the same content as an existing version.
    for (const { hash } of await this.all(address)) hashes.delete(hash)
    for (const hash of hashes) await this.#blobs.delete(blobKeys.blob(address, hash))
    return true
  }

  /**
   * Records authors of editors of one organization. Each becomes an author of the first version after the
   * edit, even if that version exists already. Ignores editors without content.
   */
  async recordAuthors(transaction: Transaction, edits: readonly AuthorEdit[]): Promise<void> {
    const live = await this.#liveOf(edits)
    await transaction.getAll(
      live.map(({ address }) => versionKeys.state(address)),
      editorVersionsType,
    )
    for (const { address, user, at } of live) {
      const state = transaction.known(versionKeys.state(address), editorVersionsType) ?? noVersions
      const authors = [{ ...user, at }]
      if (state.lastAt >= at) await addAuthors(transaction, address, versionIdOf(at), authors)
      else addToNext(transaction, address, state, authors)
    }
  }

  /** Removes the records of editors that were deleted while authors were recorded. */
  async removeDeleted(edits: readonly AuthorEdit[]): Promise<void> {
    const left = new Set(await this.#liveOf(edits))
    const gone = edits.filter((edit) => !left.has(edit))
    const removals = await Promise.allSettled(gone.map((edit) => this.removeEditor(edit.address)))
    for (const removal of removals) if (removal.status === 'rejected') throw removal.reason
  }

  /** Returns the entries whose editor has content. */
  async #liveOf(edits: readonly AuthorEdit[]): Promise<readonly AuthorEdit[]> {
    const heads = await this.#log.heads(edits.map(({ address }) => addressKey(address)))
    return edits.filter((_, index) => heads[index] !== null)
  }

  /** Removes the versions of earlier epochs of the document, and the blobs that no record uses. */
  async sweep(address: DocumentAddress): Promise<void> {
    const [head = null] = await this.#log.heads([addressKey(address)])
    if (head === null) return this.removeEditor(address)
    const records = await this.all(address)
    const gone = records.filter(({ epoch }) => epoch !== head.epoch)
    await this.remove(
      address,
      gone.map(({ versionId }) => versionId),
    )
    await this.#removeUnnamed(address)
  }

  /** Removes all records and blobs of an editor's versions. */
  async removeEditor(address: DocumentAddress): Promise<void> {
    await this.#removeKeys(address, versionKeys.of(address))
    await this.#removeKeys(address, versionKeys.state(address))
    await this.#removeBlobs(blobKeys.of(address))
  }

  /** Removes all records and blobs of the versions of all editors of a document. */
  async forgetDocument(scope: OrganizationScope, documentId: string, goOn: CheckLease): Promise<void> {
    await this.#removeKeys(scope, versionKeys.allOf(documentId), goOn)
    await this.#removeKeys(scope, versionKeys.statesOf(documentId), goOn)
    await this.#removeBlobs(blobKeys.ofDocument(scope, documentId), goOn)
  }

  /**
   * Removes the blobs of an organization. They are outside of the partition of the organization, so they are
   * not removed with it.
   */
  forget(scope: OrganizationScope, goOn: CheckLease): Promise<void> {
    return this.#removeBlobs(blobKeys.ofOrganization(scope), goOn)
  }

  /** Gives the versions of deleted documents the epochs of the logs to which they move back. */
  async adoptEpochs(from: OrganizationScope, into: OrganizationScope, goOn: CheckLease): Promise<void> {
    const scan = (range: KvRange) => this.#organizations.read(from).scan(range)
    for await (const page of entryPages(scan, { prefix: versionKeys.ofAll, limit: keysAtOnce })) {
      const docs = page.map(({ key: [, documentId = '', editorId = ''] }) =>
        addressKey(documentAddress(into, { ...into, documentId, editorId })),
      )
      const heads = await this.#log.heads(docs)
      await this.#organizations.carryOut(from, async (transaction) => {
        for (const [index, entry] of page.entries()) {
          const record = readRecord(versionRecordType, entry)
          transaction.put(entry.key, { ...record, epoch: heads[index]?.epoch ?? record.epoch })
        }
      })
      await goOn()
    }
  }

  /**
   * Removes the blobs that no record uses. If a record may still be added for a blob, the blob stays, and
   * another sweep is enqueued.
   */
  async #removeUnnamed(address: DocumentAddress): Promise<void> {
    const named = new Set((await this.all(address)).map(({ hash }) => hash))
    const keys = await this.#blobs.list(blobKeys.of(address), { limit: versionsMax * 2 })
    const unnamed = keys.filter((key) => !named.has(lastSegment(key)))
    let isLeft = false
    for (const key of unnamed)
      if (this.#names.mayBeNamedYet(lastSegment(key))) isLeft = true
      else await this.#blobs.delete(key)
    if (!isLeft) return
    await this.#organizations.carryOut(address, async (transaction) =>
      transaction.enqueue(versionSweepJob(address, this.#names.settledAt())),
    )
  }

  #read = (address: DocumentAddress): DirectoryReader => this.#organizations.read(address)

  /**
   * Checks the epoch of the document after a blob was stored and before its record is stored. This check
   * finds an earlier deletion of the document. A later deletion removes both the blob and the record.
   */
  async #requireEpoch(address: DocumentAddress, epoch: number): Promise<void> {
    const [head = null] = await this.#log.heads([addressKey(address)])
    if (head?.epoch !== epoch)
      throw new ApiError('crdt/no-content', 'the content was deleted meanwhile; create it with /v2/crdt/add')
  }

  /** Removes a record. Returns the name of its content; null if the record does not exist. */
  #removeRecord(address: DocumentAddress, versionId: string): Promise<string | null> {
    return this.#organizations.carryOut(address, async (transaction) => {
      const record = await transaction.get(versionKeys.version(address, versionId), versionRecordType)
      if (record === null) return null
      await writeVersion(transaction, address, versionId, null)
      transaction.enqueue(versionSweepJob(address, 0))
      await addAuthors(transaction, address, versionId, record.authors)
      return record.hash
    })
  }

  async #removeKeys(scope: OrganizationScope, prefix: Key, goOn: CheckLease = nothing): Promise<void> {
    for (;;) {
      const entries = await this.#organizations.read(scope).scan({ prefix, limit: keysAtOnce })
      if (entries.length === 0) return
      await this.#organizations.carryOut(scope, async (transaction) => {
        for (const { key } of entries) await removeRecord(transaction, key)
      })
      await goOn()
    }
  }

  async #removeBlobs(prefix: Key, goOn: CheckLease = nothing): Promise<void> {
    for (;;) {
      const keys = await this.#blobs.list(prefix, { limit: keysAtOnce })
      if (keys.length === 0) return
      await Promise.all(keys.map((key) => this.#blobs.delete(key)))
      await goOn()
    }
  }
}

export const noVersion = (): ApiError =>
  new ApiError('version/not-found', 'there is no such version of this editor; see versions/list')

const nothing: CheckLease = () => Promise.resolve()

async function recordsOf(
  reader: DirectoryReader,
  address: DocumentAddress,
): Promise<readonly VersionRecord[]> {
  const entries = await reader.scan({ prefix: versionKeys.of(address), limit: versionsMax })
  return entries.map((entry) => readRecord(versionRecordType, entry))
}

const noVersions: EditorVersionsRecord = { changes: 0, lastAt: 0, authors: [] }

const stateOf = async (transaction: Transaction, address: DocumentAddress): Promise<EditorVersionsRecord> =>
  (await transaction.get(versionKeys.state(address), editorVersionsType)) ?? noVersions

/**
 * Adds authors to the first version whose id is greater than `versionId`. If there is no such version,
 * records them for the next version.
 */
async function addAuthors(
  transaction: Transaction,
  address: DocumentAddress,
  versionId: string,
  authors: readonly Author[],
): Promise<void> {
  const state = await stateOf(transaction, address)
  const prefix = versionKeys.of(address)
  const mayHaveNext = state.lastAt >= timeOfVersion(versionId)
  const [entry] = mayHaveNext
    ? await transaction.scan({ prefix, after: [...prefix, versionId], limit: 1 })
    : []
  const next = entry === undefined ? null : await transaction.get(entry.key, versionRecordType)
  if (entry !== undefined && next !== null)
    await writeVersion(transaction, address, next.versionId, {
      ...next,
      authors: withAuthors(next.authors, authors),
    })
  addToNext(transaction, address, state, next === null ? authors : [])
}

/** Adds authors to the next version. */
function addToNext(
  transaction: Transaction,
  address: DocumentAddress,
  state: EditorVersionsRecord,
  authors: readonly Author[],
): void {
  const all = withAuthors(state.authors, authors)
  putVersions(transaction, address, state, { ...state, changes: state.changes + 1, authors: all })
}

/** Removes one record: a version, or the state of all versions of an editor. */
function removeRecord(transaction: Transaction, [, documentId = '', editorId = '', versionId]: Key) {
  const ids = { documentId, editorId }
  return versionId === undefined
    ? writeVersions(transaction, ids, null)
    : writeVersion(transaction, ids, versionId, null)
}

function checkRoom(records: readonly VersionRecord[]): void {
  const { manual } = versionLimits
  if (records.filter(({ kind }) => kind === 'manual').length >= manual)
    throw new ApiError('version/too-many', `an editor has at most ${manual} versions: delete some`)
}

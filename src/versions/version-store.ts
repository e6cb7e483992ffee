import { randomUUID } from 'node:crypto'
import type { Clock } from '../clock.ts'
import { findMissing } from '../directory/documents/resource-lookup.ts'
import { isUserErased } from '../directory/organizations/erased-users.ts'
import type { OrganizationScope } from '../directory/organizations/organization-keys.ts'
import type { OrganizationStore } from '../directory/organizations/organization-store.ts'
import type { DirectoryReader } from '../directory/store/directory-reader.ts'
import type { ListPage, PageRange } from '../directory/store/list-page.ts'
import { decodeRecord, type Metadata } from '../directory/store/records.ts'
import type { Transaction } from '../directory/store/transaction.ts'
import type { Blobs, Engine, Key } from '../engine/engine.ts'
import { ApiError } from '../errors.ts'
import type { CheckLease } from '../jobs/task-worker.ts'
import { addressKey, type DocumentAddress } from '../model/address.ts'
import { deletedUser } from '../model/named-users.ts'
import { withAuthors } from './authors.ts'
import { BlobNames, contentDigest, hasDigest } from './blob-names.ts'
import { versionLimits } from './limits.ts'
import { versionSweepJob } from './version-jobs.ts'
import {
  type Author,
  blobKeys,
  type EditorVersionsRecord,
  type VersionKind,
  type VersionRecord,
  versionIdOf,
  versionKeys,
} from './version-keys.ts'
import { writeVersion, writeVersions } from './version-writing.ts'

/** Keys that are removed in one commit. */
const keysAtOnce = 200
/** More than an editor can have. */
const versionsMax = versionLimits.manual + versionLimits.automatic + keysAtOnce

/** What is to be kept. */
export interface NewVersion {
  readonly kind: VersionKind
  readonly label: string
  readonly metadata: Metadata
  readonly createdBy: string
  /** Epoch milliseconds at which the document was like this. */
  readonly createdAt: number
  /** The whole state (V1). */
  readonly bytes: Uint8Array
  readonly version: string
  readonly epoch: number
}

/**
 * Versions as they are kept: records in the partition of the organization, contents as blobs. Changes of the versions of
 * one editor are to come one after the other, of those in one process. A job that is enqueued before a blob is put sees to it that it goes when no
 * record comes to name it.
 */
export class VersionStore {
  readonly #organizations: OrganizationStore
  readonly #blobs: Blobs
  readonly #log: Engine['log']
  readonly #names: BlobNames

  constructor(
    { blobs, log, cluster }: Pick<Engine, 'blobs' | 'log' | 'cluster'>,
    organizations: OrganizationStore,
    clock: Clock,
  ) {
    this.#names = new BlobNames({ cluster, log }, clock)
    this.#organizations = organizations
    this.#blobs = blobs
    this.#log = log
  }

  /** @throws ApiError NOT_FOUND when the document is gone meanwhile, FAILED_PRECONDITION when there are too many */
  async add(address: DocumentAddress, version: NewVersion): Promise<VersionRecord> {
    const digest = contentDigest(version.bytes)
    const equal = (await this.all(address)).find(({ hash }) => hasDigest(hash, digest))
    const shared = equal === undefined ? null : await this.#addRecord(address, version, equal.hash, 'shared')
    if (shared !== null) return shared
    const hash = this.#names.of(digest)
    await this.#organizations.carryOut(address, async (transaction) => {
      await requireDocument(transaction, address)
      transaction.enqueue(versionSweepJob(address, this.#names.sweepAt()))
    })
    await this.#blobs.put(blobKeys.blob(address, hash), version.bytes)
    try {
      const record = await this.#addRecord(address, version, hash, 'new')
      if (record !== null) return record
    } catch (error) {
      // No record names it. After another error a record may.
      if (error instanceof ApiError) await this.#blobs.delete(blobKeys.blob(address, hash))
      throw error
    }
    throw new Error('a version with new content was not added')
  }

  /** Null where the content was to be shared with other versions, and none of them is left. */
  async #addRecord(
    address: DocumentAddress,
    { bytes, ...version }: NewVersion,
    hash: string,
    content: 'new' | 'shared',
  ): Promise<VersionRecord | null> {
    await this.#requireEpoch(address, version.epoch)
    return this.#organizations.carryOut(address, async (transaction) => {
      await requireDocument(transaction, address)
      // Every change of the versions writes it: so the records are the same when this commits.
      const state = await stateOf(transaction, address)
      const records = await recordsOf(transaction, address)
      if (content === 'shared' && !records.some((record) => record.hash === hash)) return null
      if (version.kind === 'manual') checkRoom(records)
      // Ids sort by time, and of two at the same time the later one is the newer one.
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

  /** The newest first. */
  async list(address: DocumentAddress, { after, limit }: PageRange): Promise<ListPage<VersionRecord>> {
    const prefix = versionKeys.of(address)
    const from = after === undefined ? {} : { after: [...prefix, after] }
    const entries = await this.#read(address).scan({ prefix, reverse: true, limit: limit + 1, ...from })
    const items = entries.slice(0, limit).map(({ value }) => decodeRecord(value) as VersionRecord)
    return { items, next: entries.length > limit ? (items.at(-1)?.versionId ?? null) : null }
  }

  /** All of an editor, the oldest first. */
  all(address: DocumentAddress): Promise<readonly VersionRecord[]> {
    return recordsOf(this.#read(address), address)
  }

  find(address: DocumentAddress, versionId: string): Promise<VersionRecord | null> {
    return this.#read(address).get<VersionRecord>(versionKeys.version(address, versionId))
  }

  /** @throws ApiError NOT_FOUND */
  async require(address: DocumentAddress, versionId: string): Promise<VersionRecord> {
    const record = await this.find(address, versionId)
    if (record === null) throw noVersion()
    return record
  }

  /** The state (V1) that a version is. */
  async contentOf(address: DocumentAddress, { hash, versionId }: VersionRecord): Promise<Uint8Array> {
    const bytes = await this.#blobs.get(blobKeys.blob(address, hash))
    if (bytes !== null) return bytes
    // It was deleted after its record was read; else something is wrong.
    await this.require(address, versionId)
    throw new Error(`the content of version ${versionId} is missing`)
  }

  /** Removes versions, whose authors become those of the next newer one. False when there was none of them. */
  async remove(address: DocumentAddress, versionIds: readonly string[]): Promise<boolean> {
    const hashes = new Set<string>()
    for (const versionId of versionIds) {
      const hash = await this.#removeRecord(address, versionId)
      if (hash !== null) hashes.add(hash)
    }
    if (hashes.size === 0) return false
    // A new version shares a content only while another version names it.
    for (const { hash } of await this.all(address)) hashes.delete(hash)
    for (const hash of hashes) await this.#blobs.delete(blobKeys.blob(address, hash))
    return true
  }

  /**
   * Notes that somebody has edited: for the version that was made next, also where it has been made meanwhile. Nothing
   * for a document that is gone; one whose data was deleted since is the deleted user.
   */
  async noteAuthor(address: DocumentAddress, author: Author): Promise<void> {
    if (!(await this.#isLive(address))) return
    await this.#organizations.carryOut(address, async (transaction) => {
      if ((await missingDocument(transaction, address)) !== null) return
      const isErased = await isUserErased(transaction, author.userId, author.at)
      const noted = isErased ? { ...deletedUser, at: author.at } : author
      await addAuthors(transaction, address, versionIdOf(author.at), [noted])
    })
    // It may have been deleted, with its versions, in between.
    if (!(await this.#isLive(address))) await this.removeEditor(address)
  }

  /** Removes blobs that no record names, and what belongs to a log that is gone. */
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

  /** Removes all that is kept of an editor. */
  async removeEditor(address: DocumentAddress): Promise<void> {
    await this.#removeKeys(address, versionKeys.of(address))
    await this.#removeKeys(address, versionKeys.state(address))
    await this.#removeBlobs(blobKeys.of(address))
  }

  /** Removes all that is kept of the editors of a document. */
  async forgetDocument(scope: OrganizationScope, documentId: string, goOn: CheckLease): Promise<void> {
    await this.#removeKeys(scope, versionKeys.allOf(documentId), goOn)
    await this.#removeKeys(scope, versionKeys.statesOf(documentId), goOn)
    await this.#removeBlobs(blobKeys.ofDocument(scope, documentId), goOn)
  }

  /** Removes what is kept of an organization outside its partition. */
  forget(scope: OrganizationScope, goOn: CheckLease): Promise<void> {
    return this.#removeBlobs(blobKeys.ofOrganization(scope), goOn)
  }

  /** Contents that no record names. */
  async #removeUnnamed(address: DocumentAddress): Promise<void> {
    const named = new Set((await this.all(address)).map(({ hash }) => hash))
    const keys = await this.#blobs.list(blobKeys.of(address), { limit: versionsMax * 2 })
    const unnamed = keys.filter((key) => !named.has(key.at(-1) as string))
    let isLeft = false
    for (const key of unnamed)
      if (this.#names.mayBeNamedYet(key.at(-1) as string)) isLeft = true
      else await this.#blobs.delete(key)
    if (!isLeft) return
    await this.#organizations.carryOut(address, async (transaction) =>
      transaction.enqueue(versionSweepJob(address, this.#names.settledAt())),
    )
  }

  #read = (address: DocumentAddress): DirectoryReader => this.#organizations.read(address)

  /** Between the blob and the record: what was destroyed before is seen here, what is destroyed later removes both. */
  async #requireEpoch(address: DocumentAddress, epoch: number): Promise<void> {
    const [head = null] = await this.#log.heads([addressKey(address)])
    if (head?.epoch !== epoch)
      throw new ApiError('crdt/no-content', 'the content was deleted meanwhile; create it with upsert: true')
  }

  async #isLive(address: DocumentAddress): Promise<boolean> {
    const [head = null] = await this.#log.heads([addressKey(address)])
    return head !== null
  }

  /** Returns the name of its content. */
  #removeRecord(address: DocumentAddress, versionId: string): Promise<string | null> {
    return this.#organizations.carryOut(address, async (transaction) => {
      const record = await transaction.get<VersionRecord>(versionKeys.version(address, versionId))
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
  return entries.map(({ value }) => decodeRecord(value) as VersionRecord)
}

const noVersions: EditorVersionsRecord = { changes: 0, lastAt: 0, authors: [] }

const stateOf = async (transaction: Transaction, address: DocumentAddress): Promise<EditorVersionsRecord> =>
  (await transaction.get<EditorVersionsRecord>(versionKeys.state(address))) ?? noVersions

/** To the first version after `versionId`; to those who have edited since the last one, if it was that. */
async function addAuthors(
  transaction: Transaction,
  address: DocumentAddress,
  versionId: string,
  authors: readonly Author[],
): Promise<void> {
  const state = await stateOf(transaction, address)
  const prefix = versionKeys.of(address)
  const [entry] = await transaction.scan({ prefix, after: [...prefix, versionId], limit: 1 })
  const next = entry === undefined ? null : await transaction.get<VersionRecord>(entry.key)
  if (entry !== undefined && next !== null)
    await writeVersion(transaction, address, next.versionId, {
      ...next,
      authors: withAuthors(next.authors, authors),
    })
  const since = next === null ? withAuthors(state.authors, authors) : state.authors
  await writeVersions(transaction, address, { ...state, changes: state.changes + 1, authors: since })
}

/** A version, or what is known of those of an editor together. */
function removeRecord(transaction: Transaction, [, documentId = '', editorId = '', versionId]: Key) {
  const ids = { documentId, editorId }
  return versionId === undefined
    ? writeVersions(transaction, ids, null)
    : writeVersion(transaction, ids, versionId, null)
}

const missingDocument = async (transaction: Transaction, { documentId }: DocumentAddress): Promise<unknown> =>
  (await findMissing(transaction, [{ type: 'document', id: documentId }]))[0] ?? null

async function requireDocument(transaction: Transaction, address: DocumentAddress): Promise<void> {
  if ((await missingDocument(transaction, address)) !== null)
    throw new ApiError(
      'document/not-found',
      'the document does not exist, or is being deleted; add it with /v2/organizations/documents/add',
    )
}

function checkRoom(records: readonly VersionRecord[]): void {
  const { manual } = versionLimits
  if (records.filter(({ kind }) => kind === 'manual').length >= manual)
    throw new ApiError('version/too-many', `an editor has at most ${manual} versions: delete some`)
}

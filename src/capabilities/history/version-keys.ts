import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '../../core/base/clock.ts'
import * as s from '../../core/base/schema.ts'
import {
  type OrganizationScope,
  organizationPart,
} from '../../core/directory/organizations/organization-keys.ts'
import { emptyValue } from '../../core/directory/store/records.ts'
import type { Transaction } from '../../core/directory/store/transaction.ts'
import {
  addressKey,
  type DocumentAddress,
  documentPrefix,
  organizationPrefix,
} from '../../core/model/address.ts'
import type { Key } from '../../core/store/engine.ts'
import { type RecordType, readRecord } from '../../core/store/stored-record.ts'
import { versionLimits } from './limits.ts'

/** Maximum time in ms between storing the content of a version and storing the version itself. */
const makingMs = 900_000

/**
 * Creates and reads the names of the stored contents of versions. Each name is unique. It contains the digest
 * of the content and the time. A content without a version may be new: a node may be about to add its version, also
 * a node that other nodes consider dead. Therefore the time alone decides whether a content may still get a version.
 */
export class BlobNames {
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  of(digest: string): string {
    return [digest, this.#clock.now(), randomBytes(6).toString('base64url')].join('.')
  }

  /** Returns whether a node may still add a version that uses this content. */
  mayBeNamedYet(name: string): boolean {
    const [, storedAt] = name.split('.')
    return storedAt !== undefined && this.#clock.now() - Number(storedAt) < makingMs
  }

  /**
   * Returns a time in epoch milliseconds. From this time on, no version can be added for a content that is
   * stored now, even if the clocks of the nodes differ.
   */
  settledAt(): number {
    return this.#clock.now() + 2 * makingMs
  }
}

export const contentDigest = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('base64url')

/** Returns whether the content with this name has the digest. */
export const hasDigest = (name: string, digest: string): boolean => name.split('.')[0] === digest

/** A user who has edited an editor's document. */
const authorSchema = s.object(
  {
    userId: s.string,
    /** Time of the user's first edit since the previous version, in epoch milliseconds. */
    at: s.number,
  },
  {
    /** Name of the user; absent if the name is not known. */
    name: s.string,
  },
)
export type Author = s.TypeOf<typeof authorSchema>

/**
 * `manual`: a caller requested the version. `automatic`: the version was created in the background or before
 * a restore.
 */
export type VersionKind = 'manual' | 'automatic'

/** The stored record of a version. Its content is stored separately as a blob. */
export const versionRecordType = {
  name: 'version',
  schema: s.object({
    /** Id of the version. The order of the ids is the order of `createdAt`. */
    versionId: s.string,
    // A newer version of Weft may store kinds that this version does not know.
    kind: s.trusted<VersionKind>(s.string),
    /** Label that the caller has given; empty if there is none. */
    label: s.string,
    metadata: s.map(s.unknown),
    /** Time of the creation in epoch milliseconds. */
    createdAt: s.number,
    /** Id of the user who created the version; empty if the user is not known. */
    createdBy: s.string,
    /** Size of the content in bytes, as Yjs encodes it. */
    sizeBytes: s.number,
    /** Version (epoch and head) of the document that has this content. */
    version: s.string,
    /** Epoch of the document's log when the version was created. */
    epoch: s.number,
    /** Name of the blob with the content. Versions with the same content use the same blob. */
    hash: s.string,
    /** Users who edited between the previous version and this one, sorted by the time of their first edit. */
    authors: s.array(authorSchema),
  }),
}
export type VersionRecord = s.TypeOf<typeof versionRecordType.schema>

/**
 * State of all versions of an editor. Every change of the versions writes this record, so concurrent changes
 * conflict.
 */
export const editorVersionsType = {
  name: 'state of versions',
  schema: s.object({
    changes: s.number,
    /** Time of the newest version in epoch milliseconds. */
    lastAt: s.number,
    /** Users who have edited since the newest version. */
    authors: s.array(authorSchema),
  }),
}
export type EditorVersionsRecord = s.TypeOf<typeof editorVersionsType.schema>

/**
 * The members of a version, or of the state of versions, that a deletion needs: the users in the index. A
 * record with other malformed members can still be deleted.
 */
const versionUsersType = {
  name: 'version',
  schema: s.object({}, { createdBy: s.string, authors: s.array(s.object({ userId: s.string })) }),
}
type VersionUsers = s.TypeOf<typeof versionUsersType.schema>

/** Keys of versions and their index in the partition of the organization. */
export const versionKeys = {
  ofAll: ['versions'] satisfies Key,
  allOf: (documentId: string): Key => ['versions', documentId],
  of: ({ documentId, editorId }: EditorIds): Key => ['versions', documentId, editorId],
  version: ({ documentId, editorId }: EditorIds, versionId: string): Key => [
    'versions',
    documentId,
    editorId,
    versionId,
  ],
  statesOf: (documentId: string): Key => ['versionsState', documentId],
  state: ({ documentId, editorId }: EditorIds): Key => ['versionsState', documentId, editorId],
  /** Index: the records of versions that mention a user. */
  allBy: (userId: string): Key => ['versionsBy', userId],
  by: (userId: string, { documentId, editorId }: EditorIds, versionId: string): Key => [
    'versionsBy',
    userId,
    documentId,
    editorId,
    versionId,
  ],
  since: (userId: string, { documentId, editorId }: EditorIds): Key => [
    'versionsBy',
    userId,
    documentId,
    editorId,
  ],
}

/** Keys of the blobs that contain the contents of versions. */
export const blobKeys = {
  ofOrganization: (scope: OrganizationScope): Key => ['versions', ...organizationPrefix(scope)],
  ofDocument: (scope: OrganizationScope, documentId: string): Key => [
    'versions',
    ...documentPrefix(scope, documentId),
  ],
  of: (address: DocumentAddress): Key => ['versions', ...addressKey(address)],
  blob: (address: DocumentAddress, hash: string): Key => [...blobKeys.of(address), hash],
}

const [organizations] = organizationPart({ workspaceId: '', apiKey: '', organizationId: '' })

/**
 * Returns the key of the blob with the content of a version, if this entry is the record of a version; null for
 * another entry.
 * @throws MalformedJsonError if the record is malformed
 */
export function versionBlobKey(part: Key, key: Key, value: Uint8Array): Key | null {
  const [kind, documentId = '', editorId = ''] = key
  if (part[0] !== organizations || kind !== 'versions' || key.length !== 4) return null
  const { hash } = readRecord(versionRecordType, { key, value })
  return ['versions', ...part.slice(1), documentId, editorId, hash]
}

/** Ids that identify an editor within its organization. */
export type EditorIds = Pick<DocumentAddress, 'documentId' | 'editorId'>

/**
 * Returns the id of a version.
 * @param unique text that distinguishes versions of the same time; if it is empty, the id sorts before all
 * versions of that time
 */
export const versionIdOf = (createdAt: number, unique = ''): string =>
  `${String(createdAt).padStart(13, '0')}-${unique}`

/** Returns the `createdAt` in a version id. */
export const timeOfVersion = (versionId: string): number => Number(versionId.slice(0, versionId.indexOf('-')))

/** Writes a version; if `record` is null, deletes the version. Also updates the index by user. */
export async function writeVersion(
  transaction: Transaction,
  ids: EditorIds,
  versionId: string,
  record: VersionRecord | null,
): Promise<void> {
  const key = versionKeys.version(ids, versionId)
  const before = await transaction.get(key, record === null ? versionUsersType : versionRecordType)
  const keyBy = (userId: string): Key => versionKeys.by(userId, ids, versionId)
  writeIndex(transaction, namedIn(before), namedIn(record), keyBy)
  if (record === null) transaction.delete(key)
  else transaction.put(key, record)
}

/**
 * Writes the state of all versions of an editor; if `record` is null, deletes the state. Also updates the
 * index by user.
 */
export async function writeVersions(
  transaction: Transaction,
  ids: EditorIds,
  record: EditorVersionsRecord | null,
): Promise<void> {
  const key = versionKeys.state(ids)
  const type: RecordType<VersionUsers> = record === null ? versionUsersType : editorVersionsType
  putVersions(transaction, ids, await transaction.get(key, type), record)
}

/** Like `writeVersions`, with the record that the transaction has read. */
export function putVersions(
  transaction: Transaction,
  ids: EditorIds,
  before: VersionUsers | null,
  record: EditorVersionsRecord | null,
): void {
  const key = versionKeys.state(ids)
  const keyBy = (userId: string): Key => versionKeys.since(userId, ids)
  writeIndex(transaction, authorsOf(before), authorsOf(record), keyBy)
  if (record === null) transaction.delete(key)
  else transaction.put(key, record)
}

function writeIndex(
  transaction: Transaction,
  before: ReadonlySet<string>,
  after: ReadonlySet<string>,
  keyBy: (userId: string) => Key,
): void {
  for (const userId of before) if (!after.has(userId)) transaction.delete(keyBy(userId))
  for (const userId of after) if (!before.has(userId)) transaction.put(keyBy(userId), emptyValue)
}

const authorsOf = (record: VersionUsers | null): ReadonlySet<string> =>
  new Set((record?.authors ?? []).map(({ userId }) => userId))

function namedIn(record: VersionUsers | null): ReadonlySet<string> {
  const { createdBy = '' } = record ?? {}
  return createdBy === '' ? authorsOf(record) : new Set([...authorsOf(record), createdBy])
}

/**
 * Returns the authors together with further ones. Each user appears once, with the time of the user's first
 * edit. Authors are sorted by this time. Only the first `versionLimits.authors` authors are kept.
 */
export function withAuthors(authors: readonly Author[], more: readonly Author[]): readonly Author[] {
  const all = [...authors, ...more].sort((a, b) => a.at - b.at)
  const seen = new Set<string>()
  return all.filter(({ userId }) => !seen.has(userId) && seen.add(userId)).slice(0, versionLimits.authors)
}

import * as v from 'valibot'
import type { OrganizationScope } from '../directory/organizations/organization-keys.ts'
import type { Metadata, RecordType } from '../directory/store/records.ts'
import type { Key } from '../engine/engine.ts'
import { addressKey, type DocumentAddress, documentPrefix, organizationPrefix } from '../model/address.ts'

/** A user who edited. */
export interface Author {
  readonly userId: string
  /** Absent if the name is not known. */
  readonly name?: string
  /** Time of the user's first edit since the previous version, in epoch milliseconds. */
  readonly at: number
}

const authorSchema = v.looseObject({
  userId: v.string(),
  name: v.exactOptional(v.string()),
  at: v.number(),
})

/** `manual`: requested by a caller. `automatic`: created in the background, or before a restore. */
export type VersionKind = 'manual' | 'automatic'

/** A stored version. Its content is a blob. */
export interface VersionRecord {
  /** Ids sort by `createdAt`. */
  readonly versionId: string
  readonly kind: VersionKind
  /** Empty if there is none. */
  readonly label: string
  readonly metadata: Metadata
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** Id of the user; empty if not known. */
  readonly createdBy: string
  /** Bytes of the content as Yjs encodes it. */
  readonly sizeBytes: number
  /** Version of the document (epoch and head) that the content has. */
  readonly version: string
  /** Epoch of the document's log. */
  readonly epoch: number
  /** Name of the blob with the content. Versions with equal content share one blob. */
  readonly hash: string
  /** Users who edited since the previous version, sorted by their first edit. */
  readonly authors: readonly Author[]
}

export const versionRecordType: RecordType<VersionRecord> = {
  name: 'version',
  schema: v.looseObject({
    versionId: v.string(),
    // A newer version may have other kinds.
    kind: v.custom<VersionKind>((kind) => typeof kind === 'string'),
    label: v.string(),
    metadata: v.record(v.string(), v.unknown()),
    createdAt: v.number(),
    createdBy: v.string(),
    sizeBytes: v.number(),
    version: v.string(),
    epoch: v.number(),
    hash: v.string(),
    authors: v.array(authorSchema),
  }),
}

/**
 * State of all versions of an editor. Every change of the versions writes this record, so that concurrent
 * changes conflict.
 */
export interface EditorVersionsRecord {
  readonly changes: number
  /** Time of the newest version, in epoch milliseconds. */
  readonly lastAt: number
  /** Users who have edited since the newest version. */
  readonly authors: readonly Author[]
}

export const editorVersionsType: RecordType<EditorVersionsRecord> = {
  name: 'state of versions',
  schema: v.looseObject({ changes: v.number(), lastAt: v.number(), authors: v.array(authorSchema) }),
}

/** Keys of versions in the partition of the organization. */
export const versionKeys = {
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
  /** Index: the records that mention a user. */
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

/** Keys of blobs. */
export const blobKeys = {
  ofOrganization: (scope: OrganizationScope): Key => ['versions', ...organizationPrefix(scope)],
  ofDocument: (scope: OrganizationScope, documentId: string): Key => [
    'versions',
    ...documentPrefix(scope, documentId),
  ],
  of: (address: DocumentAddress): Key => ['versions', ...addressKey(address)],
  blob: (address: DocumentAddress, hash: string): Key => [...blobKeys.of(address), hash],
}

/** Identifies an editor within its organization. */
export type EditorIds = Pick<DocumentAddress, 'documentId' | 'editorId'>

/**
 * Returns the id of a version.
 * @param unique distinguishes versions of the same time; if empty, the id sorts before all versions of that
 * time
 */
export const versionIdOf = (createdAt: number, unique = ''): string =>
  `${String(createdAt).padStart(13, '0')}-${unique}`

import type { OrganizationScope } from '../directory/organizations/organization-keys.ts'
import type { Metadata } from '../directory/store/records.ts'
import type { Key } from '../engine/engine.ts'
import { addressKey, type DocumentAddress, documentPrefix, organizationPrefix } from '../model/address.ts'

/** Somebody who edited. */
export interface Author {
  readonly userId: string
  /** Absent when it is not known. */
  readonly name?: string
  /** Epoch milliseconds of the first edit since the version before. */
  readonly at: number
}

/** `manual`: somebody asked for it; `automatic`: made in the background, or before a restoration. */
export type VersionKind = 'manual' | 'automatic'

/** A version as it is kept; its content is a blob. */
export interface VersionRecord {
  /** Ids sort by `createdAt`. */
  readonly versionId: string
  readonly kind: VersionKind
  /** '' when it has none. */
  readonly label: string
  readonly metadata: Metadata
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** '' when nobody is known. */
  readonly createdBy: string
  /** Of the content, as encoded by Yjs. */
  readonly sizeBytes: number
  /** Which state of the document it is. */
  readonly version: string
  /** Of the log that the document had. */
  readonly epoch: number
  /** Names the blob: versions of equal content share one. */
  readonly hash: string
  /** Who edited since the version before, the first one first. */
  readonly authors: readonly Author[]
}

/** What is known of the versions of an editor together. Every change of them changes it, so that no two are made at once. */
export interface EditorVersionsRecord {
  readonly changes: number
  /** Epoch milliseconds of the newest one. */
  readonly lastAt: number
  /** Who has edited since. */
  readonly authors: readonly Author[]
}

/** Keys in the partition of the organization. */
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
  /** Index: the records above that name a user. */
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

/** An editor of an organization. */
export type EditorIds = Pick<DocumentAddress, 'documentId' | 'editorId'>

/** @param unique tells it from others of the same time; without it, what comes before all of that time */
export const versionIdOf = (createdAt: number, unique = ''): string =>
  `${String(createdAt).padStart(13, '0')}-${unique}`

import type { Key } from '../../engine/engine.ts'
import type { Tenant } from '../../model/address.ts'

/** An organization of a tenant. */
export interface OrganizationScope extends Tenant {
  readonly organizationId: string
}

export type ResourceType = 'organization' | 'folder' | 'document'
export type SubjectType = 'user' | 'group'

/** Identifies a resource within its organization. */
export interface Resource {
  readonly type: ResourceType
  readonly id: string
}

/** The subject of a grant. */
export interface Subject {
  readonly type: SubjectType
  readonly id: string
}

/** Id of the root of a folder tree. No folder may have this id. */
export const rootFolderId = 'root'

/** Partition of the data of a tenant as a whole: the ids of its organizations, and its revocations. */
export const tenantPart = ({ workspaceId, apiKey }: Tenant): Key => ['tenant', workspaceId, apiKey]

/**
 * Partition of one organization. It has all records of the organization, so that a change within the
 * organization is one commit.
 */
export const organizationPart = ({ workspaceId, apiKey, organizationId }: OrganizationScope): Key => [
  'organization',
  workspaceId,
  apiKey,
  organizationId,
]

/** Keys in the partition of a tenant. */
export const tenantKeys = {
  organization: (organizationId: string): Key => ['organizations', organizationId],
  organizations: ['organizations'] satisfies Key,
  /** Time of the last revocation of a user's tokens. */
  revocation: (userId: string): Key => ['revocations', userId],
  /**
   * A new value with each revocation. Written only in a cluster, because other nodes must learn of
   * revocations.
   */
  revocationMark: ['revocationMark'] satisfies Key,
  /** Result of the erasure of a user's data. The digest identifies the user and the scope of the erasure. */
  erasure: (digest: string): Key => ['erasures', digest],
}

/**
 * Keys in an organization's partition. Data that is read in two directions is stored twice: as a record, and
 * as an index entry without content.
 */
export const keys = {
  organization: ['organization'] satisfies Key,
  /** Counters for limits. */
  counts: ['counts'] satisfies Key,
  documents: ['documents'] satisfies Key,
  document: (documentId: string): Key => ['documents', documentId],
  folders: ['folders'] satisfies Key,
  folder: (folderId: string): Key => ['folders', folderId],
  /** Index: each folder, under its parent. */
  folderTree: ['foldersIn'] satisfies Key,
  /** Index: the folders directly in a folder, or in `root`. */
  foldersIn: (parentFolderId: string): Key => ['foldersIn', parentFolderId],
  folderIn: (parentFolderId: string, folderId: string): Key => ['foldersIn', parentFolderId, folderId],
  /** Index: the documents directly in a folder. Documents in no folder are in `root`. */
  documentsIn: (folderId: string): Key => ['documentsIn', folderId],
  documentIn: (folderId: string, documentId: string): Key => ['documentsIn', folderId, documentId],
  groups: ['groups'] satisfies Key,
  group: (groupId: string): Key => ['groups', groupId],
  membersOf: (groupId: string): Key => ['members', groupId],
  member: (groupId: string, userId: string): Key => ['members', groupId, userId],
  /** Index: the groups of each user. */
  groupsOfAll: ['groupsOf'] satisfies Key,
  /** Index: the groups of one user. */
  groupsOf: (userId: string): Key => ['groupsOf', userId],
  groupOf: (userId: string, groupId: string): Key => ['groupsOf', userId, groupId],
  users: ['users'] satisfies Key,
  user: (userId: string): Key => ['users', userId],
  /** Removals that a node is executing. Written only in a cluster. */
  removals: ['removals'] satisfies Key,
  removal: (name: string): Key => ['removals', name],
  /**
   * A new value with each access change. Written only in a cluster, because other nodes must learn of access
   * changes.
   */
  accessMark: ['accessMark'] satisfies Key,
  /**
   * Time of the erasure of a user's data. The key has a digest of the user id, which is not personal data.
   */
  erased: (digest: string): Key => ['erased', digest],
  /** Grants on a resource. */
  grantsOn: ({ type, id }: Resource): Key => ['grants', type, id],
  userGrantsOn: ({ type, id }: Resource): Key => ['grants', type, id, 'user'],
  groupGrantsOn: ({ type, id }: Resource): Key => ['grants', type, id, 'group'],
  grant: ({ type, id }: Resource, subject: Subject): Key => ['grants', type, id, subject.type, subject.id],
  /** Index: the grants of a user or a group, the earliest expiry first. */
  grantsOf: (subject: Subject): Key => ['grantsOf', subject.type, subject.id],
  /** `expiresAt` is the expiry of the grant: epoch seconds, or null. */
  grantOf: (subject: Subject, { type, id }: Resource, expiresAt: number | null): Key => [
    'grantsOf',
    subject.type,
    subject.id,
    endOrder(expiresAt),
    type,
    id,
  ],
}

/**
 * Returns an expiry as text that sorts by time; grants without an expiry are last. The year 9999 in
 * milliseconds has 15 digits.
 */
const endOrder = (expiresAt: number | null): string =>
  expiresAt === null ? 'never' : String(Math.floor(expiresAt * 1000)).padStart(15, '0')

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

/** Id of the root of a folder tree; no folder may have it. */
export const rootFolderId = 'root'

/** Partition of the data of a tenant as a whole: the ids of its organizations, its revocations. */
export const tenantPart = ({ workspaceId, apiKey }: Tenant): Key => ['tenant', workspaceId, apiKey]

/** Partition of one organization: all of its records, so that a change within it is one commit. */
export const organizationPart = ({ workspaceId, apiKey, organizationId }: OrganizationScope): Key => [
  'organization',
  workspaceId,
  apiKey,
  organizationId,
]

/** Keys in a tenant's partition. */
export const tenantKeys = {
  organization: (organizationId: string): Key => ['organizations', organizationId],
  organizations: ['organizations'] satisfies Key,
  /** Time of the last revocation of a user's tokens. */
  revocation: (userId: string): Key => ['revocations', userId],
  /** A new value with each revocation; only in a cluster, where the other nodes must learn of it. */
  revocationMark: ['revocationMark'] satisfies Key,
  /** Result of an erasure of a user's data, by a digest of the user and the place. */
  erasure: (digest: string): Key => ['erasures', digest],
}

/**
 * Keys in an organization's partition. Data that is read in two directions is stored twice: the second time
 * as an index without content.
 */
export const keys = {
  organization: ['organization'] satisfies Key,
  /** Counters of limited things. */
  counts: ['counts'] satisfies Key,
  documents: ['documents'] satisfies Key,
  document: (documentId: string): Key => ['documents', documentId],
  folders: ['folders'] satisfies Key,
  folder: (folderId: string): Key => ['folders', folderId],
  /** Index: every folder under its parent. */
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
  /** Index: the groups of all users. */
  groupsOfAll: ['groupsOf'] satisfies Key,
  /** Index: the groups of a user. */
  groupsOf: (userId: string): Key => ['groupsOf', userId],
  groupOf: (userId: string, groupId: string): Key => ['groupsOf', userId, groupId],
  users: ['users'] satisfies Key,
  user: (userId: string): Key => ['users', userId],
  /** Removals that a node executes; only in a cluster. */
  removals: ['removals'] satisfies Key,
  removal: (name: string): Key => ['removals', name],
  /** A new value with each access change; only in a cluster, where the other nodes must learn of it. */
  accessMark: ['accessMark'] satisfies Key,
  /** Time of the erasure of a user's data, by a digest, which is not personal data. */
  erased: (digest: string): Key => ['erased', digest],
  /** Grants on a resource. */
  grantsOn: ({ type, id }: Resource): Key => ['grants', type, id],
  userGrantsOn: ({ type, id }: Resource): Key => ['grants', type, id, 'user'],
  groupGrantsOn: ({ type, id }: Resource): Key => ['grants', type, id, 'group'],
  grant: ({ type, id }: Resource, subject: Subject): Key => ['grants', type, id, subject.type, subject.id],
  /** Index: the grants of a user or a group, the earliest expiry first. */
  grantsOf: (subject: Subject): Key => ['grantsOf', subject.type, subject.id],
  /** `expiresAt` as in the grant: epoch seconds, or null. */
  grantOf: (subject: Subject, { type, id }: Resource, expiresAt: number | null): Key => [
    'grantsOf',
    subject.type,
    subject.id,
    endOrder(expiresAt),
    type,
    id,
  ],
}

/** Sorts as text by expiry; grants without one are last. Milliseconds of the year 9999 have 15 digits. */
const endOrder = (expiresAt: number | null): string =>
  expiresAt === null ? 'never' : String(Math.floor(expiresAt * 1000)).padStart(15, '0')

import type { Tenant } from '../../model/address.ts'
import type { Key } from '../../store/engine.ts'

/** Identifies an organization of a tenant. */
export interface OrganizationScope extends Tenant {
  readonly organizationId: string
  /**
   * Id of the organization to whose partition all entries move that are deleted or overwritten. Present only in the
   * scope that a removal passes to the handlers of a cascade.
   */
  readonly movesTo?: string
}

export type ResourceType = 'organization' | 'folder' | 'document'
export type SubjectType = 'user' | 'group'

/** Identifies a resource within its organization. */
export interface Resource {
  readonly type: ResourceType
  readonly id: string
}

/** The user or group that receives a grant. */
export interface Subject {
  readonly type: SubjectType
  readonly id: string
}

/** Id of the root of the folder tree. No folder may have this id. */
export const rootFolderId = 'root'

/**
 * Partition of a tenant. It contains the data that does not belong to one organization: the ids of the
 * organizations, and the token revocations.
 */
export const tenantPart = ({ workspaceId, apiKey }: Tenant): Key => ['tenant', workspaceId, apiKey]

/**
 * Partition of one organization. It contains all records of the organization, so that each change within the
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
   * Contains a new value after each revocation. Written only in a cluster, so that other nodes detect
   * revocations.
   */
  revocationMark: ['revocationMark'] satisfies Key,
  /**
   * Result of the erasure of a user's data. The digest identifies the user and the part of the data that was
   * erased.
   */
  erasure: (digest: string): Key => ['erasures', digest],
  deletions: ['deletions'] satisfies Key,
  deletion: (deletionId: string): Key => ['deletions', deletionId],
}

/**
 * Keys in the partition of an organization. Data that must be found in two ways is stored twice: as a record,
 * and as an index entry without content.
 */
export const keys = {
  organization: ['organization'] satisfies Key,
  /** Counters of the organization, for its limits. */
  counts: ['counts'] satisfies Key,
  documents: ['documents'] satisfies Key,
  document: (documentId: string): Key => ['documents', documentId],
  folders: ['folders'] satisfies Key,
  folder: (folderId: string): Key => ['folders', folderId],
  /** Index of all folders, by parent folder. */
  folderTree: ['foldersIn'] satisfies Key,
  /** Index of the folders directly in a folder, or in `root`. */
  foldersIn: (parentFolderId: string): Key => ['foldersIn', parentFolderId],
  folderIn: (parentFolderId: string, folderId: string): Key => ['foldersIn', parentFolderId, folderId],
  /** Index of the documents directly in a folder. Documents that are in no folder are in `root`. */
  documentsIn: (folderId: string): Key => ['documentsIn', folderId],
  documentIn: (folderId: string, documentId: string): Key => ['documentsIn', folderId, documentId],
  allEditorSchemas: ['editorSchemas'] satisfies Key,
  /** Record with the schemas of the editors of a document. */
  editorSchemas: (documentId: string): Key => ['editorSchemas', documentId],
  groups: ['groups'] satisfies Key,
  group: (groupId: string): Key => ['groups', groupId],
  membersOf: (groupId: string): Key => ['members', groupId],
  member: (groupId: string, userId: string): Key => ['members', groupId, userId],
  /** Index of the groups to which users belong, by user. */
  groupsOfAll: ['groupsOf'] satisfies Key,
  /** Index of the groups to which one user belongs. */
  groupsOf: (userId: string): Key => ['groupsOf', userId],
  groupOf: (userId: string, groupId: string): Key => ['groupsOf', userId, groupId],
  users: ['users'] satisfies Key,
  user: (userId: string): Key => ['users', userId],
  /** Removals that a node is currently executing. Written only in a cluster. */
  removals: ['removals'] satisfies Key,
  removal: (name: string): Key => ['removals', name],
  /** Written with the end of a restore, until its deletion is forgotten. */
  restored: (deletionId: string): Key => ['restored', deletionId],
  /**
   * Contains a new value after each access change. Written only in a cluster, so that other nodes detect
   * access changes.
   */
  accessMark: ['accessMark'] satisfies Key,
  /**
   * Time at which a user's data was erased. The key contains a digest of the user id instead of the user id,
   * which is personal data.
   */
  erased: (digest: string): Key => ['erased', digest],
  /** Grants on a resource, to users and groups. */
  grantsOn: ({ type, id }: Resource): Key => ['grants', type, id],
  userGrantsOn: ({ type, id }: Resource): Key => ['grants', type, id, 'user'],
  groupGrantsOn: ({ type, id }: Resource): Key => ['grants', type, id, 'group'],
  grant: ({ type, id }: Resource, subject: Subject): Key => ['grants', type, id, subject.type, subject.id],
  /** Index of the grants to a user or group, sorted by expiry, earliest first. */
  grantsOf: (subject: Subject): Key => ['grantsOf', subject.type, subject.id],
  /**
   * Index entry of one grant. `expiresAt` is the expiry of the grant in epoch seconds; null if the grant does
   * not expire.
   */
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
 * Returns an expiry as text that sorts by time. Grants without an expiry are sorted last. The text has 15
 * digits, as many as the year 9999 in milliseconds.
 */
const endOrder = (expiresAt: number | null): string =>
  expiresAt === null ? 'never' : String(Math.floor(expiresAt * 1000)).padStart(15, '0')

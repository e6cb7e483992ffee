import * as s from '../../base/schema.ts'
import type { Rate } from '../../config/rate.ts'
import type { RecordType } from '../../store/stored-record.ts'

/** The records of the directory. They are stored as JSON in the Kv of the engine. */

export interface WorkspaceRecord {
  readonly id: string
  readonly name: string
  readonly owner: {
    readonly id: string
    readonly email: string
    readonly name: string
    readonly avatar: string
  }
  readonly authToken: string
  /**
   * True if an import generated the token. No client has such a token, and a start of the server may replace
   * it. Absent otherwise.
   */
  readonly isUnissued?: true
  /** Replaced tokens that are still valid for some time. Absent if there are no such tokens. */
  readonly retiredTokens?: readonly { readonly token: string; readonly validUntil: number }[]
  /**
   * Limit of the stored bytes of the workspace; 0: unlimited. If absent, the option of the server applies.
   */
  readonly storedBytesMax?: number
  /** Rate of the calls of the workspace. Absent if the workspace has no limit of its own. */
  readonly calls?: Rate
  /** False if the workspace does not keep the authors of changes; absent otherwise. */
  readonly attribution?: false
  /** Time of creation, in epoch milliseconds. */
  readonly createdAt: number
}

export interface ApiKeyRecord {
  readonly id: string
  readonly workspaceId: string
  readonly apiKeyName: string
  readonly type: 'testing' | 'production'
  /** Time of creation, in epoch milliseconds. */
  readonly createdAt: number
}

export interface AuthTokenRecord {
  readonly token: string
  /** Like `isUnissued` of a workspace: an import generated the token. */
  readonly isUnissued?: true
  readonly name: string
  /** Domains whose pages may use the token. If empty, pages of all domains may use it. */
  readonly domains: readonly string[]
  /** Time of creation, in epoch milliseconds. */
  readonly createdAt: number
}

/** Replaced auth tokens of an API key. */
export interface RetiredTokensRecord {
  readonly tokens: readonly RetiredToken[]
}

interface RetiredToken extends AuthTokenRecord {
  /** End of the validity of the replaced token, in epoch milliseconds. */
  readonly validUntil: number
}

/** Minting secrets of an API key, newest first. There are at most two. */
export interface MintingSecretList {
  readonly secrets: readonly MintingSecretRecord[]
}

export interface MintingSecretRecord {
  readonly id: string
  /** The secret that signs realtime tokens (HS256). */
  readonly secret: string
  /** Time of creation, in epoch milliseconds. */
  readonly createdAt: number
  /** End of the validity of the secret, in epoch milliseconds. Absent if the secret is the current one. */
  readonly validUntil?: number
}

export interface DomainsRecord {
  /** The domains, in the order in which they were added. */
  readonly domains: readonly string[]
}

/** A counter. It serves a limit, or shows whether any record of a kind exists. */
export interface CounterRecord {
  readonly count: number
}

/** Time at which the tokens of a user were revoked. */
export interface RevocationRecord {
  /**
   * Time of the revocation, in epoch milliseconds. Tokens that were issued at this time or earlier are
   * rejected.
   */
  readonly until: number
}

export type AccessType = 'public' | 'organizationPrivate' | 'restricted'

/**
 * The roles on a resource, weakest first. A viewer reads. A suggester also writes the branches that the
 * suggester has created. An editor writes everything.
 */
export const accessRoles = ['viewer', 'suggester', 'editor'] as const

export type AccessRole = (typeof accessRoles)[number]

/** Returns a number that is larger for stronger roles; 0 for no role. */
export const roleStrength = (role: AccessRole | null): number =>
  role === null ? 0 : accessRoles.indexOf(role) + 1

/** Times of creation and of the last change of a record, in epoch milliseconds. */
interface Dated {
  readonly createdAt: number
  readonly lastUpdated: number
}

/** Data that callers attach to a resource. The server never reads it. */
export type Metadata = Readonly<Record<string, unknown>>

/** A resource that can be deleted with all its contents. */
interface Deletable {
  /**
   * True if the deletion of the resource has begun. Clients no longer see the resource, and its contents are
   * being removed.
   */
  readonly deleting?: true
}

export interface OrganizationRecord extends Dated, Deletable {
  readonly organizationId: string
  readonly organizationName: string
  readonly metadata: Metadata
}

/** Counters of an organization, in one record. */
export interface OrganizationCounts {
  readonly folders: number
  /**
   * Number of changes of the folder tree. Every change of the tree increases this number. A transaction that
   * depends on the shape of the tree reads the number, so that it conflicts with every such change.
   */
  readonly treeChanges: number
}

export interface FolderRecord extends Dated, Deletable {
  readonly folderId: string
  readonly folderName: string
  /** Id of the parent folder; `root` if the folder is at the top level. */
  readonly parentFolderId: string
  /**
   * Access type of the folder itself. Null: the folder has the access type of its parent, if it inherits one.
   */
  readonly accessType: AccessType | null
  /** If false, grants on the ancestors of the folder do not apply to the folder and its contents. */
  readonly inheritAccessFromParent: boolean
}

export interface DocumentRecord extends Dated, Deletable {
  readonly documentId: string
  readonly documentName: string
  /** Id of the folder; `root` if the document is in no folder. */
  readonly folderId: string
  /**
   * Access type of the document itself. Null: the access type of the folder or of the organization applies.
   */
  readonly accessType: AccessType | null
  readonly disabled: boolean
  readonly metadata: Metadata
  /** Members of callers that have no meaning for the server. Absent if there are none. */
  readonly others?: Metadata
}

export interface GroupRecord extends Dated {
  readonly groupId: string
  readonly groupName: string
}

/**
 * Description of a user of an organization. Does not contain the rights of the user, which are defined by
 * grants.
 */
export interface UserRecord extends Dated {
  readonly userId: string
  /** Name of the user. This member and the next ones are empty if they are unknown. */
  readonly name: string
  readonly email: string
  readonly photoUrl: string
  readonly color: string
  readonly metadata: Metadata
  /** Members of callers that have no meaning for the server. Absent if there are none. */
  readonly others?: Metadata
}

/** A right of a user or a group on one resource. */
export interface GrantRecord {
  readonly accessRole: AccessRole
  /** Expiry of the grant in epoch seconds; null if the grant does not expire. */
  readonly expiresAt: number | null
}

/** The workspace that owns an API key. */
interface ApiKeyOwner {
  readonly workspaceId: string
}

const dated = { createdAt: s.number, lastUpdated: s.number }
const deleting = s.literal(true)
const metadata = s.map(s.unknown)
const accessType = s.orNull(s.choice(['public', 'organizationPrivate', 'restricted']))

export const workspaceRecordType: RecordType<WorkspaceRecord> = {
  name: 'workspace',
  schema: s.object(
    {
      id: s.string,
      name: s.string,
      owner: s.object({ id: s.string, email: s.string, name: s.string, avatar: s.string }),
      authToken: s.string,
      createdAt: s.number,
    },
    {
      isUnissued: s.literal(true),
      retiredTokens: s.array(s.object({ token: s.string, validUntil: s.number })),
      storedBytesMax: s.number,
      calls: s.object({ perSecond: s.number, burst: s.number }),
      attribution: s.literal(false),
    },
  ),
}

export const apiKeyRecordType: RecordType<ApiKeyRecord> = {
  name: 'API key',
  schema: s.object({
    id: s.string,
    workspaceId: s.string,
    apiKeyName: s.string,
    type: s.choice(['testing', 'production']),
    createdAt: s.number,
  }),
}

export const apiKeyOwnerType: RecordType<ApiKeyOwner> = {
  name: 'owner of an API key',
  schema: s.object({ workspaceId: s.string }),
}

const unissued = { isUnissued: s.literal(true) }
const authToken = {
  token: s.string,
  name: s.string,
  domains: s.array(s.string),
  createdAt: s.number,
}

export const authTokenRecordType: RecordType<AuthTokenRecord> = {
  name: 'auth token',
  schema: s.object(authToken, unissued),
}

export const retiredTokensRecordType: RecordType<RetiredTokensRecord> = {
  name: 'list of replaced tokens',
  schema: s.object({ tokens: s.array(s.object({ ...authToken, validUntil: s.number }, unissued)) }),
}

export const mintingSecretListType: RecordType<MintingSecretList> = {
  name: 'list of minting secrets',
  schema: s.object({
    secrets: s.array(
      s.object({ id: s.string, secret: s.string, createdAt: s.number }, { validUntil: s.number }),
    ),
  }),
}

export const domainsRecordType: RecordType<DomainsRecord> = {
  name: 'list of domains',
  schema: s.object({ domains: s.array(s.string) }),
}

export const revocationRecordType: RecordType<RevocationRecord> = {
  name: 'revocation of tokens',
  schema: s.object({ until: s.number }),
}

export const counterRecordType: RecordType<CounterRecord> = {
  name: 'counter',
  schema: s.object({ count: s.number }),
}

export const organizationRecordType: RecordType<OrganizationRecord> = {
  name: 'organization',
  schema: s.object(
    { organizationId: s.string, organizationName: s.string, metadata, ...dated },
    { deleting },
  ),
}

export const organizationCountsType: RecordType<OrganizationCounts> = {
  name: 'counters of an organization',
  schema: s.object({ folders: s.number, treeChanges: s.number }),
}

export const folderRecordType: RecordType<FolderRecord> = {
  name: 'folder',
  schema: s.object(
    {
      folderId: s.string,
      folderName: s.string,
      parentFolderId: s.string,
      accessType,
      inheritAccessFromParent: s.boolean,
      ...dated,
    },
    { deleting },
  ),
}

export const documentRecordType: RecordType<DocumentRecord> = {
  name: 'document',
  schema: s.object(
    {
      documentId: s.string,
      documentName: s.string,
      folderId: s.string,
      accessType,
      disabled: s.boolean,
      metadata,
      ...dated,
    },
    { others: metadata, deleting },
  ),
}

/** The only member that a removal checks. A record whose other members are malformed can still be removed. */
export const deletableType: RecordType<Deletable> = {
  name: 'resource',
  schema: s.object({}, { deleting }),
}

/** The members that determine where a folder is and whether it exists. */
export type PlacedFolder = Pick<FolderRecord, 'folderId' | 'parentFolderId' | 'deleting'>

/** The members of a folder that a removal checks; see `deletableType`. */
export const placedFolderType: RecordType<PlacedFolder> = {
  name: 'folder',
  schema: s.object({ folderId: s.string, parentFolderId: s.string }, { deleting }),
}

/** The members of a document that a removal checks; see `deletableType`. */
export const placedDocumentType: RecordType<Pick<DocumentRecord, 'documentId' | 'folderId' | 'deleting'>> = {
  name: 'document',
  schema: s.object({ documentId: s.string, folderId: s.string }, { deleting }),
}

export const groupRecordType: RecordType<GroupRecord> = {
  name: 'group',
  schema: s.object({ groupId: s.string, groupName: s.string, ...dated }),
}

export const userRecordType: RecordType<UserRecord> = {
  name: 'user',
  schema: s.object(
    {
      userId: s.string,
      name: s.string,
      email: s.string,
      photoUrl: s.string,
      color: s.string,
      metadata,
      ...dated,
    },
    { others: metadata },
  ),
}

export const grantRecordType: RecordType<GrantRecord> = {
  name: 'grant',
  schema: s.object({ accessRole: s.choice(accessRoles), expiresAt: s.orNull(s.number) }),
}

/** The member of a grant that is also stored in the index of grants. */
export const grantExpiryType: RecordType<Pick<GrantRecord, 'expiresAt'>> = {
  name: 'expiry of a grant',
  schema: s.object({ expiresAt: s.orNull(s.number) }),
}

/** Value of an entry that needs no content, such as an index entry. */
export const emptyValue: object = {}

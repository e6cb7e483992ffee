import * as v from 'valibot'
import type { Rate } from '../../config/rate.ts'
import type { RecordType } from '../../engine/stored-record.ts'

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

export interface RetiredToken extends AuthTokenRecord {
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
export interface Deletable {
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
export interface ApiKeyOwner {
  readonly workspaceId: string
}

const dated = { createdAt: v.number(), lastUpdated: v.number() }
const deleting = v.exactOptional(v.literal(true))
const metadata = v.record(v.string(), v.unknown())
const accessType = v.nullable(v.picklist(['public', 'organizationPrivate', 'restricted']))

export const workspaceRecordType: RecordType<WorkspaceRecord> = {
  name: 'workspace',
  schema: v.looseObject({
    id: v.string(),
    name: v.string(),
    owner: v.looseObject({ id: v.string(), email: v.string(), name: v.string(), avatar: v.string() }),
    authToken: v.string(),
    isUnissued: v.exactOptional(v.literal(true)),
    retiredTokens: v.exactOptional(v.array(v.looseObject({ token: v.string(), validUntil: v.number() }))),
    storedBytesMax: v.exactOptional(v.number()),
    calls: v.exactOptional(v.looseObject({ perSecond: v.number(), burst: v.number() })),
    attribution: v.exactOptional(v.literal(false)),
    createdAt: v.number(),
  }),
}

export const apiKeyRecordType: RecordType<ApiKeyRecord> = {
  name: 'API key',
  schema: v.looseObject({
    id: v.string(),
    workspaceId: v.string(),
    apiKeyName: v.string(),
    type: v.picklist(['testing', 'production']),
    createdAt: v.number(),
  }),
}

export const apiKeyOwnerType: RecordType<ApiKeyOwner> = {
  name: 'owner of an API key',
  schema: v.looseObject({ workspaceId: v.string() }),
}

const authToken = {
  token: v.string(),
  isUnissued: v.exactOptional(v.literal(true)),
  name: v.string(),
  domains: v.array(v.string()),
  createdAt: v.number(),
}

export const authTokenRecordType: RecordType<AuthTokenRecord> = {
  name: 'auth token',
  schema: v.looseObject(authToken),
}

export const retiredTokensRecordType: RecordType<RetiredTokensRecord> = {
  name: 'list of replaced tokens',
  schema: v.looseObject({ tokens: v.array(v.looseObject({ ...authToken, validUntil: v.number() })) }),
}

export const mintingSecretListType: RecordType<MintingSecretList> = {
  name: 'list of minting secrets',
  schema: v.looseObject({
    secrets: v.array(
      v.looseObject({
        id: v.string(),
        secret: v.string(),
        createdAt: v.number(),
        validUntil: v.exactOptional(v.number()),
      }),
    ),
  }),
}

export const domainsRecordType: RecordType<DomainsRecord> = {
  name: 'list of domains',
  schema: v.looseObject({ domains: v.array(v.string()) }),
}

export const revocationRecordType: RecordType<RevocationRecord> = {
  name: 'revocation of tokens',
  schema: v.looseObject({ until: v.number() }),
}

export const counterRecordType: RecordType<CounterRecord> = {
  name: 'counter',
  schema: v.looseObject({ count: v.number() }),
}

export const organizationRecordType: RecordType<OrganizationRecord> = {
  name: 'organization',
  schema: v.looseObject({
    organizationId: v.string(),
    organizationName: v.string(),
    metadata,
    deleting,
    ...dated,
  }),
}

export const organizationCountsType: RecordType<OrganizationCounts> = {
  name: 'counters of an organization',
  schema: v.looseObject({ folders: v.number(), treeChanges: v.number() }),
}

export const folderRecordType: RecordType<FolderRecord> = {
  name: 'folder',
  schema: v.looseObject({
    folderId: v.string(),
    folderName: v.string(),
    parentFolderId: v.string(),
    accessType,
    inheritAccessFromParent: v.boolean(),
    deleting,
    ...dated,
  }),
}

export const documentRecordType: RecordType<DocumentRecord> = {
  name: 'document',
  schema: v.looseObject({
    documentId: v.string(),
    documentName: v.string(),
    folderId: v.string(),
    accessType,
    disabled: v.boolean(),
    metadata,
    others: v.exactOptional(metadata),
    deleting,
    ...dated,
  }),
}

/** The only member that a removal checks. A record whose other members are malformed can still be removed. */
export const deletableType: RecordType<Deletable> = {
  name: 'resource',
  schema: v.looseObject({ deleting }),
}

/** The members that determine where a folder is and whether it exists. */
export type PlacedFolder = Pick<FolderRecord, 'folderId' | 'parentFolderId' | 'deleting'>

/** The members of a folder that a removal checks; see `deletableType`. */
export const placedFolderType: RecordType<PlacedFolder> = {
  name: 'folder',
  schema: v.looseObject({ folderId: v.string(), parentFolderId: v.string(), deleting }),
}

/** The members of a document that a removal checks; see `deletableType`. */
export const placedDocumentType: RecordType<Pick<DocumentRecord, 'documentId' | 'folderId' | 'deleting'>> = {
  name: 'document',
  schema: v.looseObject({ documentId: v.string(), folderId: v.string(), deleting }),
}

export const groupRecordType: RecordType<GroupRecord> = {
  name: 'group',
  schema: v.looseObject({ groupId: v.string(), groupName: v.string(), ...dated }),
}

export const userRecordType: RecordType<UserRecord> = {
  name: 'user',
  schema: v.looseObject({
    userId: v.string(),
    name: v.string(),
    email: v.string(),
    photoUrl: v.string(),
    color: v.string(),
    metadata,
    others: v.exactOptional(metadata),
    ...dated,
  }),
}

export const grantRecordType: RecordType<GrantRecord> = {
  name: 'grant',
  schema: v.looseObject({ accessRole: v.picklist(accessRoles), expiresAt: v.nullable(v.number()) }),
}

/** The member of a grant that is also stored in the index of grants. */
export const grantExpiryType: RecordType<Pick<GrantRecord, 'expiresAt'>> = {
  name: 'expiry of a grant',
  schema: v.looseObject({ expiresAt: v.nullable(v.number()) }),
}

/** Value of an entry that needs no content, such as an index entry. */
export const emptyValue: object = {}

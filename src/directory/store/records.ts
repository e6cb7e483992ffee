/** What the directory keeps, as JSON in the engine's Kv. */

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
  /** An import made the token, and nobody has it: a start may replace it. Else absent. */
  readonly isUnissued?: true
  /** Replaced tokens that are good all the same for a while; none: absent. */
  readonly retiredTokens?: readonly { readonly token: string; readonly validUntil: number }[]
  /** Bytes that the workspace may store; 0: unlimited. Absent: the server's option decides. */
  readonly storedBytesMax?: number
  /** Epoch milliseconds. */
  readonly createdAt: number
}

export interface ApiKeyRecord {
  readonly id: string
  readonly workspaceId: string
  readonly apiKeyName: string
  readonly type: 'testing' | 'production'
  /** Epoch milliseconds. */
  readonly createdAt: number
}

export interface AuthTokenRecord {
  readonly token: string
  /** As `isUnissued` of a workspace. */
  readonly isUnissued?: true
  readonly name: string
  /** Domains of the pages that may use it; none: any. */
  readonly domains: readonly string[]
  /** Epoch milliseconds. */
  readonly createdAt: number
}

/** Tokens of an API key that have been replaced. */
export interface RetiredTokensRecord {
  readonly tokens: readonly RetiredToken[]
}

export interface RetiredToken extends AuthTokenRecord {
  /** Epoch milliseconds until which it is good all the same. */
  readonly validUntil: number
}

/** Minting secrets of an API key, newest first; at most two. */
export interface MintingSecretList {
  readonly secrets: readonly MintingSecretRecord[]
}

export interface MintingSecretRecord {
  readonly id: string
  /** Signs realtime tokens (HS256). */
  readonly secret: string
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** Epoch milliseconds; absent for the current secret. */
  readonly validUntil?: number
}

export interface DomainsRecord {
  /** In the order in which they were added. */
  readonly domains: readonly string[]
}

/** A number of things, which is limited or decides whether there is any. */
export interface CounterRecord {
  readonly count: number
}

/** When a user's tokens were revoked. */
export interface RevocationRecord {
  /** Epoch milliseconds: tokens issued until then are refused. */
  readonly until: number
}

export type AccessType = 'public' | 'organizationPrivate' | 'restricted'
export type AccessRole = 'viewer' | 'editor'

/** Times are epoch milliseconds throughout. */
interface Dated {
  readonly createdAt: number
  readonly lastUpdated: number
}

/** What callers attach to a resource; never looked into. */
export type Metadata = Readonly<Record<string, unknown>>

/** What is removed together with all that it holds. */
export interface Deletable {
  /** Set when its deletion has begun: it is gone for everybody, and what it held is being removed. */
  readonly deleting?: true
}

export interface OrganizationRecord extends Dated, Deletable {
  readonly organizationId: string
  readonly organizationName: string
  readonly metadata: Metadata
}

/** What there is in an organization. */
export interface OrganizationCounts {
  readonly folders: number
  /** How often the folder tree has changed: who depends on its shape reads it, and every change of it counts. */
  readonly treeChanges: number
}

export interface FolderRecord extends Dated, Deletable {
  readonly folderId: string
  readonly folderName: string
  /** `root` at the top. */
  readonly parentFolderId: string
  /** Null: that of the parent, as far as access is inherited. */
  readonly accessType: AccessType | null
  /** False: what is granted above says nothing about what is in here. */
  readonly inheritAccessFromParent: boolean
}

export interface DocumentRecord extends Dated, Deletable {
  readonly documentId: string
  readonly documentName: string
  /** `root` when it is in no folder. */
  readonly folderId: string
  /** Null: that of the folder, or of the organization. */
  readonly accessType: AccessType | null
  readonly disabled: boolean
  readonly metadata: Metadata
}

export interface GroupRecord extends Dated {
  readonly groupId: string
  readonly groupName: string
}

/** Who a user of an organization is; what they may do is in grants. */
export interface UserRecord extends Dated {
  readonly userId: string
  /** '' when unknown, as the others. */
  readonly name: string
  readonly email: string
  readonly photoUrl: string
  readonly color: string
  readonly metadata: Metadata
}

/** A right of a user or a group on one resource. */
export interface GrantRecord {
  readonly accessRole: AccessRole
  /** Epoch seconds; null: it does not end by itself. */
  readonly expiresAt: number | null
}

/** An entry that is there and says nothing more. */
export const emptyValue: object = {}

export const encodeRecord = (record: object): Uint8Array => Buffer.from(JSON.stringify(record))

/** What `encodeRecord` was given; the caller knows the kind by the key. */
export const decodeRecord = (bytes: Uint8Array): unknown => JSON.parse(Buffer.from(bytes).toString())

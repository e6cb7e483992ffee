import * as s from '../../base/schema.ts'

// The records of the directory. They are stored as JSON in the Kv of the engine. The type of a record follows from its
// schema. Times are in epoch milliseconds, unless a member says otherwise.

export const workspaceRecordType = {
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
      /** Replaced tokens that are still valid for some time. Absent if there are no such tokens. */
      retiredTokens: s.array(s.object({ token: s.string, validUntil: s.number })),
      /**
       * Limit of the stored bytes of the workspace; 0: unlimited. If absent, the option of the server applies.
       */
      storedBytesMax: s.number,
      /** Rate of the calls of the workspace. Absent if the workspace has no limit of its own. */
      calls: s.object({ perSecond: s.number, burst: s.number }),
      /** False if the workspace does not keep the authors of changes; absent otherwise. */
      attribution: s.literal(false),
    },
  ),
}
export type WorkspaceRecord = s.TypeOf<typeof workspaceRecordType.schema>

export const apiKeyRecordType = {
  name: 'API key',
  schema: s.object({
    id: s.string,
    workspaceId: s.string,
    apiKeyName: s.string,
    type: s.choice(['testing', 'production']),
    createdAt: s.number,
  }),
}
export type ApiKeyRecord = s.TypeOf<typeof apiKeyRecordType.schema>

/** The workspace that owns an API key. */
export const apiKeyOwnerType = { name: 'owner of an API key', schema: s.object({ workspaceId: s.string }) }

const authToken = {
  token: s.string,
  name: s.string,
  /** Domains whose pages may use the token. If empty, pages of all domains may use it. */
  domains: s.array(s.string),
  createdAt: s.number,
}
export const authTokenRecordType = { name: 'auth token', schema: s.object(authToken) }
export type AuthTokenRecord = s.TypeOf<typeof authTokenRecordType.schema>

/** Replaced auth tokens of an API key. */
export const retiredTokensRecordType = {
  name: 'list of replaced tokens',
  schema: s.object({
    /** `validUntil` is the end of the validity of a token. */
    tokens: s.array(s.object({ ...authToken, validUntil: s.number })),
  }),
}
export type RetiredTokensRecord = s.TypeOf<typeof retiredTokensRecordType.schema>

const mintingSecretSchema = s.object(
  {
    id: s.string,
    /** The secret that signs realtime tokens (HS256). */
    secret: s.string,
    createdAt: s.number,
  },
  {
    /** End of the validity of the secret. Absent if the secret is the current one. */
    validUntil: s.number,
  },
)
export type MintingSecretRecord = s.TypeOf<typeof mintingSecretSchema>

/** Minting secrets of an API key, newest first. There are at most two. */
export const mintingSecretListType = {
  name: 'list of minting secrets',
  schema: s.object({ secrets: s.array(mintingSecretSchema) }),
}
export type MintingSecretList = s.TypeOf<typeof mintingSecretListType.schema>

export const domainsRecordType = {
  name: 'list of domains',
  schema: s.object({
    /** The domains, in the order in which they were added. */
    domains: s.array(s.string),
  }),
}
export type DomainsRecord = s.TypeOf<typeof domainsRecordType.schema>

/** A counter. It serves a limit, or shows whether any record of a kind exists. */
export const counterRecordType = { name: 'counter', schema: s.object({ count: s.number }) }
export type CounterRecord = s.TypeOf<typeof counterRecordType.schema>

/** Time at which the tokens of a user were revoked. Tokens that were issued until then are rejected. */
export const revocationRecordType = { name: 'revocation of tokens', schema: s.object({ until: s.number }) }
export type RevocationRecord = s.TypeOf<typeof revocationRecordType.schema>

const accessTypes = ['public', 'organizationPrivate', 'restricted'] as const
export type AccessType = (typeof accessTypes)[number]
/** Access type of a resource itself. Null: it has the access type of its parent, if it inherits one. */
const ownAccessType = s.orNull(s.choice(accessTypes))

/**
 * The roles on a resource, weakest first. A viewer reads. A suggester also writes the branches that the
 * suggester has created. An editor writes everything.
 */
export const accessRoles = ['viewer', 'suggester', 'editor'] as const

export type AccessRole = (typeof accessRoles)[number]

/** Returns a number that is larger for stronger roles; 0 for no role. */
export const roleStrength = (role: AccessRole | null): number =>
  role === null ? 0 : accessRoles.indexOf(role) + 1

/** Times of creation and of the last change of a record. */
const dated = { createdAt: s.number, lastUpdated: s.number }

/** Data that callers attach to a resource. The server never reads it. */
export type Metadata = Readonly<Record<string, unknown>>
const metadata = s.map(s.unknown)

/**
 * True if the deletion of the resource has begun. Clients no longer see the resource, and its contents are being
 * removed.
 */
const deleting = s.literal(true)
/** Id of the deletion that keeps the data of the resource; absent if its data is deleted at once. */
const deletion = s.string

/** Returns the members of a record whose resource is being deleted. @param id deletion that keeps the data */
export const deletionMark = (id?: string): { deleting: true; deletion?: string } => ({
  deleting: true,
  ...(id !== undefined && { deletion: id }),
})

export const organizationRecordType = {
  name: 'organization',
  schema: s.object(
    { organizationId: s.string, organizationName: s.string, metadata, ...dated },
    { deleting, deletion },
  ),
}
export type OrganizationRecord = s.TypeOf<typeof organizationRecordType.schema>

/** Counters of an organization, in one record. */
export const organizationCountsType = {
  name: 'counters of an organization',
  schema: s.object({
    folders: s.number,
    /**
     * Number of changes of the folder tree. Every change of the tree increases this number. A transaction that
     * depends on the shape of the tree reads the number, so that it conflicts with every such change.
     */
    treeChanges: s.number,
  }),
}
export type OrganizationCounts = s.TypeOf<typeof organizationCountsType.schema>

export const folderRecordType = {
  name: 'folder',
  schema: s.object(
    {
      folderId: s.string,
      folderName: s.string,
      /** Id of the parent folder; `root` if the folder is at the top level. */
      parentFolderId: s.string,
      accessType: ownAccessType,
      /** If false, grants on the ancestors of the folder do not apply to the folder and its contents. */
      inheritAccessFromParent: s.boolean,
      ...dated,
    },
    { deleting, deletion },
  ),
}
export type FolderRecord = s.TypeOf<typeof folderRecordType.schema>

export const documentRecordType = {
  name: 'document',
  schema: s.object(
    {
      documentId: s.string,
      documentName: s.string,
      /** Id of the folder; `root` if the document is in no folder. */
      folderId: s.string,
      accessType: ownAccessType,
      disabled: s.boolean,
      metadata,
      ...dated,
    },
    {
      /** Members of callers that have no meaning for the server. Absent if there are none. */
      others: metadata,
      deleting,
      deletion,
    },
  ),
}
export type DocumentRecord = s.TypeOf<typeof documentRecordType.schema>

/** The only member that a removal checks. A record whose other members are malformed can still be removed. */
export const deletableType = { name: 'resource', schema: s.object({}, { deleting, deletion }) }

/** The members of a folder that a removal checks; see `deletableType`. */
export const placedFolderType = {
  name: 'folder',
  schema: s.object({ folderId: s.string, parentFolderId: s.string }, { deleting, deletion }),
}
/** The members that determine where a folder is and whether it exists. */
export type PlacedFolder = s.TypeOf<typeof placedFolderType.schema>

/** The members of a document that a removal checks; see `deletableType`. */
export const placedDocumentType = {
  name: 'document',
  schema: s.object({ documentId: s.string, folderId: s.string }, { deleting, deletion }),
}

export const groupRecordType = {
  name: 'group',
  schema: s.object({ groupId: s.string, groupName: s.string, ...dated }),
}
export type GroupRecord = s.TypeOf<typeof groupRecordType.schema>

/**
 * Description of a user of an organization. Does not contain the rights of the user, which are defined by
 * grants.
 */
export const userRecordType = {
  name: 'user',
  schema: s.object(
    {
      userId: s.string,
      /** Name of the user. This member and the next ones are empty if they are unknown. */
      name: s.string,
      email: s.string,
      photoUrl: s.string,
      color: s.string,
      metadata,
      ...dated,
    },
    {
      /** Members of callers that have no meaning for the server. Absent if there are none. */
      others: metadata,
    },
  ),
}
export type UserRecord = s.TypeOf<typeof userRecordType.schema>

/** Expiry of a grant in epoch seconds; null if the grant does not expire. */
const expiresAt = s.orNull(s.number)
/** A right of a user or a group on one resource. */
export const grantRecordType = {
  name: 'grant',
  schema: s.object({ accessRole: s.choice(accessRoles), expiresAt }),
}
export type GrantRecord = s.TypeOf<typeof grantRecordType.schema>

/** The member of a grant that is also stored in the index of grants. */
export const grantExpiryType = { name: 'expiry of a grant', schema: s.object({ expiresAt }) }

/** Value of an entry that needs no content, such as an index entry. */
export const emptyValue: object = {}

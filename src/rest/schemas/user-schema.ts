import { type FromSchema, json } from '../../core/base/schema.ts'
import {
  type OrganizationScope,
  type Resource,
  rootFolderId,
} from '../../core/directory/organizations/organization-keys.ts'
import { userMetadataBytesMax } from '../../core/directory/organizations/user-records.ts'
import type { FoundUser } from '../../core/directory/services/user-service.ts'
import { accessRoles } from '../../core/directory/store/records.ts'
import { keepsOthers, openMembers, othersOf } from '../open-members.ts'
import type { CreatedLists } from '../operation.ts'
import type { Services } from '../services.ts'
import { invalidAt } from '../validator.ts'

const namesOfUser = {
  name: json.text('Display name.', { maxLength: 200 }),
  email: { type: 'string', maxLength: 320 },
} as const

/**
 * A user as the caller describes the user. The user need not be a user of the organization. Unlisted members are kept
 * with the record.
 */
export const notifiedUser = json.object({ userId: json.id() }, namesOfUser, {
  ...openMembers(),
  examples: [{ userId: 'ann', name: 'Ann', email: 'ann@example.com' }],
})

/** Request member for the organization of the users. */
export const userOrganization = { organizationId: json.id('Organization of the users.') } as const

/** Request members for a resource in the organization. */
export const userPlace = {
  folderId: json.id('Users of this folder; default without `documentId`: users of the organization.'),
  documentId: json.id('Users of this document; not together with `folderId`.'),
} as const

interface UserScope {
  readonly organizationId: string
  readonly folderId?: string
  readonly documentId?: string
}

/**
 * Returns the resource of the users.
 * @throws ApiError INVALID_ARGUMENT if both a folder and a document are given
 */
export function userResource({ organizationId, folderId, documentId }: UserScope): Resource {
  if (folderId !== undefined && documentId !== undefined)
    throw invalidAt({ path: '/data/documentId', message: 'must not be given together with folderId' })
  if (documentId !== undefined) return { type: 'document', id: documentId }
  return folderId === undefined
    ? { type: 'organization', id: organizationId }
    : { type: 'folder', id: folderId }
}

export const createFlags = {
  createOrganization: json.flag('True: creates the organization if it does not exist.'),
  createFolder: json.flag('True: creates the folder, at the top, if it does not exist.'),
  createDocument: json.flag('True: creates the document, without a folder, if it does not exist.'),
} as const

/** Schema of the flag that sets all create flags of a call. */
export const createMissingFlag = json.boolean(
  'Whether to create the named organization, and the folder or document in it, if they do not exist. `created` ' +
    'names what was created.',
  { default: true },
)

/** Schema of the flag that decides about the organization alone, whatever `createMissing` is. */
export const createOrganizationFlag = json.boolean(
  'Whether to create the organization if it does not exist. Default: as `createMissing`.',
)

interface CreateFlags {
  readonly createOrganization?: boolean
  readonly createFolder?: boolean
  readonly createDocument?: boolean
  /** Value of the create flags that are not given. Default false. */
  readonly createMissing?: boolean
}

export const makesParents = ({
  createMissing = false,
  createOrganization = createMissing,
  createFolder = createMissing,
  createDocument = createMissing,
}: CreateFlags): boolean => createOrganization || createFolder || createDocument

/**
 * Creates the organization and the resource in it, if they are missing and the flags permit it. Returns what was
 * created.
 * @throws ApiError NOT_FOUND if one of them is missing and must not be created; then nothing is created
 */
export async function createMissingParents(
  { organizations, folders, documents }: Services,
  scope: OrganizationScope,
  { type, id }: Resource,
  { createMissing: all = false, ...flags }: CreateFlags,
): Promise<CreatedLists> {
  const { createOrganization = all, createFolder = all, createDocument = all } = flags
  const canCreate = {
    organization: true,
    folder: createFolder && id !== rootFolderId,
    document: createDocument,
  }
  if (createOrganization && !canCreate[type]) await organizations.requireExisting(scope, { type, id })
  const [organization, folder, document] = [
    createOrganization && (await organizations.ensure(scope)),
    createFolder && type === 'folder' && (await folders.ensure(scope, id)),
    createDocument &&
      type === 'document' &&
      (await documents.add(scope, [{ documentId: id }], { createFolder })).results[id]?.success === true,
  ]
  return {
    ...(organization && { organizations: [scope.organizationId] }),
    ...(folder && { folders: [id] }),
    ...(document && { documents: [id] }),
  }
}

/** Joins what several parts of a call have created. */
export function joinCreated(parts: readonly CreatedLists[]): CreatedLists {
  const all = (ids: readonly string[]) => (ids.length === 0 ? null : [...new Set(ids)])
  const organizations = all(parts.flatMap((part) => part.organizations ?? []))
  const folders = all(parts.flatMap((part) => part.folders ?? []))
  const documents = all(parts.flatMap((part) => part.documents ?? []))
  return {
    ...(organizations && { organizations }),
    ...(folders && { folders }),
    ...(documents && { documents }),
  }
}

const described = {
  ...namesOfUser,
  photoUrl: json.text('Address of a picture.', { maxLength: 2_000 }),
  color: json.text('Color of the user, as a CSS color.', { maxLength: 100 }),
  metadata: json.map(
    {},
    {
      description: `Any data about the user, replaced as a whole; at most ${userMetadataBytesMax} bytes of JSON.`,
    },
  ),
} as const

const userMembers = { userId: json.id(), ...described, accessRole: json.choice(accessRoles) } as const

/** Names of members of a user that only responses have. */
const userReserved = ['createdAt', 'lastUpdated', 'expiresAt'] as const

/**
 * Returns the schema of a list of users.
 * @param roleDescription describes `accessRole` and its default
 */
export const userInputs = (roleDescription: string) =>
  json.list(
    json.object(
      { userId: json.id() },
      { ...described, accessRole: json.choice(accessRoles, roleDescription) },
      { ...openMembers(...userReserved), description: keepsOthers },
    ),
    {
      maxItems: 500,
      examples: [[{ userId: 'ann', name: 'Ann', email: 'ann@example.com', accessRole: 'viewer' }]],
    },
  )

/** Returns users of a request with their unlisted members in `others`. */
export const toUserInputs = <User extends object>(users: readonly User[]) =>
  users.map((user) => ({ ...user, others: othersOf({ properties: userMembers }, user) }))

export const userRecords = json.list(
  json.object(
    {
      userId: json.id(),
      ...described,
      createdAt: json.integer('Epoch milliseconds.'),
      lastUpdated: json.integer('Epoch milliseconds.'),
    },
    {
      accessRole: json.choice(
        accessRoles,
        'Role that is granted to the user on the resource itself; absent for users of the organization who have ' +
          'roles only on folders or documents in it, or by groups.',
      ),
      expiresAt: json.number('Expiry of the role, in Unix seconds; absent without an expiry.'),
    },
    { additionalProperties: {} },
  ),
)

/** Converts a user to its response. */
export const toUserResponse = ({
  user: { others, ...user },
  grant,
}: FoundUser): FromSchema<typeof userRecords>[number] => ({
  ...others,
  ...user,
  ...(grant !== null && { accessRole: grant.accessRole }),
  ...(grant !== null && grant.expiresAt !== null && { expiresAt: grant.expiresAt }),
})

import { seededRandom } from '../support/random.ts'

/** An organization in which operations are called, with the numbers of its objects. */
export interface Filled {
  readonly organizationId: string
  readonly documents: number
  readonly users: number
  readonly folders: number
}

export interface Operation {
  readonly name: string
  readonly path: string
  /** Returns the data of a call. @param index number of the call of this operation in this organization */
  data(of: Filled, index: number): object
}

const random = seededRandom(9)
const anyOf = (kind: string, count: number): string => `${kind}-${random(count)}`
/** Returns the id of an object that calls create and delete. Each id exists once. */
const own = (index: number): string => `own-${index}`
const ann = { name: 'Ann', email: 'ann@example.com' }
/** Number of documents whose content the calls replace. */
const texts = 200

const documents: readonly Operation[] = [
  {
    name: 'a document added',
    path: '/v2/organizations/documents/add',
    data: ({ organizationId, folders }, index) => ({
      organizationId,
      documents: [{ documentId: own(index), documentName: 'Report', folderId: anyOf('folder', folders) }],
    }),
  },
  {
    name: 'one document',
    path: '/v2/organizations/documents/get',
    data: (of) => ({ organizationId: of.organizationId, documentIds: [anyOf('document', of.documents)] }),
  },
  {
    name: 'a page of 100 documents',
    path: '/v2/organizations/documents/get',
    data: ({ organizationId }) => ({ organizationId, pageSize: 100 }),
  },
  {
    name: 'a document renamed',
    path: '/v2/organizations/documents/update',
    data: (of) => ({
      organizationId: of.organizationId,
      documents: [{ documentId: anyOf('document', of.documents), documentName: anyOf('name', 1e6) }],
    }),
  },
  {
    name: 'a document moved',
    path: '/v2/organizations/documents/move',
    data: (of) => ({
      organizationId: of.organizationId,
      documentIds: [anyOf('document', of.documents)],
      folderId: anyOf('folder', of.folders),
    }),
  },
  {
    name: 'a document deleted',
    path: '/v2/organizations/documents/delete',
    data: ({ organizationId }, index) => ({ organizationId, documentIds: [own(index)] }),
  },
]

const folders: readonly Operation[] = [
  {
    name: 'a folder added',
    path: '/v1/organizations/folders/add',
    data: (of, index) => ({
      organizationId: of.organizationId,
      folders: [{ folderId: own(index), folderName: 'Reports', parentFolderId: anyOf('folder', of.folders) }],
    }),
  },
  {
    name: 'a folder and what is in it',
    path: '/v2/organizations/folders/get',
    data: (of) => ({ organizationId: of.organizationId, folderId: anyOf('folder', of.folders) }),
  },
  {
    name: 'a folder renamed',
    path: '/v1/organizations/folders/update',
    data: (of) => ({
      organizationId: of.organizationId,
      folders: [{ folderId: anyOf('folder', of.folders), folderName: anyOf('name', 1e6) }],
    }),
  },
  {
    name: 'a folder deleted',
    path: '/v2/organizations/folders/delete',
    data: ({ organizationId }, index) => ({ organizationId, folderId: own(index) }),
  },
]

const users: readonly Operation[] = [
  {
    name: 'a user added',
    path: '/v2/users/add',
    data: ({ organizationId }, index) => ({ organizationId, users: [{ userId: own(index), ...ann }] }),
  },
  {
    name: 'one user',
    path: '/v2/users/get',
    data: (of) => ({ organizationId: of.organizationId, userIds: [anyOf('user', of.users)] }),
  },
  {
    name: 'a user renamed',
    path: '/v2/users/update',
    data: (of) => ({
      organizationId: of.organizationId,
      users: [{ userId: anyOf('user', of.users), name: anyOf('name', 1e6) }],
    }),
  },
  {
    name: 'a user deleted',
    path: '/v2/users/delete',
    data: ({ organizationId }, index) => ({ organizationId, userIds: [own(index)] }),
  },
]

const permissionOf = (of: Filled): object => ({
  resources: [{ type: 'document', id: anyOf('document', of.documents), organizationId: of.organizationId }],
})

const permissions: readonly Operation[] = [
  {
    name: 'a permission added',
    path: '/v2/auth/permissions/add',
    data: (of) => ({ user: { userId: anyOf('user', of.users) }, permissions: permissionOf(of) }),
  },
  {
    name: 'permissions of a user on a document',
    path: '/v2/auth/permissions/get',
    data: (of) => ({
      organizationId: of.organizationId,
      userIds: [anyOf('user', of.users)],
      documentIds: [anyOf('document', of.documents)],
    }),
  },
  {
    name: 'a permission removed',
    path: '/v2/auth/permissions/remove',
    data: (of) => ({ userId: anyOf('user', of.users), permissions: permissionOf(of) }),
  },
  {
    name: 'a realtime token',
    path: '/v2/auth/generate_token',
    data: (of) => ({ userId: anyOf('user', of.users), userProperties: ann }),
  },
]

const content: readonly Operation[] = [
  {
    name: 'a text written',
    path: '/v2/crdt/update',
    data: (of) => ({
      organizationId: of.organizationId,
      documentId: anyOf('document', Math.min(of.documents, texts)),
      editorId: 'main',
      type: 'text',
      data: `some words and a number: ${random(1e9)}`,
      upsert: true,
    }),
  },
  {
    name: 'a text read',
    path: '/v2/crdt/get',
    data: ({ organizationId }) => ({ organizationId, documentId: 'read', editorId: 'main' }),
  },
]

/**
 * All operations, in the order of the calls. Later operations delete the objects that earlier ones have
 * added.
 */
export const operations: readonly Operation[] = [
  ...documents,
  ...folders,
  ...users,
  ...permissions,
  ...content,
]

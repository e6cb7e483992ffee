import type { BatchResults } from '../../../src/core/directory/store/batch.ts'
import { type Answer, dataOf, type TestServer } from '../servers/server.ts'

export interface Folder {
  readonly folderId: string
  readonly folderName: string
  readonly organizationId: string
  readonly parentFolderId: string
  readonly ancestors: readonly string[]
  readonly accessType: string
  readonly inheritAccessFromParent: boolean
  readonly apiKey: string
  readonly createdAt: number
  readonly lastUpdated: number
  readonly subFolders?: readonly Folder[]
}

export interface Document {
  readonly id: string
  readonly documentName: string
  readonly organizationId: string
  readonly folderId: string
  readonly accessType: string
  readonly disabled: boolean
  readonly metadata: object
  readonly createdAt: number
  readonly lastUpdated: number
}

export const statusOf = ({ body }: Answer): string | undefined => body.error?.status ?? body.result?.status

/** Returns the result of each item of a batch by its id: true, or the reason why it failed. */
export const outcomes = (answer: Answer): Record<string, true | string> =>
  Object.fromEntries(
    Object.entries(dataOf(answer) as BatchResults).map(([id, { success, message }]) => [
      id,
      success || message,
    ]),
  )

/** Returns functions that call the operations for one organization. */
export function organizationCalls({ post }: TestServer, organizationId: string) {
  const call = (path: string, data: object = {}) => post(path, { organizationId, ...data })
  const v2 = (path: string, data: object = {}) => call(`/v2/organizations/${path}`, data)
  const v1 = (path: string, data: object = {}) => call(`/v1/organizations/${path}`, data)
  return {
    organizationId,
    v1,
    v2,
    addFolders: async (...folders: object[]) => outcomes(await v1('folders/add', { folders })),
    updateFolders: async (...folders: object[]) => outcomes(await v1('folders/update', { folders })),
    folders: async (data: object = {}) => dataOf(await v2('folders/get', data)) as Folder[],
    addDocuments: async (...documents: object[]) => outcomes(await v2('documents/add', { documents })),
    updateDocuments: async (...documents: object[]) => outcomes(await v2('documents/update', { documents })),
    documents: async (data: object = {}) => dataOf(await v2('documents/get', data)) as Document[],
  }
}

export type OrganizationCalls = ReturnType<typeof organizationCalls>

let organizations = 0

/** Creates an organization, and returns functions that call operations for it. */
export async function newOrganization(server: TestServer): Promise<OrganizationCalls> {
  organizations += 1
  const organizationId = `organization ${organizations}`
  await server.post('/v2/organizations/add', { organizations: [{ organizationId }] })
  return organizationCalls(server, organizationId)
}

/** Ids that code without care would handle incorrectly. */
export const oddIds = [
  'a/b',
  '%2e%2e%2f',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '👩‍👩‍👧 é é',
  'x'.repeat(512),
  'dots...',
  ' leading and trailing ',
  '0',
  '-1',
  'null',
  'true',
  '{"a":1}',
  'a\\b',
  '\u2028',
  '....',
]

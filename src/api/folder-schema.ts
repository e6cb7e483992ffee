import type { FolderView } from '../directory/folder-views.ts'
import { ApiError } from '../errors.ts'
import type { Tenant } from '../model/address.ts'
import {
  accessType,
  batchMax,
  createdAt,
  folderId,
  lastUpdated,
  organizationId,
  resourceName,
} from './resource-schema.ts'
import type { From } from './schema.ts'

const parentFolderId = {
  ...folderId,
  description: 'The folder that it is in; `root` at the top.',
} as const

export const foldersRequest = {
  type: 'object',
  required: ['organizationId', 'folders'],
  properties: {
    organizationId,
    folders: {
      type: 'array',
      maxItems: batchMax,
      items: {
        type: 'object',
        required: ['folderId'],
        properties: {
          folderId: { ...folderId, description: 'Unique in the organization; `root` is reserved.' },
          folderName: { ...resourceName, description: 'Name of the folder.' },
          parentFolderId,
        },
      },
      examples: [[{ folderId: 'reports', folderName: 'Reports', parentFolderId: 'root' }]],
    },
  },
} as const

export const folderRequest = {
  type: 'object',
  required: ['organizationId', 'folderId'],
  properties: { organizationId, folderId },
} as const

const subFolders = {
  type: 'array',
  items: { type: 'object', properties: {} },
  description:
    'Records of the folders in it; there when a folder was asked for, down to the depth asked for.',
} as const

/** A folder as version 1 shows it. */
export const folderRecordV1 = {
  type: 'object',
  required: ['folderId', 'folderName', 'organizationId', 'parentFolderId', 'createdAt', 'lastUpdated'],
  properties: {
    folderId,
    folderName: { type: 'string', description: "'' when it was never given." },
    organizationId,
    parentFolderId,
    createdAt,
    lastUpdated,
    subFolders,
  },
} as const

export const folderRecord = {
  ...folderRecordV1,
  required: [...folderRecordV1.required, 'apiKey', 'ancestors', 'accessType', 'inheritAccessFromParent'],
  properties: {
    ...folderRecordV1.properties,
    apiKey: { type: 'string', description: 'The API key that it belongs to.' },
    ancestors: {
      type: 'array',
      items: { type: 'string' },
      description: 'Ids of the folders above it, from `root` down to its parent.',
    },
    accessType: {
      ...accessType,
      description:
        'In effect: its own, else that of the folders above it as far as it inherits, else `public`.',
    },
    inheritAccessFromParent: {
      type: 'boolean',
      description: 'False: what is granted above says nothing about what is in here.',
    },
  },
} as const

/** Bytes of JSON that one answer may hold: a full organization with long ids would make hundreds of megabytes. */
const answerBytesMax = 16 * 1024 * 1024

export const tooManyFolders = {
  status: 'FAILED_PRECONDITION',
  when: `the answer would have more than ${answerBytesMax} bytes: ask for one folder, with few levels below it`,
} as const

type FolderAnswerV1 = From<typeof folderRecordV1>
type FolderAnswer = From<typeof folderRecord>

export const folderAnswerV1 = (organization: string, { record }: FolderView): FolderAnswerV1 => ({
  folderId: record.folderId,
  folderName: record.folderName,
  organizationId: organization,
  parentFolderId: record.parentFolderId,
  createdAt: record.createdAt,
  lastUpdated: record.lastUpdated,
})

export const folderAnswer = (tenant: Tenant, organization: string, view: FolderView): FolderAnswer => ({
  ...folderAnswerV1(organization, view),
  apiKey: tenant.apiKey,
  ancestors: view.ancestors,
  accessType: view.accessType,
  inheritAccessFromParent: view.record.inheritAccessFromParent,
})

/**
 * Folders with those in them, as far as they were asked for.
 * @param answerOf a folder alone
 * @throws ApiError FAILED_PRECONDITION as soon as they are more than an answer may hold
 */
export function answerFolders<Answer extends FolderAnswerV1>(
  found: readonly FolderView[],
  answerOf: (view: FolderView) => Answer,
): Answer[] {
  let bytes = 0
  const answerEach = (view: FolderView): Answer => {
    const answer = answerOf(view)
    bytes += Buffer.byteLength(JSON.stringify(answer))
    if (bytes > answerBytesMax) throw new ApiError(tooManyFolders.status, tooManyFolders.when)
    return view.subFolders === null ? answer : { ...answer, subFolders: view.subFolders.map(answerEach) }
  }
  return found.map(answerEach)
}

import type { FolderView } from '../directory/folder-views.ts'
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

type FolderAnswerV1 = From<typeof folderRecordV1>
type FolderAnswer = From<typeof folderRecord>

export function folderAnswerV1(
  organization: string,
  { record, subFolders: below }: FolderView,
): FolderAnswerV1 {
  return {
    folderId: record.folderId,
    folderName: record.folderName,
    organizationId: organization,
    parentFolderId: record.parentFolderId,
    createdAt: record.createdAt,
    lastUpdated: record.lastUpdated,
    ...(below !== null && { subFolders: below.map((folder) => folderAnswerV1(organization, folder)) }),
  }
}

export function folderAnswer(tenant: Tenant, organization: string, view: FolderView): FolderAnswer {
  const { record, accessType: inEffect, ancestors, subFolders: below } = view
  return {
    ...folderAnswerV1(organization, { ...view, subFolders: null }),
    apiKey: tenant.apiKey,
    ancestors,
    accessType: inEffect,
    inheritAccessFromParent: record.inheritAccessFromParent,
    ...(below !== null && { subFolders: below.map((folder) => folderAnswer(tenant, organization, folder)) }),
  }
}

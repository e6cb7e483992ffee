import { ApiError } from '../../core/base/errors.ts'
import { type FromSchema, json } from '../../core/base/schema.ts'
import type { FolderView } from '../../core/directory/documents/folder-views.ts'
import type { Tenant } from '../../core/model/address.ts'
import { StreamedArray } from '../../core/model/json-pieces.ts'
import {
  accessType,
  batchMax,
  createdAt,
  folderId,
  lastUpdated,
  organizationId,
  resourceName,
} from './resource-schema.ts'

const parentFolderId = json.id('Id of the parent folder; `root` at the top.')

export const foldersRequest = json.object({
  organizationId,
  folders: json.list(
    json.object(
      { folderId: json.id('Unique in the organization; `root` is reserved.') },
      {
        folderName: { ...resourceName, description: 'Name of the folder.' },
        parentFolderId,
      },
    ),
    {
      maxItems: batchMax,
      examples: [[{ folderId: 'reports', folderName: 'Reports', parentFolderId: 'root' }]],
    },
  ),
})

export const folderRequest = json.object({
  organizationId,
  folderId,
})

const subFolders = json.list(json.object({}), {
  description: 'Records of its subfolders, down to the requested depth; only if the request names a folder.',
})

/** Response members of a folder in version 1. */
export const folderRecordV1 = json.object(
  {
    folderId,
    folderName: json.text("'' if not given."),
    organizationId,
    parentFolderId,
    createdAt,
    lastUpdated,
  },
  { subFolders },
)

export const folderRecord = {
  ...folderRecordV1,
  required: [...folderRecordV1.required, 'apiKey', 'ancestors', 'accessType', 'inheritAccessFromParent'],
  properties: {
    ...folderRecordV1.properties,
    apiKey: json.text('API key of the folder.'),
    ancestors: json.list(json.text(), { description: 'Ids of its parent folders, from `root` down.' }),
    accessType: {
      ...accessType,
      description:
        'Effective access type: its own, else that of the nearest parent folder from which it inherits, else `public`.',
    },
    inheritAccessFromParent: json.boolean(
      'False: permissions from parent folders and the organization do not apply in this folder.',
    ),
  },
} as const

/**
 * Maximum bytes of the JSON of one folder with its subfolders. Without the limit, a full organization with
 * long ids would take hundreds of MB.
 */
const treeBytesMax = 16 * 1024 * 1024

export const tooManyFolders = {
  code: 'folder/response-too-large',
  when:
    `a folder with its subfolders would have more than ${treeBytesMax} bytes; request fewer levels, or all folders, which ` +
    'have no limit',
} as const

type FolderAnswerV1 = FromSchema<typeof folderRecordV1>
type FolderAnswer = FromSchema<typeof folderRecord>

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

/** Returns all folders without their subfolders. The folders are read and encoded while they are sent. */
export const answerAllFolders = (
  all: () => AsyncIterable<readonly FolderView[]>,
  answerOf: (view: FolderView) => FolderAnswerV1,
): StreamedArray => new StreamedArray(() => answersOf(all(), answerOf))

async function* answersOf(
  pages: AsyncIterable<readonly FolderView[]>,
  answerOf: (view: FolderView) => FolderAnswerV1,
) {
  for await (const page of pages) yield page.map(answerOf)
}

/**
 * Returns the response for a folder and the folders below it, down to the requested depth.
 * @param answerOf converts a folder without its subfolders
 * @throws ApiError FAILED_PRECONDITION as soon as the response exceeds its limit
 */
export function answerTree<Answer extends FolderAnswerV1>(
  found: FolderView,
  answerOf: (view: FolderView) => Answer,
): Answer {
  let bytes = 0
  const answerEach = (view: FolderView): Answer => {
    const answer = answerOf(view)
    bytes += Buffer.byteLength(JSON.stringify(answer))
    if (bytes > treeBytesMax) throw new ApiError('folder/response-too-large', tooManyFolders.when)
    return view.subFolders === null ? answer : { ...answer, subFolders: view.subFolders.map(answerEach) }
  }
  return answerEach(found)
}

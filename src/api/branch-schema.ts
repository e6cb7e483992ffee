import type { BranchRecord } from '../directory/branches/branch-records.ts'
import { branchLimits } from '../directory/branches/limits.ts'
import { branchEditorId } from '../model/branch-address.ts'
import { editorDocumentIds, editorId } from './editor-content.ts'
import type { FromSchema } from './schema.ts'

/** Request members for the editor whose branches are read or changed. */
export const branchedEditor = {
  ...editorDocumentIds,
  editorId: { ...editorId, description: 'Id of the editor from which the branch was created.' },
} as const

export const branchName = {
  type: 'string',
  format: 'id',
  maxLength: branchLimits.nameCharacters,
  description: 'Name of the branch, without `@`. Clients open the editor id `<editorId>@<name>`.',
  examples: ['draft'],
} as const

export const decidingUser = {
  type: 'string',
  format: 'id',
  description: 'User who decides; returned as `decidedBy`.',
} as const

export const branchRecord = {
  type: 'object',
  required: [
    'name',
    'editorId',
    'branchEditorId',
    'createdBy',
    'createdAt',
    'baseVersion',
    'status',
    'decidedBy',
    'decidedAt',
  ],
  properties: {
    name: { type: 'string', examples: branchName.examples },
    editorId: { type: 'string', description: branchedEditor.editorId.description },
    branchEditorId: {
      type: 'string',
      description: 'Editor id that clients and calls use for the content of the branch.',
      examples: ['main@draft'],
    },
    createdBy: { type: 'string', description: "User id; '' if the user is not known.", examples: ['ann'] },
    createdAt: { type: 'string', format: 'date-time', examples: ['2026-01-01T00:00:00.000Z'] },
    baseVersion: {
      type: 'string',
      description: 'Version of the editor when the branch was created; opaque.',
    },
    status: {
      type: 'string',
      enum: ['open', 'merged', 'rejected'],
      description: '`merged` and `rejected` branches are read-only and do not follow the editor any more.',
    },
    decidedBy: { type: 'string', description: "User id; '' while the branch is open." },
    decidedAt: {
      anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }],
      description: 'Time of the merge or rejection; null while the branch is open.',
    },
  },
} as const

export const noSuchBranchError = {
  status: 'NOT_FOUND',
  code: 'branch/not-found',
  when: 'the editor has no branch with this name',
} as const

export const branchDecided = {
  status: 'FAILED_PRECONDITION',
  code: 'branch/decided',
} as const

export const toBranchResponse = (record: BranchRecord): FromSchema<typeof branchRecord> => ({
  name: record.name,
  editorId: record.editorId,
  branchEditorId: branchEditorId(record),
  createdBy: record.createdBy,
  createdAt: new Date(record.createdAt).toISOString(),
  baseVersion: record.baseVersion,
  status: record.status,
  decidedBy: record.decidedBy,
  decidedAt: record.decidedAt === null ? null : new Date(record.decidedAt).toISOString(),
})

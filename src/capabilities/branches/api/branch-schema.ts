import type { FromSchema } from '../../../core/base/schema.ts'
import { hunkLimits } from '../../../core/content/branches/branch-hunks.ts'
import { type Overlap, reportOf } from '../../../core/content/merge/overlap.ts'
import { type BranchRecord, branchLimits } from '../../../core/directory/branches/branch-records.ts'
import { branchEditorId } from '../../../core/model/branch-address.ts'
import { hunkAnchor, hunkContent, requiredOfHunk } from '../../../rest/changes/hunk-schema.ts'
import { overlapMembers } from '../../../rest/editor-content.ts'
import { documentPlace, editorId } from '../../../rest/schemas/resource-schema.ts'
import type { AttributedHunk, BranchOutcome } from '../branch-service.ts'

/** Request members for the editor whose branches are read or changed. */
export const branchedEditor = {
  ...documentPlace,
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

export const hunkIds = {
  type: 'array',
  items: { type: 'string', format: 'id' },
  maxItems: hunkLimits.hunks,
  description: 'Ids of hunks of `branches/diff`. Absent: the whole branch, which is then read-only.',
} as const

const idList = { type: 'array', items: { type: 'string' } } as const

/** Response members of a decision. */
export const branchOutcome = {
  branch: branchRecord,
  decided: { ...idList, description: 'Ids of the decided hunks.' },
  unknown: {
    ...idList,
    description: 'Ids that are not hunks of the branch, for example because they are decided.',
  },
  dependent: {
    type: 'array',
    description: 'Hunks that were left out, because other hunks must be decided in the same call.',
    items: {
      type: 'object',
      required: ['hunkId', 'needs'],
      properties: {
        hunkId: { type: 'string' },
        needs: { ...idList, description: 'Ids of the other hunks.' },
      },
    },
  },
} as const

/** Response members about overlaps of a branch. */
export const branchOverlaps = {
  ...overlapMembers,
  overlaps: {
    ...overlapMembers.overlaps,
    description:
      'Words and values of the hunks that the editor has also changed since the branch was created; absent if there ' +
      'are none. `theirs` is the content of the editor, and `mine` that of the branch. At most 100, with at most 1,000 ' +
      'characters of each value.',
  },
} as const

/** Returns the overlaps as members of a response. */
export const toOverlapsResponse = (overlaps: readonly Overlap[]) =>
  overlaps.length === 0 ? {} : reportOf(overlaps)

export const toOutcomeResponse = ({ branch, decided, unknown, dependent }: BranchOutcome) => ({
  branch: toBranchResponse(branch),
  decided: [...decided],
  unknown: [...unknown],
  dependent: dependent.map(({ hunkId, needs }) => ({ hunkId, needs: [...needs] })),
})

export const branchHunk = {
  type: 'object',
  required: [
    'hunkId',
    'userId',
    'userIds',
    'at',
    'anchor',
    'deleted',
    'inserted',
    ...requiredOfHunk,
    'dependsOn',
  ],
  properties: {
    hunkId: {
      type: 'string',
      description: 'Stays the same when other hunks are decided.',
      examples: ['w2XFBxOWZpvUc2b9'],
    },
    userId: {
      anyOf: [{ type: 'string' }, { type: 'null' }],
      description: 'The only known author; null if there are several or none.',
    },
    userIds: { ...idList, description: 'All known authors.' },
    at: {
      anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }],
      description: 'Time of the last change; null if it is not known.',
    },
    anchor: { ...hunkAnchor, description: 'The place of the hunk in the branch.' },
    deleted: { type: 'string', description: 'The text of the editor that the branch deletes.' },
    inserted: { type: 'string', description: 'The text that the branch inserts.' },
    ...hunkContent({
      before: 'The value in the editor; absent if there is none.',
      after: 'The value in the branch; absent if there is none.',
    }),
    dependsOn: { ...idList, description: 'Ids of the hunks without which this one cannot be accepted.' },
  },
} as const

export function toHunkResponse(hunk: AttributedHunk): FromSchema<typeof branchHunk> {
  const { ranges: _ranges, authors, ...shown } = hunk
  const [only] = authors
  const at = Math.max(0, ...authors.map((author) => author.at))
  return {
    ...shown,
    userId: authors.length === 1 && only !== undefined ? only.userId : null,
    userIds: authors.map(({ userId }) => userId),
    at: at === 0 ? null : new Date(at).toISOString(),
  }
}

export const noSuchBranchError = {
  code: 'branch/not-found',
  when: 'the editor has no branch with this name',
} as const

export const branchDecided = {
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
  decidedBy: record.status === 'open' ? '' : record.decidedBy,
  decidedAt: record.decidedAt === null ? null : new Date(record.decidedAt).toISOString(),
})

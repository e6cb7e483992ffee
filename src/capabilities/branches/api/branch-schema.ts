import { type FromSchema, json } from '../../../core/base/schema.ts'
import { hunkLimits } from '../../../core/content/branches/branch-hunks.ts'
import { type Overlap, reportOf } from '../../../core/content/merge/overlap.ts'
import {
  type BranchRecord,
  type BranchStatus,
  branchLimits,
} from '../../../core/directory/branches/branch-records.ts'
import { branchEditorId } from '../../../core/model/branch-address.ts'
import { hunkAnchor, hunkContent, requiredOfHunk } from '../../../rest/changes/change-schema.ts'
import { overlapMembers } from '../../../rest/editor-content.ts'
import { documentPlace, editorId } from '../../../rest/schemas/resource-schema.ts'
import type { AttributedHunk, BranchOutcome } from '../branch-service.ts'

/** Request members for the editor whose branches are read or changed. */
export const branchedEditor = {
  ...documentPlace,
  editorId: { ...editorId, description: 'Id of the editor from which the branch was created.' },
} as const

export const branchName = json.id(
  'Name of the branch, without `@`. Clients open the editor id `<editorId>@<name>`.',
  { maxLength: branchLimits.nameCharacters, examples: ['draft'] },
)

export const decidingUser = json.id('User who decides; returned as `decidedBy`.')

export const branchRecord = json.object({
  name: { type: 'string', examples: branchName.examples },
  editorId: json.text(branchedEditor.editorId.description),
  branchEditorId: json.text('Editor id that clients and calls use for the content of the branch.', {
    examples: ['main@draft'],
  }),
  createdBy: json.text("User id; '' if the user is not known.", { examples: ['ann'] }),
  createdAt: { type: 'string', format: 'date-time', examples: ['2026-01-01T00:00:00.000Z'] },
  baseVersion: json.text('Version of the editor when the branch was created; opaque.'),
  status: json.choice(
    ['open', 'merged', 'rejected'],
    '`merged` and `rejected` branches are read-only and do not follow the editor any more.',
  ),
  decidedBy: json.text("User id; '' while the branch is open."),
  decidedAt: json.orNull(json.time(), 'Time of the merge or rejection; null while the branch is open.'),
})

export const hunkIds = json.list(json.id(), {
  maxItems: hunkLimits.hunks,
  description: 'Ids of hunks of `branches/diff`. Absent: the whole branch, which is then read-only.',
})

const idList = json.list(json.text())

/** Response members of a decision. */
export const branchOutcome = {
  branch: branchRecord,
  decided: { ...idList, description: 'Ids of the decided hunks.' },
  unknown: {
    ...idList,
    description: 'Ids that are not hunks of the branch, for example because they are decided.',
  },
  dependent: json.list(
    json.object({ hunkId: json.text(), needs: { ...idList, description: 'Ids of the other hunks.' } }),
    { description: 'Hunks that were left out, because other hunks must be decided in the same call.' },
  ),
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
    hunkId: json.text('Stays the same when other hunks are decided.', { examples: ['w2XFBxOWZpvUc2b9'] }),
    userId: json.orNull(json.text(), 'The only known author; null if there are several or none.'),
    userIds: { ...idList, description: 'All known authors.' },
    at: json.orNull(json.time(), 'Time of the last change; null if it is not known.'),
    anchor: {
      ...hunkAnchor,
      required: [...hunkAnchor.required, 'position', 'positionEnd'],
      properties: {
        ...hunkAnchor.properties,
        position: json.text(
          'Start of the place: a Yjs relative position in base64, which both the branch and its editor can resolve.',
        ),
        positionEnd: json.text('End of the place, in the same form.'),
      },
      description: 'The place of the hunk in the branch.',
    },
    deleted: json.text('The text of the editor that the branch deletes.'),
    inserted: json.text('The text that the branch inserts.'),
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
  // Callers see no deleted branch.
  status: record.status as Exclude<BranchStatus, 'deleted'>,
  decidedBy: record.status === 'open' ? '' : record.decidedBy,
  decidedAt: record.decidedAt === null ? null : new Date(record.decidedAt).toISOString(),
})

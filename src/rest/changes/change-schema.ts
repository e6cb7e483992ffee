import type { FromSchema } from '../../core/base/schema.ts'
import type { AuthorRun } from '../../core/content/history/author-runs.ts'
import { defaultGroupSeconds } from '../../core/content/history/change-groups.ts'
import type { ChangeSet } from '../../core/content/history/change-sets.ts'
import { changeMetaLimits, changeSources } from '../../core/model/change-origin.ts'
import { contentUnavailable } from '../schemas/content-format.ts'
import { changeMeta } from './change-meta.ts'
import { contentPath, hunkAnchor, hunkContent, requiredOfHunk } from './hunk-schema.ts'

const historyVersion = { type: 'string', format: 'id' } as const

/** Request members that select the changes between two versions. */
export const changeRange = {
  from: {
    ...historyVersion,
    description:
      'The earlier version: `version` of a response, or `versionId` of a saved version. Only the latter works for any ' +
      'length of time.',
    examples: ['1.7'],
  },
  to: {
    ...historyVersion,
    description: 'The later version, in the same form. Default: the current version.',
  },
} as const

/** Request members that select changes by their authors. */
export const changeFilter = {
  by: { type: 'string', format: 'id', description: 'Only changes of this user.' },
  meta: {
    type: 'object',
    additionalProperties: changeMeta.additionalProperties,
    description: `Only changes whose \`meta\` has all these members with equal values; at most ${changeMetaLimits.members}.`,
    examples: changeMeta.examples,
  },
} as const

/** Request member with the pause that ends a change set. */
export const groupSeconds = {
  type: 'integer',
  minimum: 0,
  maximum: 86_400,
  default: defaultGroupSeconds,
  description: 'Seconds without a change of the same author after which a new change set starts.',
} as const

const orNull = <const S extends { readonly type: string }>(schema: S, description: string) =>
  ({ anyOf: [schema, { type: 'null' }], description }) as const

const time = { type: 'string', format: 'date-time' } as const

/** Response members for the origin of a change. */
const originProperties = {
  userId: orNull({ type: 'string' }, 'Id of the author; null if the author is unknown.'),
  source: orNull(
    { type: 'string', enum: changeSources },
    'How the change reached the document; null if that is unknown.',
  ),
  meta: orNull(
    { type: 'object', properties: {}, additionalProperties: {} },
    '`meta` of the call that made the change; null without one.',
  ),
} as const

/** Adjacent content of one author. */
export const authorRun = {
  type: 'object',
  required: ['path', 'length', 'userId', 'at', 'source', 'meta'],
  properties: {
    path: contentPath,
    length: { type: 'integer', description: 'UTF-16 units or values.' },
    text: { type: 'string', description: 'The text; absent for other content.' },
    node: { type: 'string', description: 'The name of an element; absent for other content.' },
    ...originProperties,
    at: orNull(time, 'Time of the insertion; null if it is unknown.'),
  },
} as const

export const toAuthorRunResponse = ({ at, ...run }: AuthorRun): FromSchema<typeof authorRun> => ({
  ...run,
  at: toTime(at),
})

const hunk = {
  type: 'object',
  required: ['anchor', 'deleted', 'inserted', ...requiredOfHunk],
  properties: {
    anchor: { ...hunkAnchor, description: 'The place of the hunk in the later version.' },
    deleted: {
      type: 'string',
      description: 'Deleted text. Texts of different elements are on different lines.',
    },
    inserted: { type: 'string', description: 'Inserted text.' },
    ...hunkContent({
      before: 'The earlier value; absent if there was none.',
      after: 'The later value; absent if there is none.',
    }),
  },
} as const

/** The changes of one author without a long pause. */
export const changeSet = {
  type: 'object',
  required: [
    'changeId',
    'userId',
    'firstAt',
    'lastAt',
    'source',
    'meta',
    'inserted',
    'deleted',
    'hunks',
    'truncated',
  ],
  properties: {
    changeId: { type: 'string', description: 'Equal in each response for the same two versions.' },
    ...originProperties,
    firstAt: orNull(time, 'Time of the first change; null if it is unknown.'),
    lastAt: orNull(time, 'Time of the last change; null if it is unknown.'),
    inserted: { type: 'integer', description: 'Inserted UTF-16 units and values.' },
    deleted: { type: 'integer', description: 'Deleted UTF-16 units and values.' },
    hunks: { type: 'array', items: hunk, description: 'Adjacent changes, in the order of the document.' },
    truncated: { type: 'boolean', description: 'True if hunks are left out, because there are too many.' },
  },
} as const

export const toChangeSetResponse = ({
  firstAt,
  lastAt,
  ...change
}: ChangeSet): FromSchema<typeof changeSet> => ({
  ...change,
  firstAt: toTime(firstAt),
  lastAt: toTime(lastAt),
})

/** Converts a time in epoch milliseconds to a time in a response. */
const toTime = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())

/** Response members that name the two versions. */
export const rangeResponse = {
  from: { type: 'string', description: 'The earlier version, as `/v2/crdt/get` returns it.' },
  to: { type: 'string', description: 'The later version.' },
} as const

/** Errors of operations that read two versions. */
export const rangeErrors = [
  {
    status: 'FAILED_PRECONDITION',
    code: 'crdt/version-too-old',
    when: 'a version is unknown, or the log can no longer rebuild it; `details.oldest` is the oldest one that it can',
  },
  { status: 'NOT_FOUND', code: 'version/not-found', when: 'the editor has no such saved version' },
  contentUnavailable,
] as const

export const attributionDisabled = {
  status: 'FAILED_PRECONDITION',
  code: 'crdt/attribution-disabled',
  when: 'the workspace has disabled attribution',
} as const

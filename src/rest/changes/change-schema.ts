import { type FromSchema, json } from '../../core/base/schema.ts'
import type { AuthorRun } from '../../core/content/history/author-runs.ts'
import { defaultGroupSeconds } from '../../core/content/history/change-groups.ts'
import type { ChangeSet } from '../../core/content/history/change-sets.ts'
import { changeMetaLimits, changeSources } from '../../core/model/change-origin.ts'
import { changeMeta } from './change-meta.ts'

const texts = json.list(json.text())
const values = json.list({})

/** Response member with the keys and indexes from a root to a place. */
const contentPath = json.list(
  {},
  { description: 'Keys and indexes from the root to the place.', examples: [[0]] },
)

/** Response member with the place of a hunk. */
export const hunkAnchor = json.object({
  contentKey: json.text('Name of the root.'),
  path: contentPath,
  before: json.text('The text before the place, at most 40 characters.'),
  after: json.text('The text after the place, at most 40 characters.'),
})

/** The names of the members of `hunkContent`. */
export const requiredOfHunk = [
  'deletedNodes',
  'insertedNodes',
  'deletedValues',
  'insertedValues',
  'entries',
  'formatting',
  'truncated',
] as const

/**
 * Returns the response members with the changed content of a hunk, except its texts.
 * @param before @param after descriptions of the values of an entry
 */
export const hunkContent = ({ before, after }: { readonly before: string; readonly after: string }) =>
  ({
    deletedNodes: { ...texts, description: 'Names of deleted elements.' },
    insertedNodes: { ...texts, description: 'Names of inserted elements.' },
    deletedValues: { ...values, description: 'Deleted values of arrays, and deleted embeds.' },
    insertedValues: { ...values, description: 'Inserted values of arrays, and inserted embeds.' },
    entries: json.list(
      json.object(
        { key: json.text() },
        {
          before: { description: before },
          after: { description: after },
        },
      ),
      { description: 'Changed entries of maps and attributes of elements.' },
    ),
    formatting: json.list(
      json.object({
        name: json.text(),
        before: {},
        after: {},
        text: json.text(),
      }),
      {
        description:
          'Changed formatting of text that stays. The value null stands for text without the formatting.',
      },
    ),
    truncated: json.boolean('True if parts are left out, because the hunk is too large.'),
  }) as const

/** Request members that select the changes between two versions. */
export const changeRange = {
  from: json.id(
    'The earlier version: `version` of a response, or `versionId` of a saved version. Only the latter works for any ' +
      'length of time. Default: the empty document before the first change.',
    { examples: ['1.7'] },
  ),
  to: json.id('The later version, in the same form. Default: the current version.'),
} as const

/** Request members that select changes by their authors. */
export const changeFilter = {
  by: json.id('Only changes of this user.'),
  meta: json.map(changeMeta.additionalProperties, {
    description: `Only changes whose \`meta\` has all these members with equal values; at most ${changeMetaLimits.members}.`,
    examples: changeMeta.examples,
  }),
} as const

/** Request member with the pause that ends a change set. */
export const groupSeconds = json.integer(
  'Seconds without a change of the same author after which a new change set starts.',
  { minimum: 0, maximum: 86_400, default: defaultGroupSeconds },
)

/** Response members for the origin of a change. */
const originProperties = {
  userId: json.orNull(json.text(), 'Id of the author; null if the author is unknown.'),
  source: json.orNull(
    json.choice(changeSources),
    'How the change reached the document; null if that is unknown.',
  ),
  meta: json.orNull(
    json.object({}, {}, { additionalProperties: {} }),
    '`meta` of the call that made the change; null without one.',
  ),
} as const

/** The author, the time and the call of a change. */
export const changeOrigin = json.object({
  ...originProperties,
  at: json.orNull(json.time(), 'Time of the change; null if it is unknown.'),
})

/** Adjacent content of one author. */
export const authorRun = json.object(
  {
    path: contentPath,
    length: json.integer('UTF-16 units or values.'),
    ...originProperties,
    at: json.orNull(json.time(), 'Time of the insertion; null if it is unknown.'),
  },
  {
    text: json.text('The text; absent for other content.'),
    node: json.text('The name of an element; absent for other content.'),
  },
)

export const toAuthorRunResponse = ({ at, ...run }: AuthorRun): FromSchema<typeof authorRun> => ({
  ...run,
  at: toTime(at),
})

const hunk = json.object({
  anchor: { ...hunkAnchor, description: 'The place of the hunk in the later version.' },
  deleted: json.text('Deleted text. Texts of different elements are on different lines.'),
  inserted: json.text('Inserted text.'),
  ...hunkContent({
    before: 'The earlier value; absent if there was none.',
    after: 'The later value; absent if there is none.',
  }),
})

/** The changes of one author without a long pause. */
export const changeSet = json.object({
  changeId: json.text('Equal in each response for the same two versions.'),
  ...originProperties,
  firstAt: json.orNull(json.time(), 'Time of the first change; null if it is unknown.'),
  lastAt: json.orNull(json.time(), 'Time of the last change; null if it is unknown.'),
  inserted: json.integer('Inserted UTF-16 units and values.'),
  deleted: json.integer('Deleted UTF-16 units and values.'),
  hunks: json.list(hunk, { description: 'Adjacent changes, in the order of the document.' }),
  truncated: json.boolean('True if hunks are left out, because there are too many.'),
})

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
  from: json.text('The earlier version, as `/v2/crdt/get` returns it.'),
  to: json.text('The later version.'),
} as const

/** Errors of operations that read two versions. */
export const rangeErrors = [
  {
    code: 'crdt/version-too-old',
    when: 'a version is unknown, or the log can no longer rebuild it; `details.oldest` is the oldest one that it can',
  },
  { code: 'version/not-found', when: 'the editor has no such saved version' },
] as const

export const attributionDisabled = {
  code: 'crdt/attribution-disabled',
  when: 'the workspace has disabled attribution',
} as const

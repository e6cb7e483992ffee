import { json } from '../../core/base/schema.ts'

const texts = json.list(json.text())
const values = json.list({})

/** Response member with the keys and indexes from a root to a place. */
export const contentPath = json.list(
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

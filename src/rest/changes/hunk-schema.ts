const texts = { type: 'array', items: { type: 'string' } } as const
const values = { type: 'array', items: {} } as const

/** Response member with the keys and indexes from a root to a place. */
export const contentPath = {
  type: 'array',
  items: {},
  description: 'Keys and indexes from the root to the place.',
  examples: [[0]],
} as const

/** Response member with the place of a hunk. */
export const hunkAnchor = {
  type: 'object',
  required: ['contentKey', 'path', 'before', 'after'],
  properties: {
    contentKey: { type: 'string', description: 'Name of the root.' },
    path: contentPath,
    before: { type: 'string', description: 'The text before the place, at most 40 characters.' },
    after: { type: 'string', description: 'The text after the place, at most 40 characters.' },
  },
} as const

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
    entries: {
      type: 'array',
      description: 'Changed entries of maps and attributes of elements.',
      items: {
        type: 'object',
        required: ['key'],
        properties: {
          key: { type: 'string' },
          before: { description: before },
          after: { description: after },
        },
      },
    },
    formatting: {
      type: 'array',
      description:
        'Changed formatting of text that stays. The value null stands for text without the formatting.',
      items: {
        type: 'object',
        required: ['name', 'before', 'after', 'text'],
        properties: { name: { type: 'string' }, before: {}, after: {}, text: { type: 'string' } },
      },
    },
    truncated: { type: 'boolean', description: 'True if parts are left out, because the hunk is too large.' },
  }) as const

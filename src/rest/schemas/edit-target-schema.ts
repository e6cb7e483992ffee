import { json } from '../../core/base/schema.ts'

/**
 * Formats of the content of an edit. Without a format, a string is Markdown in rich text, and text in all other roots;
 * any other value is a JSON value.
 */
const editFormats = ['text', 'markdown', 'html', 'prosemirror', 'xml'] as const

/** Maximum characters of a quote, of its context, and of the text of a heading. */
const quoteLengthMax = 10_000
/** Maximum characters of a JSON pointer, and of an anchor in base64. */
const pointerLengthMax = 10_000

export const targetOccurrence = json.integer(
  'Which of several equal places is meant, from 1. Default: there must be exactly one.',
  { minimum: 1 },
)

const quoted = (description: string) => json.text(description, { maxLength: quoteLengthMax })

const position = (description: string) => json.bytes(description, { maxLength: pointerLengthMax })

/** The place to which an edit or a cursor refers. `checkEditTarget` runs the checks that the schema cannot express. */
export const editTarget = {
  anyOf: [
    quoted('A quote: short for an object with `quote`.'),
    json.object(
      {},
      {
        quote: quoted(
          'Text as `get` returns it. White space and Unicode are normalized before the comparison.',
        ),
        before: quoted('Text directly before the quote.'),
        after: quoted('Text directly after the quote.'),
        occurrence: targetOccurrence,
        acrossBlocks: json.flag('True: the quote may span several blocks.'),
        heading: quoted(
          'Text of a heading. For `into` and `after`, its section: up to the next heading of the same or a higher level.',
        ),
        row: quoted('Text of a cell of a table: the row with this cell. It needs an XML root.'),
        attribute: json.object(
          {},
          {},
          {
            additionalProperties: {},
            description: 'The node with this attribute: one member, with the name and the value.',
          },
        ),
        block: json.integer('Index of a block, from 0. In text, a line.', { minimum: 0 }),
        path: json.text('JSON pointer (RFC 6901) into a map or an array.', { maxLength: pointerLengthMax }),
        anchor: json.object(
          { position: position('Yjs relative position, encoded and base64.') },
          {
            editorId: json.id('Default and only allowed value: the `editorId` of the request.'),
            contentKey: json.text(
              'The root of the position. Default: the `contentKey` of the request. They must be equal.',
            ),
            positionEnd: position('The end of a range. Default: no text, only a place.'),
          },
          { description: 'The text of an anchor, as annotations have it.' },
        ),
      },
      { description: 'Exactly one of `quote`, `heading`, `row`, `attribute`, `block`, `path`, `anchor`.' },
    ),
  ],
} as const

/** Maximum number of edits in one call. */
export const editsMax = 1_000
/** Maximum characters of the name of a mark. */
const markNameLengthMax = 200

const format = json.choice(
  editFormats,
  'Format of the content. Default for a string: markdown in rich text, text in all other roots. Any other value ' +
    'without a format is a JSON value.',
)

/** One edit, of REST and MCP. `checkEdit` runs the checks that the schema cannot express. */
export const editSchema = json.object(
  {},
  {
    replace: json.object(
      {
        find: editTarget,
        with: { description: 'The new content.', examples: ['Hello'] },
      },
      {
        format,
        occurrence: targetOccurrence,
      },
      { description: 'Replaces the target. Characters that both have in common stay.' },
    ),
    insert: json.object(
      { content: { description: 'The new content.', examples: ['Hello'] } },
      {
        before: editTarget,
        after: editTarget,
        into: editTarget,
        at: json.choice(['start', 'end'], 'An end of the whole content.'),
        format,
      },
      { description: 'Inserts content. Exactly one of `before`, `after`, `into`, `at`.' },
    ),
    remove: json.object({ target: editTarget }, {}, { description: 'Removes the target.' }),
    mark: json.object(
      {
        find: editTarget,
        name: { type: 'string', maxLength: markNameLengthMax },
        value: {},
      },
      {},
      { description: 'Sets formatting of a text; the value null removes it.' },
    ),
    attributes: json.object(
      {
        target: editTarget,
        set: json.object({}, {}, { additionalProperties: {} }),
      },
      {},
      { description: 'Sets attributes of a node; null removes an attribute.' },
    ),
    patch: json.list(
      {},
      {
        maxItems: editsMax,
        description: 'Operations of JSON Patch (RFC 6902) on a map or an array. None: changes nothing.',
      },
    ),
    text: json.object(
      { index: json.integer('Position in UTF-16 units.', { minimum: 0 }) },
      {
        delete: json.integer('UTF-16 units to delete.', { minimum: 0, default: 0 }),
        insert: { type: 'string', default: '' },
      },
      { description: 'Deletes and inserts text at a position of a text.' },
    ),
  },
  { description: 'Exactly one of the members.' },
)

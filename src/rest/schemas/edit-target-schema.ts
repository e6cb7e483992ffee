import { editFormats } from '../../core/content/edit/edit-formats.ts'
import { contentKeySchema, editorId } from './resource-schema.ts'

/** Maximum characters of a quote, of its context, and of the text of a heading. */
const quoteLengthMax = 10_000
/** Maximum characters of a JSON pointer, and of an anchor in base64. */
const pointerLengthMax = 10_000

export const targetOccurrence = {
  type: 'integer',
  minimum: 1,
  description: 'Which of several equal places is meant, from 1. Default: there must be exactly one.',
} as const

const text = { type: 'string', maxLength: quoteLengthMax } as const

const position = { type: 'string', format: 'byte', maxLength: pointerLengthMax } as const

/** The place to which an edit or a cursor refers. `checkEditTarget` runs the checks that the schema cannot express. */
export const editTarget = {
  anyOf: [
    { ...text, description: 'A quote: short for an object with `quote`.' },
    {
      type: 'object',
      description: 'Exactly one of `quote`, `heading`, `row`, `attribute`, `block`, `path`, `anchor`.',
      properties: {
        quote: {
          ...text,
          description:
            'Text as `get` returns it. White space and Unicode are normalized before the comparison.',
        },
        before: { ...text, description: 'Text directly before the quote.' },
        after: { ...text, description: 'Text directly after the quote.' },
        occurrence: targetOccurrence,
        acrossBlocks: {
          type: 'boolean',
          default: false,
          description: 'True: the quote may span several blocks.',
        },
        heading: {
          ...text,
          description:
            'Text of a heading. For `into` and `after`, its section: up to the next heading of the same or a higher level.',
        },
        row: {
          ...text,
          description: 'Text of a cell of a table: the row with this cell. It needs an XML root.',
        },
        attribute: {
          type: 'object',
          properties: {},
          additionalProperties: {},
          description: 'The node with this attribute: one member, with the name and the value.',
        },
        block: { type: 'integer', minimum: 0, description: 'Index of a block, from 0. In text, a line.' },
        path: {
          type: 'string',
          maxLength: pointerLengthMax,
          description: 'JSON pointer (RFC 6901) into a map or an array.',
        },
        anchor: {
          type: 'object',
          required: ['position'],
          description: 'The text of an anchor, as annotations have it.',
          properties: {
            editorId: {
              ...editorId,
              description: 'Default and only allowed value: the `editorId` of the request.',
            },
            contentKey: {
              ...contentKeySchema,
              description:
                'The root of the position. Default: the `contentKey` of the request. They must be equal.',
            },
            position: { ...position, description: 'Yjs relative position, encoded and base64.' },
            positionEnd: { ...position, description: 'The end of a range. Default: no text, only a place.' },
          },
        },
      },
    },
  ],
} as const

/** Maximum number of edits in one call. */
export const editsMax = 1_000
/** Maximum characters of the name of a mark. */
const markNameLengthMax = 200

const format = {
  type: 'string',
  enum: editFormats,
  description:
    'Format of the content. Default for a string: markdown in rich text, text in all other roots. Any other value ' +
    'without a format is a JSON value.',
} as const

/** One edit, of REST and MCP. `checkEdit` runs the checks that the schema cannot express. */
export const editSchema = {
  type: 'object',
  description: 'Exactly one of the members.',
  properties: {
    replace: {
      type: 'object',
      required: ['find', 'with'],
      description: 'Replaces the target. Characters that both have in common stay.',
      properties: {
        find: editTarget,
        with: { description: 'The new content.', examples: ['Hello'] },
        format,
        occurrence: targetOccurrence,
      },
    },
    insert: {
      type: 'object',
      required: ['content'],
      description: 'Inserts content. Exactly one of `before`, `after`, `into`, `at`.',
      properties: {
        before: editTarget,
        after: editTarget,
        into: editTarget,
        at: { type: 'string', enum: ['start', 'end'], description: 'An end of the whole content.' },
        content: { description: 'The new content.', examples: ['Hello'] },
        format,
      },
    },
    remove: {
      type: 'object',
      required: ['target'],
      description: 'Removes the target.',
      properties: { target: editTarget },
    },
    mark: {
      type: 'object',
      required: ['find', 'name', 'value'],
      description: 'Sets formatting of a text; the value null removes it.',
      properties: { find: editTarget, name: { type: 'string', maxLength: markNameLengthMax }, value: {} },
    },
    attributes: {
      type: 'object',
      required: ['target', 'set'],
      description: 'Sets attributes of a node; null removes an attribute.',
      properties: { target: editTarget, set: { type: 'object', properties: {}, additionalProperties: {} } },
    },
    patch: {
      type: 'array',
      maxItems: editsMax,
      items: {},
      description: 'Operations of JSON Patch (RFC 6902) on a map or an array. None: changes nothing.',
    },
    text: {
      type: 'object',
      required: ['index'],
      description: 'Deletes and inserts text at a position of a text.',
      properties: {
        index: { type: 'integer', minimum: 0, description: 'Position in UTF-16 units.' },
        delete: { type: 'integer', minimum: 0, default: 0, description: 'UTF-16 units to delete.' },
        insert: { type: 'string', default: '' },
      },
    },
  },
} as const

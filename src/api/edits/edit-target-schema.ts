import { contentKeySchema, editorId } from '../editor-content.ts'

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

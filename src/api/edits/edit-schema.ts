import { editFormats } from '../../content/edit/edit-formats.ts'
import { editTarget, targetOccurrence } from './edit-target-schema.ts'

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

import { streamFormats } from '../../../core/content/stream/stream-place.ts'
import { changeMeta } from '../../../rest/changes/change-meta.ts'
import { editorDocumentIds, overlapMembers, updateRequest } from '../../../rest/editor-content.ts'
import { editTarget, targetOccurrence } from '../../../rest/schemas/edit-target-schema.ts'
import { contentKeySchema, editorId } from '../../../rest/schemas/resource-schema.ts'
import { attachedSchemaName } from '../../../rest/schemas/schema-schema.ts'

/** The first line of a stream. */
export const streamOpening = {
  type: 'object',
  required: ['organizationId', 'documentId', 'editorId', 'edit'],
  properties: {
    ...editorDocumentIds,
    editorId,
    contentKey: contentKeySchema,
    edit: {
      type: 'object',
      description: 'The edit whose content follows: exactly one of the members.',
      properties: {
        insert: {
          type: 'object',
          description: 'Inserts the content. Exactly one of `before`, `after`, `into`, `at`.',
          properties: {
            before: editTarget,
            after: editTarget,
            into: editTarget,
            at: { type: 'string', enum: ['start', 'end'], description: 'An end of the whole content.' },
          },
        },
        replace: {
          type: 'object',
          required: ['find'],
          description:
            'Inserts the content after the target. At the end of the stream, removes the target, except what others have ' +
            'inserted into it, and the words that they have changed (`onOverlap`).',
          properties: {
            find: editTarget,
            occurrence: targetOccurrence,
          },
        },
      },
    },
    format: {
      type: 'string',
      enum: streamFormats,
      default: 'text',
      description: 'Format of the content. In plain text, Markdown is source.',
    },
    streamId: {
      type: 'string',
      format: 'id',
      description:
        'Id with which the writer can continue the stream after its connection broke. It must be unique in the API key; ' +
        'each agent has ids of its own. Default: a new id.',
    },
    baseVersion: updateRequest.properties.baseVersion,
    onOverlap: {
      ...updateRequest.properties.onOverlap,
      description:
        'The effect at the end if others have changed replaced words since the stream was opened, or since ' +
        '`baseVersion`. `report`, `keepTheirs`: these words stay, and `overlaps` lists them. `keepMine`: they are ' +
        'removed, and listed. `fail`: the content of the stream is removed, and the stream ends with an error. Default: ' +
        '`report`; for agents `fail`.',
    },
    schema: attachedSchemaName,
    name: {
      type: 'string',
      maxLength: 200,
      description:
        'Name of the writer at its caret. Default for agents: the name in the token; otherwise the `userId`.',
    },
    userId: updateRequest.properties.userId,
    meta: changeMeta,
  },
} as const

const version = { type: 'string', description: 'Version of the content.' } as const
const received = {
  type: 'integer',
  description: 'UTF-16 units of the content that are durable. A writer that connects again continues here.',
} as const
const bytes = { type: 'integer', description: 'Size of the update that clients received.' } as const

/** One line of the response. */
export const streamAnswer = {
  type: 'object',
  description:
    'Has `opened` in the first line, `done` or `error` in the last line, and the other members in between.',
  properties: {
    opened: {
      type: 'object',
      required: ['streamId', 'received', 'place', 'version'],
      properties: {
        streamId: { type: 'string' },
        received,
        place: {
          type: 'object',
          properties: {},
          additionalProperties: {},
          description: 'The place that matched, as `/v2/crdt/edit` returns it.',
        },
        version,
      },
    },
    version,
    bytes,
    received,
    done: {
      type: 'object',
      required: ['outcome', 'version', 'received', 'bytes', 'deletions'],
      properties: {
        outcome: { type: 'string', enum: ['done', 'withdrawn'] },
        version,
        received,
        bytes: { type: 'integer', description: 'Sum of the sizes of all updates.' },
        deletions: { type: 'integer', description: 'Deleted UTF-16 units and embeds.' },
        ...overlapMembers,
      },
    },
    error: {
      type: 'object',
      properties: {},
      additionalProperties: {},
      description: 'As in the response of an operation.',
    },
  },
} as const

import { json } from '../../../core/base/schema.ts'
import { streamFormats } from '../../../core/content/stream/stream-place.ts'
import { changeMeta } from '../../../rest/changes/change-meta.ts'
import {
  overlapMembers,
  unsupportedContent,
  updateRequest,
  writeErrors,
} from '../../../rest/editor-content.ts'
import { type PathDescription, streamErrors } from '../../../rest/openapi/path-description.ts'
import { editTarget, targetOccurrence } from '../../../rest/schemas/edit-target-schema.ts'
import { contentKeySchema, documentPlace, editorId } from '../../../rest/schemas/resource-schema.ts'
import { attachedSchemaName } from '../../../rest/schemas/schema-schema.ts'

/** The first line of a stream. */
export const streamOpening = json.object(
  {
    ...documentPlace,
    editorId,
    edit: json.object(
      {},
      {
        insert: json.object(
          {},
          {
            before: editTarget,
            after: editTarget,
            into: editTarget,
            at: json.choice(['start', 'end'], 'An end of the whole content.'),
          },
          { description: 'Inserts the content. Exactly one of `before`, `after`, `into`, `at`.' },
        ),
        replace: json.object(
          { find: editTarget },
          { occurrence: targetOccurrence },
          {
            description:
              'Inserts the content after the target. At the end of the stream, removes the target, except what others have ' +
              'inserted into it, and the words that they have changed (`onOverlap`).',
          },
        ),
      },
      { description: 'The edit whose content follows: exactly one of the members.' },
    ),
  },
  {
    contentKey: contentKeySchema,
    format: json.choice(streamFormats, 'Format of the content. In plain text, Markdown is source.', {
      default: 'text',
    }),
    streamId: json.id(
      'Id with which the writer can continue the stream after its connection broke. It must be unique in the API key; ' +
        'each agent has ids of its own. Default: a new id.',
    ),
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
    name: json.text(
      'Name of the writer at its caret. Default for agents: the name in the token; otherwise the `userId`.',
      { maxLength: 200 },
    ),
    userId: updateRequest.properties.userId,
    meta: changeMeta,
  },
)

const version = json.text('Version of the content.')
const received = json.integer(
  'UTF-16 units of the content that are durable. A writer that connects again continues here.',
)
const bytes = json.integer('Size of the update that clients received.')

/** One line of the response. */
const streamAnswer = json.object(
  {},
  {
    opened: json.object({
      streamId: json.text(),
      received,
      place: json.object(
        {},
        {},
        { additionalProperties: {}, description: 'The place that matched, as `/v2/crdt/edit` returns it.' },
      ),
      version,
    }),
    version,
    bytes,
    received,
    done: json.object(
      {
        outcome: json.choice(['done', 'withdrawn']),
        version,
        received,
        bytes: json.integer('Sum of the sizes of all updates.'),
        deletions: json.integer('Deleted UTF-16 units and embeds.'),
      },
      { ...overlapMembers },
    ),
    error: json.object(
      {},
      {},
      { additionalProperties: {}, description: 'As in the response of an operation.' },
    ),
  },
  {
    description:
      'Has `opened` in the first line, `done` or `error` in the last line, and the other members in between.',
  },
)

export const contentStreamPath = '/v2/crdt/stream'

/** The content type of a request and its response: JSON objects, one in each line. */
export const jsonLinesType = 'application/x-ndjson'

/** The streams of content, for the OpenAPI document. */
export const contentStreamDescription: PathDescription = {
  path: contentStreamPath,
  methods: {
    post: {
      operationId: 'v2_crdt_stream',
      summary: 'Stream content',
      description:
        'Inserts or replaces content that arrives in pieces, such as the text of a language model. Each line of the body ' +
        'is a JSON object. The first one is the opening. Then follow `{"text": "…", "at": 0}` for each piece (`at` is ' +
        'optional: the UTF-16 units before it), and `{"end": true}` or `{"withdraw": true}`. The response is also one ' +
        'object for each line, and begins before the body has ended. A writer whose connection broke opens the stream ' +
        'again with the same opening and `streamId`, and continues at `received`.',
      tag: 'crdt',
      security: 'key',
      parameters: [],
      lines: { type: jsonLinesType, schema: streamOpening, example: openingExample() },
      answer: {
        type: jsonLinesType,
        schema: streamAnswer,
        example: {
          opened: { streamId: 'summary-17', received: 0, place: { quote: 'Summary' }, version: '1.42' },
        },
      },
      commonErrors: streamErrors,
      errors: [
        { code: 'crdt/invalid-stream', when: 'a line is not valid' },
        { code: 'crdt/no-content', when: 'there is no CRDT data for the editor id' },
        ...writeErrors,
        unsupportedContent,
        { code: 'crdt/target-not-found', when: 'the target is missing' },
        { code: 'crdt/target-ambiguous', when: 'the target is ambiguous' },
        { code: 'crdt/stream-gap', when: 'content is missing before a piece' },
        { code: 'crdt/stream-place-removed', when: 'the place was deleted' },
        { code: 'crdt/base-version-too-old', when: '`baseVersion` is unknown or too old' },
        { code: 'crdt/overlap', when: 'others have changed replaced words, and `onOverlap` is `fail`' },
        { code: 'crdt/stream-conflict', when: 'another stream has this `streamId`' },
        { code: 'crdt/stream-taken-over', when: 'another connection continues the stream' },
      ],
    },
  },
}

function openingExample(): object {
  return {
    organizationId: 'acme',
    documentId: 'report',
    editorId: 'body',
    edit: { insert: { after: { heading: 'Summary' } } },
    streamId: 'summary-17',
  }
}

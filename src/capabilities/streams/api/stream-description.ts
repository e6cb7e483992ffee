import { overlapProblem, unsupportedContent, writeErrors } from '../../../rest/editor-content.ts'
import type { PathDescription } from '../../../rest/openapi/path-description.ts'
import { streamAnswer, streamOpening } from './stream-schema.ts'

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
      commonErrors: [
        'INVALID_ARGUMENT',
        'UNAUTHENTICATED',
        'PERMISSION_DENIED',
        'RESOURCE_EXHAUSTED',
        'INTERNAL',
        'UNAVAILABLE',
      ],
      errors: [
        { status: 'INVALID_ARGUMENT', code: 'crdt/invalid-stream', when: 'a line is not valid' },
        { status: 'NOT_FOUND', code: 'crdt/no-content', when: 'there is no CRDT data for the editor id' },
        ...writeErrors,
        unsupportedContent,
        { status: 'FAILED_PRECONDITION', code: 'crdt/target-not-found', when: 'the target is missing' },
        { status: 'FAILED_PRECONDITION', code: 'crdt/target-ambiguous', when: 'the target is ambiguous' },
        { status: 'FAILED_PRECONDITION', code: 'crdt/stream-gap', when: 'content is missing before a piece' },
        { status: 'FAILED_PRECONDITION', code: 'crdt/stream-place-removed', when: 'the place was deleted' },
        {
          status: 'FAILED_PRECONDITION',
          code: 'crdt/base-version-too-old',
          when: '`baseVersion` is unknown or too old',
        },
        { ...overlapProblem, when: 'others have changed replaced words, and `onOverlap` is `fail`' },
        {
          status: 'ALREADY_EXISTS',
          code: 'crdt/stream-conflict',
          when: 'another stream has this `streamId`',
        },
        {
          status: 'ABORTED',
          code: 'crdt/stream-taken-over',
          when: 'another connection continues the stream',
        },
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

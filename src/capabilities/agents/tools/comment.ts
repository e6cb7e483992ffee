import type { ErrorCode } from '../../../core/base/error-codes.ts'
import { ApiError } from '../../../core/base/errors.ts'
import { json } from '../../../core/base/schema.ts'
import type { TypedOperation } from '../../../rest/operation.ts'
import type { batchResults } from '../../../rest/schemas/batch-results.ts'
import { addAnnotations } from '../../comments/api/v2/commentannotations/add.ts'
import { addComments } from '../../comments/api/v2/commentannotations/comments/add.ts'
import { defineTool, invalidArgument, type ToolContext } from '../tool.ts'
import { chooseOrganization, editorMembers, findEditor } from './editor-address.ts'

const quote = { type: 'string', minLength: 1, maxLength: 5_000 } as const

export const commentTool = defineTool({
  name: 'comment',
  title: 'Comment',
  description:
    'Adds a comment: on a quote of the document, on the whole document (without `quote`), or as a reply in a thread (`threadId`). ' +
    'It does not change the text of the document.',
  role: 'suggester',
  effect: 'adds',
  input: {
    type: 'object',
    required: ['documentId', 'text'],
    properties: {
      ...editorMembers,
      text: json.text('Text of the comment.', { minLength: 1, maxLength: 10_000 }),
      quote: {
        ...quote,
        description: 'Exact text of the document, without Markdown signs, within one paragraph.',
      },
      before: { ...quote, description: 'Text directly before the quote.' },
      after: { ...quote, description: 'Text directly after the quote.' },
      occurrence: json.integer('Which of several equal quotes, from 1.', { minimum: 1 }),
      threadId: json.text('`annotationId` of a thread, as `read_document` returns it with `comments`.', {
        minLength: 1,
        maxLength: 512,
      }),
    },
  },
  result: json.object(
    { threadId: json.text('The thread with the comment.') },
    { commentId: json.text('The reply; absent for a new thread.') },
  ),
  documentData: json.object({}),
  async handler({ text, quote: quoted, before, after, occurrence, threadId, ...given }, context) {
    if (threadId !== undefined) {
      if (quoted !== undefined) throw invalidArgument('/quote', 'must not be given together with threadId')
      const organizationId = chooseOrganization(given.organizationId, context)
      const reply = { organizationId, documentId: given.documentId, annotationId: threadId }
      const commentId = await addOne(addComments, { ...reply, comments: [{ text }] }, context)
      return { result: { threadId, commentId }, documentData: {} }
    }
    const { ids, root } = await findEditor(given, context)
    const { organizationId, documentId, editorId } = ids
    const anchor =
      quoted === undefined ? undefined : { editorId, ...root, quote: quoted, before, after, occurrence }
    const added = await addOne(
      addAnnotations,
      { organizationId, documentId, annotations: [{ anchor, comments: [{ text }] }] },
      context,
    )
    return { result: { threadId: added }, documentData: {} }
  },
})

/** Adds one item of a batch, and returns its id. @throws ApiError if it was not added */
async function addOne(
  operation: TypedOperation<typeof batchResults>,
  data: object,
  { api }: ToolContext,
): Promise<string> {
  const { data: results } = await api.call(operation, data)
  const [result] = Object.values(results)
  if (result === undefined) throw new TypeError('the batch has no result')
  if (result.success) return result.id
  const { code = 'request/invalid-member', ...details } = result.details ?? {}
  throw new ApiError(code as ErrorCode, result.message, { details })
}

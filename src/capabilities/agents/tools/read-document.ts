import { ApiError } from '../../../core/base/errors.ts'
import * as s from '../../../core/base/schema.ts'
import { json } from '../../../core/base/schema.ts'
import { shortened } from '../../../core/base/text.ts'
import type { TextQueryAnswer } from '../../../core/content/text-query.ts'
import { getAnnotations } from '../../comments/api/v2/commentannotations/get.ts'
import { mcpLimits } from '../mcp-limits.ts'
import { defineTool, invalidArgument, showAllHidden, type ToolContext } from '../tool.ts'
import { type AddressIds, editorIdMembers, editorMembers, findEditor } from './editor-address.ts'
import { nextPageMember, pageMembers } from './list-documents.ts'
import { queryEditor } from './read-editor.ts'

const { usual, max } = mcpLimits.pageCharacters

/** Threads that one call returns, and characters of one of their comments. */
const threadsMax = 50
const commentLengthMax = 2_000

/** The place at which the next page starts, and the version that was read. */
const positionSchema = s.object({ at: s.number, version: s.string })

export const readDocumentTool = defineTool({
  name: 'read_document',
  title: 'Read a document',
  description:
    'Returns a document as Markdown (plain text or JSON if it has no rich text), with its `version` and a table of its headings. ' +
    'A long document comes in pages: continue with `nextPageToken`, or read one section with `heading`. Send `version` ' +
    'as `baseVersion` of an edit. Characters that are not visible appear as codes such as \\u{202e}.',
  role: 'viewer',
  effect: 'reads',
  input: {
    type: 'object',
    required: ['documentId'],
    properties: {
      ...editorMembers,
      heading: json.text('Only the section of this heading.', { minLength: 1, maxLength: 10_000 }),
      occurrence: json.integer('Which of several equal headings, from 1.', { minimum: 1 }),
      maxCharacters: json.integer('Maximum length of the text of one page.', {
        minimum: 500,
        maximum: max,
        default: usual,
      }),
      comments: json.flag(`True: also the newest ${threadsMax} open threads of comments.`),
      pageToken: pageMembers.pageToken,
    },
  },
  result: json.object(
    {
      version: json.text('The version that was read.'),
      format: json.choice(['markdown', 'text', 'json']),
      characters: json.integer('Length of the whole document.'),
      from: json.integer('Position of this page.'),
      to: json.integer('End of this page.'),
      changedSincePreviousPage: json.boolean(
        'True: the document has changed since the previous page, so text may be missing or repeated.',
      ),
    },
    {
      headingsLeftOut: json.integer('Headings that the table does not have.'),
      nextPageToken: nextPageMember,
    },
  ),
  documentData: json.object(
    { ...editorIdMembers, text: json.text() },
    {
      headings: json.list(json.object({ level: json.integer(), title: json.text() }), {
        description: 'Only on the first page.',
      }),
      threads: json.list({}, { description: 'Threads of comments, the newest first.' }),
    },
  ),
  async handler(
    { heading, occurrence, maxCharacters = usual, comments = false, pageToken, ...given },
    context,
  ) {
    const found = await findEditor(given, context)
    const { organizationId, documentId, editorId } = found.ids
    const { contentKey = null } = given
    const query = [
      'read_document',
      organizationId,
      documentId,
      editorId,
      contentKey,
      heading ?? null,
      occurrence ?? null,
    ]
    const start = pageToken === undefined ? null : context.pages.open(query, pageToken, positionSchema)
    const { answer, version, format, characters } = await queryEditor(
      found,
      {
        is: 'page',
        heading: heading ?? null,
        occurrence: occurrence ?? null,
        at: start?.at ?? null,
        charactersMax: maxCharacters,
        headingsMax: mcpLimits.headings,
        headingCharactersMax: mcpLimits.headingCharacters,
      },
      context,
    )
    const page = requirePage(answer, heading)
    const more = page.isLast ? null : context.pages.seal(query, { at: page.end, version })
    return {
      result: {
        version,
        format,
        characters,
        from: page.start,
        to: page.end,
        changedSincePreviousPage: start !== null && start.version !== version,
        ...(start === null && page.headingsLeftOut > 0 && { headingsLeftOut: page.headingsLeftOut }),
        ...(more !== null && { nextPageToken: more }),
      },
      documentData: {
        ...found.ids,
        ...(start === null && { headings: [...page.headings] }),
        ...(comments && { threads: await readThreads(found.ids, context) }),
        text: page.text,
      },
    }
  },
})

/** @throws ApiError if the heading is missing or ambiguous */
function requirePage(
  answer: TextQueryAnswer,
  heading: string | undefined,
): Extract<TextQueryAnswer, { is: 'page' }> {
  if (answer.is === 'page') return answer
  if (answer.is === 'several headings')
    throw invalidArgument('/occurrence', `is required, because ${answer.count} headings have this text`)
  if (answer.is !== 'no heading') throw new TypeError(`unexpected answer to a query for a page: ${answer.is}`)
  throw new ApiError(
    'crdt/target-not-found',
    `the document has no such heading: ${JSON.stringify(heading)}`,
    { details: { headings: answer.headings } },
  )
}

async function readThreads(
  { organizationId, documentId, editorId }: AddressIds,
  { api }: ToolContext,
): Promise<readonly unknown[]> {
  const open = { organizationId, documentId, statuses: ['open'], pageSize: threadsMax }
  const { data } = await api.call(getAnnotations, open)
  const threads = data
    .filter(({ anchor }) => anchor == null || anchor.editorId === editorId)
    .map(({ annotationId, anchorPlace, comments }) => ({
      annotationId,
      ...(anchorPlace != null && { quote: anchorPlace.quote }),
      comments: comments.slice(0, 20).map(({ from, text }) => ({
        userId: from.userId,
        text: shortened(text, commentLengthMax),
      })),
    }))
  return showAllHidden(threads) as readonly unknown[]
}

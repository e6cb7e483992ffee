import * as v from 'valibot'
import { comparedText } from '../../content/edit/targets/normalized-text.ts'
import { shortened } from '../../text.ts'
import { showAllHidden } from '../document-data.ts'
import { mcpLimits } from '../mcp-limits.ts'
import {
  findHeadings,
  firstPage,
  headingRow,
  type MarkdownHeading,
  type MarkdownPart,
  sectionOf,
} from '../sections.ts'
import { defineTool, type ToolContext } from '../tool.ts'
import { invalidArgument, ToolError } from '../tool-error.ts'
import { type AddressIds, editorMembers, findEditor } from './editor-address.ts'
import { nextPageMember, pageMembers } from './list-documents.ts'
import { readEditorText } from './read-editor.ts'

const { usual, max } = mcpLimits.pageCharacters

/** Threads that one call returns, and characters of one of their comments. */
const threadsMax = 50
const commentLengthMax = 2_000

/** The place at which the next page starts, and the version that was read. */
const positionSchema = v.object({ at: v.number(), version: v.string() })

const threadsSchema = v.array(
  v.looseObject({
    annotationId: v.string(),
    status: v.string(),
    anchor: v.exactOptional(v.nullable(v.looseObject({ editorId: v.string() }))),
    anchorPlace: v.exactOptional(v.nullable(v.looseObject({ quote: v.string() }))),
    comments: v.array(
      v.looseObject({ commentId: v.string(), text: v.string(), from: v.looseObject({ userId: v.string() }) }),
    ),
  }),
)

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
      heading: {
        type: 'string',
        minLength: 1,
        maxLength: 10_000,
        description: 'Only the section of this heading.',
      },
      occurrence: { type: 'integer', minimum: 1, description: 'Which of several equal headings, from 1.' },
      maxCharacters: {
        type: 'integer',
        minimum: 500,
        maximum: max,
        default: usual,
        description: 'Maximum length of the text of one page.',
      },
      comments: {
        type: 'boolean',
        default: false,
        description: `True: also the newest ${threadsMax} open threads of comments.`,
      },
      pageToken: pageMembers.pageToken,
    },
  },
  result: {
    type: 'object',
    required: ['version', 'format', 'characters', 'from', 'to', 'changedSincePreviousPage'],
    properties: {
      version: { type: 'string', description: 'The version that was read.' },
      format: { type: 'string', enum: ['markdown', 'text', 'json'] },
      characters: { type: 'integer', description: 'Length of the whole document.' },
      from: { type: 'integer', description: 'Position of this page.' },
      to: { type: 'integer', description: 'End of this page.' },
      changedSincePreviousPage: {
        type: 'boolean',
        description:
          'True: the document has changed since the previous page, so text may be missing or repeated.',
      },
      headingsLeftOut: { type: 'integer', description: 'Headings that the table does not have.' },
      nextPageToken: nextPageMember,
    },
  },
  documentData: {
    type: 'object',
    required: ['organizationId', 'documentId', 'editorId', 'text'],
    properties: {
      organizationId: { type: 'string' },
      documentId: { type: 'string' },
      editorId: { type: 'string' },
      headings: {
        type: 'array',
        description: 'Only on the first page.',
        items: {
          type: 'object',
          required: ['level', 'title'],
          properties: { level: { type: 'integer' }, title: { type: 'string' } },
        },
      },
      threads: { type: 'array', items: {}, description: 'Threads of comments, the newest first.' },
      text: { type: 'string' },
    },
  },
  async handler(
    { heading, occurrence, maxCharacters = usual, comments = false, pageToken, ...given },
    context,
  ) {
    const found = await findEditor(given, context)
    const read = await readEditorText(found, context)
    const { text, version, format } = read
    const headings = format === 'json' ? [] : findHeadings(text)
    const whole = rangeOf(text, headings, heading, occurrence)
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
    const page = firstPage(
      text,
      { start: Math.min(start?.at ?? whole.start, whole.end), end: whole.end },
      maxCharacters,
    )
    const shown = start === null ? headings.slice(0, mcpLimits.headings) : []
    const more = page.end < whole.end ? context.pages.seal(query, { at: page.end, version }) : null
    return {
      result: {
        version,
        format,
        characters: text.length,
        from: page.start,
        to: page.end,
        changedSincePreviousPage: start !== null && start.version !== version,
        ...(start === null &&
          headings.length > shown.length && { headingsLeftOut: headings.length - shown.length }),
        ...(more !== null && { nextPageToken: more }),
      },
      documentData: {
        ...found.ids,
        ...(start === null && { headings: shown.map(headingRow) }),
        ...(comments && { threads: await readThreads(found.ids, context) }),
        text: text.slice(page.start, page.end),
      },
    }
  },
})

/** @throws ToolError if the heading is missing or ambiguous */
function rangeOf(
  text: string,
  headings: readonly MarkdownHeading[],
  title: string | undefined,
  occurrence: number | undefined,
): MarkdownPart {
  if (title === undefined) return { start: 0, end: text.length }
  const wanted = comparedText(title)
  const equal = headings.filter((heading) => comparedText(heading.title) === wanted)
  const chosen = equal[(occurrence ?? 1) - 1]
  if (chosen === undefined)
    throw new ToolError(
      'crdt/target-not-found',
      `the document has no such heading: ${JSON.stringify(title)}`,
      {
        status: 'FAILED_PRECONDITION',
        details: { headings: headings.slice(0, 50).map(headingRow) },
      },
    )
  if (equal.length > 1 && occurrence === undefined)
    throw invalidArgument('/occurrence', `is required, because ${equal.length} headings have this text`)
  return sectionOf(text, headings, chosen)
}

async function readThreads(
  { organizationId, documentId, editorId }: AddressIds,
  { api }: ToolContext,
): Promise<readonly unknown[]> {
  const { data } = await api.call(
    '/v2/commentannotations/get',
    { organizationId, documentId, statuses: ['open'], pageSize: threadsMax },
    threadsSchema,
  )
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

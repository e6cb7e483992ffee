import * as v from 'valibot'
import { showHidden } from '../document-data.ts'
import { mcpLimits } from '../mcp-limits.ts'
import { defineTool, type ToolContext } from '../tool.ts'
import { ToolError } from '../tool-error.ts'
import { chooseOrganization, documentMember, listEditorIds, organizationMember } from './editor-address.ts'
import { nextPageMember, pageMembers } from './list-documents.ts'
import { decodeToolPosition, encodeToolPosition, readEditorText } from './read-editor.ts'

const documentsSchema = v.array(v.object({ id: v.string(), documentName: v.string() }))

interface FoundDocument {
  readonly id: string
  readonly documentName: string
}

interface SearchMatch {
  readonly documentId: string
  readonly name: string
  readonly editorId?: string
  readonly quote: string
  readonly before: string
  readonly after: string
}

export const searchTool = defineTool({
  name: 'search',
  title: 'Search documents',
  description:
    `Finds a text in the names of documents and in their content as Markdown; case does not matter. One call reads at most ${mcpLimits.searchedDocuments} documents: ` +
    'a page may have no matches, so continue until there is no `nextPageToken`. continue with `read_document` to edit.',
  role: 'viewer',
  effect: 'reads',
  input: {
    type: 'object',
    required: ['query'],
    properties: {
      query: { type: 'string', minLength: 2, maxLength: 200, description: 'The text, in one line.' },
      organizationId: organizationMember,
      documentId: { ...documentMember, description: 'Only this document.' },
      pageToken: pageMembers.pageToken,
    },
  },
  result: {
    type: 'object',
    required: ['matches', 'documentsRead', 'documentsNotRead'],
    properties: {
      matches: { type: 'integer' },
      documentsRead: { type: 'integer', description: 'Documents whose content this call has searched.' },
      documentsNotRead: {
        type: 'integer',
        description: 'Documents that could not be searched, because they have too much content.',
      },
      nextPageToken: nextPageMember,
    },
  },
  documentData: {
    type: 'object',
    required: ['organizationId', 'matches'],
    properties: {
      organizationId: { type: 'string' },
      matches: {
        type: 'array',
        items: {
          type: 'object',
          required: ['documentId', 'name', 'quote', 'before', 'after'],
          properties: {
            documentId: { type: 'string' },
            name: { type: 'string' },
            editorId: { type: 'string', description: 'Absent: the text is in the name of the document.' },
            quote: { type: 'string' },
            before: { type: 'string' },
            after: { type: 'string' },
          },
        },
      },
    },
  },
  async handler({ query, documentId, pageToken, ...given }, context) {
    const organizationId = chooseOrganization(given.organizationId, context)
    const position = pageToken === undefined ? { page: null, skip: 0 } : parsePosition(pageToken)
    const { documents, next } = await readDocuments(organizationId, documentId, position.page, context)
    const matches: SearchMatch[] = []
    let [characters, read, failed] = [0, 0, 0]
    for (const document of documents.slice(position.skip)) {
      if (characters >= mcpLimits.searchedCharacters) break
      matches.push(
        ...matchesIn(document.documentName, query).map((match) => ({ ...named(document), ...match })),
      )
      const searched = await searchDocument(organizationId, document, query, context)
      if (searched === null) failed += 1
      else {
        matches.push(...searched.matches)
        characters += searched.characters
      }
      read += 1
    }
    const skip = position.skip + read
    const more =
      skip < documents.length ? { page: position.page, skip } : next === null ? null : { page: next, skip: 0 }
    return {
      result: {
        matches: matches.length,
        documentsRead: read - failed,
        documentsNotRead: failed,
        ...(more !== null && { nextPageToken: encodeToolPosition(more) }),
      },
      documentData: { organizationId, matches },
    }
  },
})

/** @throws ToolError */
function parsePosition(token: string): { readonly page: string | null; readonly skip: number } {
  const { page, skip } = decodeToolPosition(token) ?? {}
  if ((page !== null && typeof page !== 'string') || !Number.isSafeInteger(skip) || Number(skip) < 0)
    throw new ToolError('request/page-token', 'the page token is not one of `search`', {
      status: 'INVALID_ARGUMENT',
    })
  return { page, skip: Number(skip) }
}

async function readDocuments(
  organizationId: string,
  documentId: string | undefined,
  page: string | null,
  { api }: ToolContext,
): Promise<{ readonly documents: readonly FoundDocument[]; readonly next: string | null }> {
  const selection =
    documentId === undefined
      ? { pageSize: mcpLimits.searchedDocuments, ...(page !== null && { pageToken: page }) }
      : { documentIds: [documentId] }
  const { data, pageToken } = await api.call(
    '/v2/organizations/documents/get',
    { organizationId, ...selection },
    documentsSchema,
  )
  return { documents: data, next: pageToken }
}

const named = ({ id, documentName }: FoundDocument) => ({ documentId: id, name: showHidden(documentName) })

/** Codes of documents and editors that have nothing to search, also because they were deleted meanwhile. */
const empty: readonly string[] = [
  'crdt/no-content',
  'crdt/root-not-found',
  'crdt/root-kind-mismatch',
  'document/not-found',
]
/** Codes of documents with too much content. */
const tooLarge: readonly string[] = ['mcp/document-too-large', 'crdt/too-many-editors']

interface SearchedDocument {
  readonly matches: readonly SearchMatch[]
  /** UTF-16 units that were searched. */
  readonly characters: number
}

/** Searches the editors of a document. Returns null if they have too much content. */
async function searchDocument(
  organizationId: string,
  document: FoundDocument,
  query: string,
  context: ToolContext,
): Promise<SearchedDocument | null> {
  const matches: SearchMatch[] = []
  let characters = 0
  try {
    for (const editorId of await listEditorIds(context, { organizationId, documentId: document.id })) {
      const ids = { organizationId, documentId: document.id, editorId }
      const { text } = await readEditorText({ ids, root: {}, kind: 'xml' }, context, ['markdown', 'json'])
      characters += text.length
      matches.push(...matchesIn(text, query).map((match) => ({ ...named(document), editorId, ...match })))
      if (characters >= mcpLimits.searchedCharacters) break
    }
  } catch (error) {
    if (!(error instanceof ToolError)) throw error
    if (tooLarge.includes(error.code) || error.details.limit === 'maxResponseBytes') return null
    if (!empty.includes(error.code)) throw error
  }
  return { matches, characters }
}

/** Finds the first places of a text that contain the query. Takes linear time. */
function matchesIn(text: string, query: string): readonly Pick<SearchMatch, 'quote' | 'before' | 'after'>[] {
  const [folded, wanted] = [text.toLowerCase(), query.toLowerCase()]
  // A few letters have a lower case of another length. Then case matters, so that positions are right.
  const [where, what] = folded.length === text.length ? [folded, wanted] : [text, query]
  const found: Pick<SearchMatch, 'quote' | 'before' | 'after'>[] = []
  const context = mcpLimits.contextCharacters
  for (let at = where.indexOf(what); at !== -1; at = where.indexOf(what, at + what.length)) {
    const end = at + what.length
    found.push({
      quote: text.slice(at, end).toWellFormed(),
      before: text.slice(Math.max(0, at - context), at).toWellFormed(),
      after: text.slice(end, end + context).toWellFormed(),
    })
    if (found.length >= mcpLimits.matchesPerEditor) break
  }
  return found
}

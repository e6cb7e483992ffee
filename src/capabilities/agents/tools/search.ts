import { ApiError } from '../../../core/base/errors.ts'
import * as s from '../../../core/base/schema.ts'
import { json } from '../../../core/base/schema.ts'
import {
  findMatches,
  showHidden,
  type TextMatch,
  type TextSearchQuery,
} from '../../../core/content/text-query.ts'
import { getDocuments } from '../../../rest/v2/organizations/documents/get.ts'
import { mcpLimits } from '../mcp-limits.ts'
import { defineTool, type ToolContext } from '../tool.ts'
import {
  chooseOrganization,
  documentMember,
  type FoundEditor,
  listEditorIds,
  organizationMember,
} from './editor-address.ts'
import { nextPageMember, pageMembers } from './list-documents.ts'
import { queryEditor } from './read-editor.ts'

interface FoundDocument {
  readonly id: string
  readonly documentName: string
}

interface SearchMatch extends TextMatch {
  readonly documentId: string
  readonly name: string
  readonly editorId?: string
}

export const searchTool = defineTool({
  name: 'search',
  title: 'Search documents',
  description:
    `Finds a text in the names of documents and in their content as Markdown; case does not matter. One call reads at most ${mcpLimits.searchedDocuments} documents: ` +
    'a page may have no matches, so continue until there is no `nextPageToken`. Read a document with `read_document` before you edit it.',
  role: 'viewer',
  effect: 'reads',
  input: json.object(
    { query: json.text('The text, in one line.', { minLength: 2, maxLength: 200 }) },
    {
      organizationId: organizationMember,
      documentId: { ...documentMember, description: 'Only this document.' },
      pageToken: pageMembers.pageToken,
    },
  ),
  result: json.object(
    {
      matches: json.integer(),
      documentsRead: json.integer(
        'Documents whose whole content is searched, by this call and the ones of earlier pages.',
      ),
      documentsNotRead: json.integer(
        'Documents whose content could not be searched, or only in part: an editor has too much content, or several roots.',
      ),
    },
    { nextPageToken: nextPageMember },
  ),
  documentData: json.object({
    organizationId: json.text(),
    matches: json.list(
      json.object(
        {
          documentId: json.text(),
          name: json.text(),
          quote: json.text(),
          before: json.text(),
          after: json.text(),
        },
        { editorId: json.text('Absent: the text is in the name of the document.') },
      ),
    ),
  }),
  async handler({ query, documentId, pageToken, ...given }, context) {
    const organizationId = chooseOrganization(given.organizationId, context)
    const listed = ['search', organizationId, documentId ?? null, query]
    const position =
      pageToken === undefined
        ? { ...begin, page: null }
        : context.pages.open(listed, pageToken, positionSchema)
    const { page } = position
    const { documents, next } = await readDocuments(organizationId, documentId, page, context)
    const matches: SearchMatch[] = []
    let [characters, read, failed] = [0, 0, 0]
    let more: SearchPosition | null = next === null ? null : { ...begin, page: next }
    for (const document of startingAt(position.documentId, documents)) {
      const from = document.id === position.documentId ? position : begin
      if (characters >= mcpLimits.searchedCharacters) {
        more = { ...begin, page, documentId: document.id }
        break
      }
      if (from.editorId === null)
        matches.push(
          ...findMatches(document.documentName, searchQuery(query)).map((match) => ({
            ...named(document),
            ...match,
          })),
        )
      const left = mcpLimits.searchedCharacters - characters
      const searched = await searchDocument(organizationId, document, { query, from, left }, context)
      matches.push(...searched.matches)
      characters += searched.characters
      const isIncomplete = from.isIncomplete || searched.isIncomplete
      if (searched.nextEditor !== null) {
        more = { page, documentId: document.id, editorId: searched.nextEditor, isIncomplete }
        break
      }
      if (isIncomplete) failed += 1
      else read += 1
    }
    return {
      result: {
        matches: matches.length,
        documentsRead: read,
        documentsNotRead: failed,
        ...(more !== null && { nextPageToken: context.pages.seal(listed, more) }),
      },
      documentData: { organizationId, matches },
    }
  },
})

const searchQuery = (text: string): TextSearchQuery => ({
  is: 'search',
  text,
  matchesMax: mcpLimits.matchesPerEditor,
  contextCharacters: mcpLimits.contextCharacters,
})

const begin = { documentId: null, editorId: null, isIncomplete: false } as const

/** The place at which a search continues. */
const positionSchema = s.object({
  /** Token of the page of documents; null for the first one. */
  page: s.orNull(s.string),

  /** The document of the page; null for the first one. */
  documentId: s.orNull(s.string),

  /** The editor of the document; null for the first one. */
  editorId: s.orNull(s.string),

  /** True if the search has skipped an earlier editor of the document. */
  isIncomplete: s.boolean,
})
type SearchPosition = s.TypeOf<typeof positionSchema>

/** Returns the documents from the one with the id. Returns all if it was deleted meanwhile, so that none is left out. */
function startingAt(id: string | null, documents: readonly FoundDocument[]): readonly FoundDocument[] {
  return documents.slice(
    Math.max(
      0,
      documents.findIndex((document) => document.id === id),
    ),
  )
}

async function readDocuments(
  organizationId: string,
  documentId: string | undefined,
  page: string | null,
  { api }: ToolContext,
): Promise<{ readonly documents: readonly FoundDocument[]; readonly next: string | null }> {
  const selection =
    documentId === undefined
      ? { pageSize: mcpLimits.searchedDocuments, pageToken: page ?? undefined }
      : { documentIds: [documentId] }
  const { data, pageToken } = await api.call(getDocuments, { organizationId, ...selection })
  return { documents: data, next: pageToken }
}

const named = ({ id, documentName }: FoundDocument) => ({ documentId: id, name: showHidden(documentName) })

/** Codes of documents and editors that have nothing to search, also because they were deleted meanwhile. */
const empty: readonly string[] = ['crdt/no-content', 'document/not-found']
/** Codes of documents with too many editors, and of editors with several roots. */
const skipped: readonly string[] = ['crdt/too-many-editors', 'crdt/root-not-found', 'crdt/root-kind-mismatch']

interface SearchedDocument {
  readonly matches: readonly SearchMatch[]
  /** UTF-16 units that count as searched. */
  readonly characters: number
  /** True if an editor was skipped. */
  readonly isIncomplete: boolean
  /** The first editor that was not searched because the limit was reached; null if there is none. */
  readonly nextEditor: string | null
}

interface DocumentSearch {
  readonly query: string
  readonly from: { readonly editorId: string | null }
  /** Number of UTF-16 units after which the search stops before the next editor. */
  readonly left: number
}

/** Searches the editors of a document, from one of them on. Content that is too large counts as the limit of a call. */
async function searchDocument(
  organizationId: string,
  document: FoundDocument,
  { query, from, left }: DocumentSearch,
  context: ToolContext,
): Promise<SearchedDocument> {
  const matches: SearchMatch[] = []
  let [characters, isIncomplete] = [0, false]
  const address = { organizationId, documentId: document.id }
  const listed = await searchable(listEditorIds(context, address))
  if (listed === 'skipped' || listed === 'too large')
    return { matches, characters: listed === 'skipped' ? 0 : left, isIncomplete: true, nextEditor: null }
  const editorIds = listed === 'empty' ? [] : listed
  for (const editorId of editorIds.slice(Math.max(0, editorIds.indexOf(from.editorId ?? '')))) {
    if (characters >= left) return { matches, characters, isIncomplete, nextEditor: editorId }
    const editor: FoundEditor = { ids: { ...address, editorId }, root: {}, kind: 'xml' }
    const read = await searchable(queryEditor(editor, searchQuery(query), context, ['markdown', 'json']))
    if (read === 'empty') continue
    if (read === 'skipped' || read === 'too large') {
      isIncomplete = true
      if (read === 'too large') characters = left
    } else {
      characters += read.characters
      if (read.answer.is === 'matches')
        matches.push(...read.answer.matches.map((match) => ({ ...named(document), editorId, ...match })))
    }
  }
  return { matches, characters, isIncomplete, nextEditor: null }
}

/** Resolves with the reason if an error concerns only the document or the editor. */
async function searchable<T>(reading: Promise<T>): Promise<T | 'empty' | 'skipped' | 'too large'> {
  try {
    return await reading
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (empty.includes(error.code)) return 'empty'
    if (skipped.includes(error.code)) return 'skipped'
    if (error.code === 'mcp/document-too-large' || error.details?.limit === 'maxResponseBytes')
      return 'too large'
    throw error
  }
}

import MiniSearch from 'minisearch'
import type { SearchEntry } from '../search-entry.ts'

/** Maximum number of results for one query. */
const resultsMax = 12

export interface SearchResult extends SearchEntry {
  /** Words of the entry that the query has matched, in lower case. */
  readonly words: readonly string[]
}

/** An entry with the number that MiniSearch needs. */
interface IndexedEntry extends SearchEntry {
  readonly id: number
}

const wordsOf = (text: string): string[] => text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')

/** Splits a name such as `maxBodyBytes` into its parts. */
const partsOf = (word: string): string[] => word.split(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})/u)

function indexedWords(text: string): string[] {
  return wordsOf(text).flatMap((word) => {
    const parts = partsOf(word)
    return parts.length > 1 ? [word, ...parts] : parts
  })
}

/**
 * Words that are ignored in queries and entries. They do not help to find an entry, and a query would miss
 * the entries that do not contain them.
 */
const ignoredWords = new Set('a an and are at by for from how i in is it of on or the to with'.split(' '))

/**
 * Returns a factor that orders entries with the same words: chapters first, then sections, operations, and
 * finally rows and errors.
 */
function rankOf({ path, section, operation }: SearchEntry): number {
  if (section === '') return 2
  if (operation !== undefined) return 0.8
  return /^\/docs\/errors\/|#(option|metric|limit)-/.test(path) ? 0.5 : 1
}

/** Returns whether a query is a part of a name, such as `crdt/update`, `--data-dir` or `maxBodyBytes`. */
const isName = (query: string): boolean => !/\s/.test(query) && /[^\p{L}\p{N}]|\p{Ll}\p{Lu}/u.test(query)

/**
 * Returns 2 if a query is the name of the entry or the end of its path, 1 if it is another part of the name
 * or path, otherwise 0.
 */
function nameMatch({ section, operation = '' }: SearchEntry, name: string): number {
  const [names, part] = [[section.toLowerCase(), operation.toLowerCase()], name.toLowerCase()]
  if (names[0] === part || names[1]?.endsWith(part)) return 2
  return names.some((each) => each.includes(part)) ? 1 : 0
}

/**
 * Loads the index of the documentation from the server of the page. Returns the function that searches the
 * index.
 */
export async function loadSearch(): Promise<(query: string) => readonly SearchResult[]> {
  const response = await fetch('/docs/search.json')
  if (!response.ok) throw new Error(`the search index is not available (${response.status})`)
  const entries = (await response.json()) as readonly SearchEntry[]
  const index = new MiniSearch<IndexedEntry>({
    fields: ['section', 'operation', 'page', 'text'],
    extractField: (entry, field) => {
      // The entry for the start of a page has the title of the page as its heading.
      if (field === 'section' && entry.section === '') return entry.page
      return String(entry[field as keyof IndexedEntry] ?? '')
    },
    processTerm: (word) => (ignoredWords.has(word.toLowerCase()) ? null : word.toLowerCase()),
    tokenize: indexedWords,
    searchOptions: {
      tokenize: (query) => wordsOf(query).flatMap(partsOf),
      boost: { section: 4, operation: 4, page: 2 },
      boostDocument: (id) => rankOf(entries[Number(id)] as SearchEntry),
      prefix: (word) => word.length > 1,
      fuzzy: (word) => (word.length > 4 ? 0.2 : false),
    },
  })
  index.addAll(entries.map((entry, id) => ({ ...entry, id })))
  return (query) => {
    const all = index.search(query, { combineWith: 'AND' })
    const found = all.length > 0 ? all : index.search(query)
    const results = found.map(({ id, terms }) => ({ ...(entries[Number(id)] as SearchEntry), words: terms }))
    const sorted = isName(query)
      ? results.toSorted((one, other) => nameMatch(other, query) - nameMatch(one, query))
      : results
    return sorted.slice(0, resultsMax)
  }
}

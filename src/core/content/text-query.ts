import { readJson } from '../base/json.ts'
import * as s from '../base/schema.ts'
import { escapeCharacters, shortened } from '../base/text.ts'
import { comparedText } from './edit/targets/normalized-text.ts'

/**
 * A query about the content of an editor as text, in which hidden characters are shown. Positions and lengths are
 * in UTF-16 units.
 */
export type TextQuery = TextPageQuery | TextSearchQuery

/** Queries one page of the text, or of the section of a heading. */
export interface TextPageQuery {
  readonly is: 'page'
  /** The heading of the section; null: the whole text. */
  readonly heading: string | null
  /** Which of several equal headings, from 1; null if there must be only one. */
  readonly occurrence: number | null
  /** Position at which the page starts; null: the start of the section. */
  readonly at: number | null
  readonly charactersMax: number
  /** Maximum number of headings in the answer, and maximum length of one of them. */
  readonly headingsMax: number
  readonly headingCharactersMax: number
}

/** Queries the first places that contain a text. Case does not matter. */
export interface TextSearchQuery {
  readonly is: 'search'
  readonly text: string
  readonly matchesMax: number
  /** Length of the text before and after a place. */
  readonly contextCharacters: number
}

interface HeadingRow {
  readonly level: number
  readonly title: string
}

export interface TextMatch {
  readonly quote: string
  readonly before: string
  readonly after: string
}

export type TextQueryAnswer =
  | {
      readonly is: 'page'
      readonly text: string
      readonly start: number
      readonly end: number
      /** True if the page ends where the section ends. */
      readonly isLast: boolean
      readonly headings: readonly HeadingRow[]
      readonly headingsLeftOut: number
    }
  /** `headings`: the first ones of the text. */
  | { readonly is: 'no heading'; readonly headings: readonly HeadingRow[] }
  /** Several headings are equal, and the query does not choose one. */
  | { readonly is: 'several headings'; readonly count: number }
  | { readonly is: 'matches'; readonly matches: readonly TextMatch[] }

/** The answer to a query, with the version of the editor that was read. */
export interface AnsweredText {
  readonly version: string
  /** True if the content is text; false if the text is JSON. */
  readonly isText: boolean
  /** Length of the whole text. */
  readonly characters: number
  readonly answer: TextQueryAnswer
}

const responseSchema = s.object({
  result: s.object({ data: s.array(s.object({ data: s.unknown, version: s.string })) }),
})

/**
 * Answers a query about the response of `/v2/crdt/get` (JSON in UTF-8). Returns null if the response has no
 * editor, and `too long` if the text of the editor is longer than `charactersMax`. Takes linear time.
 */
export function answerTextQuery(
  response: Uint8Array,
  query: TextQuery,
  charactersMax: number,
): AnsweredText | 'too long' | null {
  const [entry] = readJson(responseSchema, response).result.data
  if (entry === undefined) return null
  const { data, version } = entry
  const isText = typeof data === 'string'
  const raw = isText ? data : JSON.stringify(data, null, 1)
  if (raw.length > charactersMax) return 'too long'
  const text = showHidden(raw)
  const answer: TextQueryAnswer =
    query.is === 'page'
      ? pageOf(text, isText ? findHeadings(text) : [], query)
      : { is: 'matches', matches: findMatches(text, query) }
  return { version, isText, characters: text.length, answer }
}

function pageOf(text: string, headings: readonly MarkdownHeading[], query: TextPageQuery): TextQueryAnswer {
  const rows = (max: number): readonly HeadingRow[] =>
    headings
      .slice(0, max)
      .map(({ level, title }) => ({ level, title: shortened(title, query.headingCharactersMax) }))
  const section = rangeOf(text, headings, query)
  if (section === 'missing') return { is: 'no heading', headings: rows(missingHeadingsMax) }
  if (typeof section === 'number') return { is: 'several headings', count: section }
  const start = Math.min(query.at ?? section.start, section.end)
  const page = firstPage(text, { start, end: section.end }, query.charactersMax)
  const shown = rows(query.headingsMax)
  return {
    is: 'page',
    text: text.slice(page.start, page.end),
    ...page,
    isLast: page.end >= section.end,
    headings: shown,
    headingsLeftOut: headings.length - shown.length,
  }
}

/** Maximum number of headings in the answer to a query for a missing one. */
const missingHeadingsMax = 50

/** Returns the section; the number of equal headings if the query chooses none of them. */
function rangeOf(
  text: string,
  headings: readonly MarkdownHeading[],
  { heading, occurrence }: TextPageQuery,
): MarkdownPart | 'missing' | number {
  if (heading === null) return { start: 0, end: text.length }
  const wanted = comparedText(heading)
  const equal = headings.filter(({ title }) => comparedText(title) === wanted)
  const chosen = equal[(occurrence ?? 1) - 1]
  if (chosen === undefined) return 'missing'
  return equal.length > 1 && occurrence === null ? equal.length : sectionOf(text, headings, chosen)
}

/** Finds the first places of a text that contain another text. Takes linear time. */
export function findMatches(
  text: string,
  { text: wanted, matchesMax, contextCharacters }: TextSearchQuery,
): readonly TextMatch[] {
  const [folded, foldedWanted] = [text.toLowerCase(), wanted.toLowerCase()]
  // A few letters have a lower case of another length. Then case matters, so that positions are right.
  const [where, what] = folded.length === text.length ? [folded, foldedWanted] : [text, wanted]
  const found: TextMatch[] = []
  for (let at = where.indexOf(what); at !== -1; at = where.indexOf(what, at + what.length)) {
    const end = at + what.length
    found.push({
      quote: text.slice(at, end).toWellFormed(),
      before: text.slice(Math.max(0, at - contextCharacters), at).toWellFormed(),
      after: text.slice(end, end + contextCharacters).toWellFormed(),
    })
    if (found.length >= matchesMax) break
  }
  return found
}

interface MarkdownHeading {
  readonly level: number
  readonly title: string
  /** Position of the heading in the text, in UTF-16 units. */
  readonly at: number
}

/** A part of a text, from `start` to `end`. */
interface MarkdownPart {
  readonly start: number
  readonly end: number
}

const headingLine = /^ {0,3}(#{1,6})(?:[ \t](.*))?$/
const fenceLine = /^ {0,3}(`{3,}|~{3,})/

/** Finds the headings of a Markdown text that begin with `#`, except in fenced code. Takes linear time. */
export function findHeadings(text: string): readonly MarkdownHeading[] {
  const found: MarkdownHeading[] = []
  let fence: string | null = null
  for (let at = 0; at < text.length; ) {
    const lineEnd = text.indexOf('\n', at)
    const end = lineEnd === -1 ? text.length : lineEnd
    // A longer line is not a heading that a table could show.
    const line = text.slice(at, Math.min(end, at + 2_000))
    const [, mark = null] = fenceLine.exec(line) ?? []
    if (fence !== null) {
      if (mark?.startsWith(fence) && line.trim() === mark) fence = null
    } else if (mark !== null) fence = mark
    else {
      const [, signs, title = ''] = headingLine.exec(line) ?? []
      if (signs !== undefined) found.push({ level: signs.length, title: plainTitle(title), at })
    }
    at = end + 1
  }
  return found
}

/** Returns the text of a heading as a reader sees it: without closing signs, emphasis and escapes. */
const plainTitle = (title: string): string =>
  title
    .trim()
    .replace(/[ \t]#{1,}$/, '')
    .replaceAll(/\\([!-/:-@[-`{-~])|[*_`]/g, (_, escaped: string | undefined) => escaped ?? '')
    .trim()

/** Returns the section of a heading: up to the next heading of the same or a higher level. */
export function sectionOf(
  text: string,
  headings: readonly MarkdownHeading[],
  heading: MarkdownHeading,
): MarkdownPart {
  const next = headings.find(({ at, level }) => at > heading.at && level <= heading.level)
  return { start: heading.at, end: next?.at ?? text.length }
}

/** Returns the first part of a range that has at most `max` UTF-16 units, and ends at a line break if it can. */
export function firstPage(text: string, { start, end }: MarkdownPart, max: number): MarkdownPart {
  if (end - start <= max) return { start, end }
  const cut = start + max
  const lineBreak = text.lastIndexOf('\n', cut - 1)
  // A page that ends at a line break must have at least half of the size.
  if (lineBreak >= start + max / 2) return { start, end: lineBreak + 1 }
  return { start, end: isInsidePair(text, cut) ? cut - 1 : cut }
}

const isInsidePair = (text: string, at: number): boolean => /^[\uDC00-\uDFFF]$/.test(text[at] ?? '')

/**
 * Characters that a reader cannot see: controls except tab and line feed, separators of lines and paragraphs, marks of
 * formats and of directions, and characters that fonts ignore. The joiners U+200C and U+200D stay, because scripts and
 * emoji need them; so do Arabic and Kaithi signs, which are visible marks of formats. One variation selector U+FE0E or
 * U+FE0F stays after a visible character.
 */
const hiddenCharacters =
  /(?!\u200D|\uFE0E|\uFE0F|[\t\n\u200C\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\u{110BD}\u{110CD}])[\p{Cc}\p{Cf}\u2028\u2029\p{Default_Ignorable_Code_Point}]|(?<![^\p{C}\p{Z}\p{Default_Ignorable_Code_Point}])(?:\uFE0E|\uFE0F)/gu

/** Replaces characters that a reader cannot see by their codes, such as `\u{202e}`. */
export const showHidden = (text: string): string =>
  escapeCharacters(text.replaceAll('\r\n', '\n'), hiddenCharacters)

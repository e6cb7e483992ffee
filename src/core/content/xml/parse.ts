import { SaxesParser, type SaxesTagPlain } from 'saxes'
import type { ApiError } from '../../base/errors.ts'
import { memoized } from '../../base/maps.ts'
import { limits } from '../../model/limits.ts'
import { contentLimit, invalidContent } from '../content-error.ts'
import { storedName, xmlName } from './names.ts'

/** An element as it is written in the XML. Whether it is a formatting mark depends on the document. */
export interface ParsedElement {
  readonly kind: 'element'
  readonly name: string
  /** Attributes in document order; their names are in the form of `xmlName`. */
  readonly attributes: ReadonlyMap<string, string>
  readonly children: readonly ParsedNode[]
  /**
   * True if the element contains an empty CDATA section. If the document uses the name both for elements and
   * for marks, this section shows that the name is that of an element.
   */
  readonly surelyElement: boolean
}

interface ParsedText {
  readonly kind: 'text'
  readonly text: string
  /** True if the text contains a CDATA section. All its white space is then content. */
  readonly meant: boolean
}

export type ParsedNode = ParsedElement | ParsedText

/**
 * Maximum number of nested elements. It is one less than the maximum for shared types, because the root is
 * also a shared type.
 */
const depthMax = limits.typeDepth - 1

/**
 * Parses a well-formed XML 1.0 fragment with any number of top-level elements and texts. Skips a byte order
 * mark and an XML declaration, drops comments and processing instructions, and rejects a DOCTYPE. Returns an
 * element without a name that contains the top-level nodes.
 * @throws ApiError INVALID_ARGUMENT with line:column (both start at 1) and the problem or the exceeded limit
 */
export function parseXml(data: string): ParsedElement {
  const { length, line, column } = prologOf(data)
  const parser = new SaxesParser<typeof options>(options)
  parser.line = line
  parser.column = column
  refuseUnpairedSurrogate(data)
  const builder = new TreeBuilder(parser)
  parser.on('attribute', () => builder.countAttribute())
  parser.on('opentag', (tag) => builder.open(tag))
  parser.on('closetag', () => builder.close())
  parser.on('text', (text) => builder.text(text, false))
  parser.on('cdata', (text) => builder.text(text, true))
  parser.on('error', ({ message }) => {
    throw parseErrorAt(data, message, parser)
  })
  parser.on('doctype', () => {
    throw parseErrorAt(data, 'doctype', parser)
  })
  parser.write(data.slice(length)).close()
  return builder.root
}

/** Returns whether a text is only white space with a line break, as between elements on separate lines. */
export const isBlankWithBreak = (text: string): boolean => /^[ \t]*[\r\n][ \t\r\n]*$/.test(text)

const declaration =
  /^<\?xml[ \t\r\n]+version[ \t\r\n]*=[ \t\r\n]*(?:"1\.[0-9]+"|'1\.[0-9]+')(?:[ \t\r\n]+encoding[ \t\r\n]*=[ \t\r\n]*(?:"[A-Za-z][\w.-]*"|'[A-Za-z][\w.-]*'))?(?:[ \t\r\n]+standalone[ \t\r\n]*=[ \t\r\n]*(?:"(?:yes|no)"|'(?:yes|no)'))?[ \t\r\n]*\?>/

const options = { fragment: true, xmlns: false, forceXMLVersion: true, defaultXMLVersion: '1.0' } as const

/** Returns the length of the byte order mark and the XML declaration, and the position at which they end. */
function prologOf(data: string): { length: number; line: number; column: number } {
  const mark = data.startsWith('\ufeff') ? 1 : 0
  const found = declaration.exec(data.slice(mark, mark + 1_000))
  if (found === null && /^<\?xml[ \t\r\n?]/.test(data.slice(mark, mark + 6))) {
    throw malformed('malformed XML declaration', { line: 1, column: mark + 1 })
  }
  const length = mark + (found?.[0].length ?? 0)
  const lines = data.slice(0, length).split(/\r\n|\r|\n/)
  return { length, line: lines.length, column: lines.at(-1)?.length ?? 0 }
}

/** Rejects a surrogate without its partner, because the parser would treat it like a whole pair. */
function refuseUnpairedSurrogate(data: string): void {
  if (data.isWellFormed()) return
  const index = data.search(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/)
  throw malformed('unpaired surrogate', positionAt(data, index))
}

interface Open extends ParsedElement {
  readonly children: ParsedNode[]
  surelyElement: boolean
}

const opened = (name: string, attributes: ReadonlyMap<string, string>): Open => ({
  kind: 'element',
  name,
  attributes,
  children: [],
  surelyElement: false,
})

/** Builds the tree and counts its parts. Each limit is checked before content that exceeds it is stored. */
class TreeBuilder {
  readonly root = opened('', new Map())
  readonly #open: Open[] = [this.root]
  readonly #names = new Map<string, string>()
  readonly #at: XmlPosition
  #nodes = 0
  #attributes = 0

  /**
   * Creates a builder.
   * @param at the position of the parser, which advances while the builder receives content
   */
  constructor(at: XmlPosition) {
    this.#at = at
  }

  countAttribute(): void {
    this.#attributes += 1
    if (this.#attributes > limits.attributes) {
      throw tooMuch(`an element has at most ${limits.attributes} attributes`, this.#attributes, this.#at)
    }
  }

  open(tag: SaxesTagPlain): void {
    this.#attributes = 0
    this.#countNode()
    const depth = this.#open.length
    if (depth > depthMax) throw tooMuch(`elements are at most ${depthMax} deep`, depth, this.#at)
    const attributes = new Map<string, string>()
    for (const name in tag.attributes) attributes.set(this.#name(name), tag.attributes[name] as string)
    const element = opened(this.#name(tag.name), attributes)
    this.#parent.children.push(element)
    this.#open.push(element)
  }

  close(): void {
    this.#open.pop()
  }

  /**
   * Adds a text. Texts are joined if only comments, processing instructions or CDATA boundaries are between
   * them.
   */
  text(text: string, cdata: boolean): void {
    const parent = this.#parent
    if (cdata && text === '') parent.surelyElement = true
    const last = parent.children.at(-1)
    if (last?.kind === 'text') {
      parent.children[parent.children.length - 1] = {
        kind: 'text',
        text: last.text + text,
        meant: last.meant || cdata,
      }
    } else {
      if (cdata || !isBlankWithBreak(text)) this.#countNode()
      parent.children.push({ kind: 'text', text, meant: cdata })
    }
  }

  get #parent(): Open {
    return this.#open.at(-1) as Open
  }

  #countNode(): void {
    this.#nodes += 1
    if (this.#nodes > limits.nodes)
      throw tooMuch(`XML has at most ${limits.nodes} nodes`, this.#nodes, this.#at)
  }

  /** Returns the name in the form of `xmlName`. */
  #name = (written: string): string => memoized(this.#names, written, () => xmlName(storedName(written)))
}

/** A position in XML. Line and column start at 1, and columns count code points. */
interface XmlPosition {
  readonly line: number
  readonly column: number
}

const malformed = (reason: string, { line, column }: XmlPosition): ApiError =>
  invalidContent(`data is not well-formed XML at ${line}:${column}: ${reason}`, { line, column })

const tooMuch = (limit: string, size: number, { line, column }: XmlPosition): ApiError =>
  contentLimit(`data has too much at ${line}:${column}: ${limit}; here it is ${size}`, { line, column })

/** Returns the position of the character at `index`. */
function positionAt(data: string, index: number): XmlPosition {
  const lines = data.slice(0, index).split(/\r\n|\r|\n/)
  return { line: lines.length, column: Array.from(lines.at(-1) ?? '').length + 1 }
}

const isDoctype = /doctype/i

/**
 * Matches ampersands that do not start a reference. Comments, CDATA sections and processing instructions are
 * skipped, even if they are not terminated.
 */
const ampersands =
  /<!--[\s\S]*?(?:-->|$)|<!\[CDATA\[[\s\S]*?(?:\]\]>|$)|<\?[\s\S]*?(?:\?>|$)|&(?!(?:lt|gt|amp|quot|apos|#[0-9]+|#x[0-9a-fA-F]+);)/g

/**
 * Converts an error of the parser at `at` to the error for the caller. The parser searches for the end of a
 * reference up to the end of the data. Therefore the first ampersand before `at` that does not start a
 * reference is reported as the position.
 */
function parseErrorAt(data: string, complaint: string, at: XmlPosition): ApiError {
  const reason = complaint.replace(/^\d+:\d+: /, '').replace(/\.$/, '')
  if (isDoctype.test(reason)) return malformed('a DOCTYPE is not allowed', at)
  for (const found of data.matchAll(ampersands)) {
    if (found[0] !== '&') continue
    const place = positionAt(data, found.index)
    const isBefore = place.line < at.line || (place.line === at.line && place.column <= at.column)
    if (!isBefore) break
    const name = /^&[^\s<&;]{0,50};/.exec(data.slice(found.index, found.index + 52))?.[0] ?? '&'
    return malformed(`${JSON.stringify(name)} is not a known reference; write an ampersand as &amp;`, place)
  }
  return malformed(reason, at)
}

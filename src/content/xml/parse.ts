import { SaxesParser, type SaxesTagPlain } from 'saxes'
import { limits } from '../../model/limits.ts'
import { storedName, xmlName } from './names.ts'
import { malformed, parseErrorAt, positionAt, tooMuch, type XmlPosition } from './parse-error.ts'

/** An element as written. The document determines whether it is a formatting mark. */
export interface ParsedElement {
  readonly kind: 'element'
  readonly name: string
  /** In document order; names in the form of `xmlName`. */
  readonly attributes: ReadonlyMap<string, string>
  readonly children: readonly ParsedNode[]
  /** True if it contains an empty CDATA section: it is an element, even if its name is a mark elsewhere. */
  readonly surelyElement: boolean
}

export interface ParsedText {
  readonly kind: 'text'
  readonly text: string
  /** True if it contains a CDATA section, in which also white space is content. */
  readonly meant: boolean
}

export type ParsedNode = ParsedElement | ParsedText

/**
 * Maximum number of nested elements. One less than for shared types, because the root is also a shared type.
 */
const depthMax = limits.typeDepth - 1

/**
 * Parses a strict well-formed XML 1.0 fragment: any number of roots and top-level text. Skips a byte order
 * mark and an XML declaration, drops comments and processing instructions, and rejects a DOCTYPE. The result
 * is an element without a name.
 * @throws ApiError INVALID_ARGUMENT with line:column, both counted from 1, or naming the limit
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

/** Returns whether a text is white space between elements on separate lines. */
export const isBlankWithBreak = (text: string): boolean => /^[ \t]*[\r\n][ \t\r\n]*$/.test(text)

const declaration =
  /^<\?xml[ \t\r\n]+version[ \t\r\n]*=[ \t\r\n]*(?:"1\.[0-9]+"|'1\.[0-9]+')(?:[ \t\r\n]+encoding[ \t\r\n]*=[ \t\r\n]*(?:"[A-Za-z][\w.-]*"|'[A-Za-z][\w.-]*'))?(?:[ \t\r\n]+standalone[ \t\r\n]*=[ \t\r\n]*(?:"(?:yes|no)"|'(?:yes|no)'))?[ \t\r\n]*\?>/

const options = { fragment: true, xmlns: false, forceXMLVersion: true, defaultXMLVersion: '1.0' } as const

/** Returns the length of the byte order mark and the XML declaration, and the position after them. */
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

/** The parser treats the half of a surrogate pair as a whole one. */
function refuseUnpairedSurrogate(data: string): void {
  if (data.isWellFormed()) return
  const index = data.search(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/)
  throw malformed('unpaired surrogate', positionAt(data, index))
}

interface Open {
  readonly kind: 'element'
  readonly name: string
  readonly attributes: ReadonlyMap<string, string>
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

/** Builds the tree and counts. Every limit is checked before content that exceeds it is stored. */
class TreeBuilder {
  readonly root = opened('', new Map())
  readonly #open: Open[] = [this.root]
  readonly #names = new Map<string, string>()
  readonly #at: XmlPosition
  #nodes = 0
  #attributes = 0

  /** `at` advances while the builder is fed. */
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

  /** Texts that only comments, processing instructions or CDATA limits separate are one. */
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
  #name(written: string): string {
    const known = this.#names.get(written)
    if (known !== undefined) return known
    const stored = storedName(written)
    const name = xmlName(stored)
    this.#names.set(written, name)
    return name
  }
}

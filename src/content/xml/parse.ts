import { SaxesParser, type SaxesTagPlain } from 'saxes'
import { limits } from '../../model/limits.ts'
import { storedName, xmlName } from './names.ts'
import { malformed, parseErrorAt, positionAt, tooMuch, type XmlPosition } from './parse-error.ts'

/** An element as it was written; whether it is a formatting mark depends on the document. */
export interface ParsedElement {
  readonly kind: 'element'
  readonly name: string
  /** In document order; names in the form of `xmlName`. */
  readonly attributes: ReadonlyMap<string, string>
  readonly children: readonly ParsedNode[]
  /** An empty CDATA section inside says: this is an element, whatever its name is used for elsewhere. */
  readonly surelyElement: boolean
}

export interface ParsedText {
  readonly kind: 'text'
  readonly text: string
  /** It holds a CDATA section: what stands in one is meant, also white space. */
  readonly meant: boolean
}

export type ParsedNode = ParsedElement | ParsedText

/** Elements inside one another. One less than shared types, since the root is a shared type too. */
const depthMax = limits.typeDepth - 1

/**
 * Reads a strict well-formed XML 1.0 fragment: any number of roots and top-level text. A byte order mark and an XML
 * declaration are skipped, comments and processing instructions dropped, a DOCTYPE is always refused. The result is an
 * element without a name. Throws INVALID_ARGUMENT with line:column, both counted from 1, or naming the limit.
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

/** White space as it stands between elements on lines of their own. */
export const isBlankWithBreak = (text: string): boolean => /^[ \t]*[\r\n][ \t\r\n]*$/.test(text)

const declaration =
  /^<\?xml[ \t\r\n]+version[ \t\r\n]*=[ \t\r\n]*(?:"1\.[0-9]+"|'1\.[0-9]+')(?:[ \t\r\n]+encoding[ \t\r\n]*=[ \t\r\n]*(?:"[A-Za-z][\w.-]*"|'[A-Za-z][\w.-]*'))?(?:[ \t\r\n]+standalone[ \t\r\n]*=[ \t\r\n]*(?:"(?:yes|no)"|'(?:yes|no)'))?[ \t\r\n]*\?>/

const options = { fragment: true, xmlns: false, forceXMLVersion: true, defaultXMLVersion: '1.0' } as const

/** Byte order mark and XML declaration: how long they are, and where what follows them begins. */
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

/** The parser takes the half of a surrogate pair for a whole one. */
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

/** Puts the tree together and counts; every limit is checked before what exceeds it is kept. */
class TreeBuilder {
  readonly root = opened('', new Map())
  readonly #open: Open[] = [this.root]
  readonly #names = new Map<string, string>()
  readonly #at: XmlPosition
  #nodes = 0
  #attributes = 0

  /** `at` moves along while the builder is fed. */
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

  /** Texts that only comments, processing instructions or CDATA limits part are one. */
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

  /** In the one form that names have here. */
  #name(written: string): string {
    const known = this.#names.get(written)
    if (known !== undefined) return known
    const stored = storedName(written)
    const name = xmlName(stored)
    this.#names.set(written, name)
    return name
  }
}

import type * as Y from 'yjs'
import { memoized } from '../../base/maps.ts'
import { Output } from '../output.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import { isBlankWithBreak } from './parse.ts'
import { readTree, XmlScope } from './read-tree.ts'
import type { MarkForm } from './stored-marks.ts'
import type { XmlElement, XmlText } from './tree.ts'

/**
 * Serializes the content of a root as XML: attributes are sorted by name, marks are elements around text, and
 * nothing is added for layout. Parsing the result for the same document returns the same content. An empty
 * CDATA section marks content that would be misread: a line break that is not layout, or an element with the
 * name of a mark.
 */
export const serializeXml = (doc: Y.Doc, contentKey: string, output?: Output): string =>
  serializeType(doc.share.get(contentKey), contentKey, output)

/** Serializes any shared type, like `serializeXml`. `contentKey` indicates the kind of editor. */
export function serializeType(
  type: SharedRoot | undefined,
  contentKey: string,
  output = new Output(),
): string {
  const scope = new XmlScope(contentKey)
  const { root } = readTree(type, scope, output)
  return new XmlWriter(scope, output).content(root, false)
}

/** An element around text that is its formatting. */
export interface FormattingTag {
  readonly name: string
  readonly start: string
}

/** Collects the text of XML or HTML. */
export class TagWriter {
  readonly #output: Output
  readonly #parts: string[] = []

  constructor(output: Output) {
    this.#output = output
  }

  get text(): string {
    return this.#parts.join('')
  }

  push(part: string): void {
    this.#output.count(part.length)
    this.#parts.push(part)
  }

  /** Closes and opens elements between two ranges. Outer elements that both ranges have stay open. */
  change(open: readonly FormattingTag[], wanted: readonly FormattingTag[]): readonly FormattingTag[] {
    let shared = 0
    while (shared < open.length && open[shared]?.start === wanted[shared]?.start) shared += 1
    for (const { name } of open.slice(shared).reverse()) this.push(`</${name}>`)
    for (const { start } of wanted.slice(shared)) this.push(start)
    return wanted
  }
}

const emptyCdata = '<![CDATA[]]>'

class XmlWriter extends TagWriter {
  readonly #scope: XmlScope
  /** Tags of marks. They are cached, because a mark repeats its tag in each range of text. */
  readonly #tags = new Map<MarkForm, FormattingTag>()

  constructor(scope: XmlScope, output: Output) {
    super(output)
    this.#scope = scope
  }

  content(root: XmlElement, preserved: boolean): string {
    this.#children(root, preserved)
    return this.text
  }

  #children(parent: XmlElement, preserved: boolean): void {
    let looksLikeLayout = !preserved && this.#looksLaidOut(parent)
    for (const child of parent.children) {
      if (child.kind === 'element') this.#element(child, preserved)
      else {
        if (looksLikeLayout) this.push(emptyCdata)
        looksLikeLayout = false
        this.#text(child)
      }
    }
  }

  /** Returns whether a parser would drop all texts of the element as layout of the source. */
  #looksLaidOut({ name, children }: XmlElement): boolean {
    const texts = children.filter((child) => child.kind === 'text')
    return (
      (name === '' || texts.length < children.length) &&
      texts.every(({ text, runs }) => runs.every(({ marks }) => marks === 0) && isBlankWithBreak(text))
    )
  }

  #element(element: XmlElement, inherited: boolean): void {
    const { name, attributes, children } = element
    this.push(`<${name}${attributesOf(attributes)}`)
    if (children.length === 0) {
      this.push('/>')
      return
    }
    this.push('>')
    if (this.#scope.vocabulary.useOf(name) === 'both') this.push(emptyCdata)
    const space = attributes.find(([attribute]) => attribute === 'xml:space')?.[1]
    this.#children(element, space === undefined ? inherited : space === 'preserve')
    this.push(`</${name}>`)
  }

  #text({ text, runs }: XmlText): void {
    let open: readonly FormattingTag[] = []
    runs.forEach(({ start, marks }, index) => {
      open = this.change(open, this.#scope.marks.formsOf(marks).map(this.#tagOf))
      this.push(escapeText(text.slice(start, runs[index + 1]?.start ?? text.length)))
    })
    this.change(open, [])
  }

  #tagOf = (mark: MarkForm): FormattingTag =>
    memoized(this.#tags, mark, () => ({
      name: mark.name,
      start: `<${mark.name}${attributesOf(mark.attributes)}>`,
    }))
}

const attributesOf = (attributes: XmlElement['attributes']): string =>
  attributes.map(([name, text]) => ` ${name}="${escapeAttribute(text)}"`).join('')

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
}

/**
 * Escapes text, including carriage returns: a parser converts them to line feeds unless they are references.
 */
const escapeText = (text: string): string => text.replace(/[&<>\r]/g, (found) => escapes[found] as string)

/**
 * Escapes an attribute value, including white space: a parser converts it to spaces unless it is a reference.
 */
const escapeAttribute = (text: string): string =>
  text.replace(/[&<>"\t\n\r]/g, (found) => escapes[found] as string)

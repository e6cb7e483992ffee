import type * as Y from 'yjs'
import type { Root } from './kind.ts'
import { NodeNumbers } from './xml-hash.ts'
import { readTree } from './xml-live.ts'
import type { MarkForm } from './xml-mark-store.ts'
import { type MarkSet, Marks } from './xml-marks.ts'
import { isBlankWithBreak } from './xml-parse.ts'
import type { XmlElement, XmlText } from './xml-tree.ts'
import { Vocabulary } from './xml-vocabulary.ts'

/**
 * The content of a root as XML: attributes sorted by name, marks as elements around text, nothing added for layout.
 * Parsed again for the same document it is the same content; an empty CDATA section stands where it would be taken
 * for something else (a line break that is no layout, an element that is called like a mark).
 */
export const readXml = (doc: Y.Doc, contentKey: string): string =>
  xmlOf(doc.share.get(contentKey), contentKey)

/** The same of any shared type; `contentKey` says what kind of editor the content is for. */
export function xmlOf(type: Root | undefined, contentKey: string): string {
  const vocabulary = new Vocabulary(contentKey)
  const marks = new Marks(vocabulary)
  const { root } = readTree(type, vocabulary, marks, new NodeNumbers())
  return new XmlWriter(vocabulary, marks).content(root, false)
}

const emptyCdata = '<![CDATA[]]>'

class XmlWriter {
  readonly #vocabulary: Vocabulary
  readonly #marks: Marks
  readonly #parts: string[] = []

  constructor(vocabulary: Vocabulary, marks: Marks) {
    this.#vocabulary = vocabulary
    this.#marks = marks
  }

  content(root: XmlElement, preserved: boolean): string {
    this.#children(root, preserved)
    return this.#parts.join('')
  }

  #children(parent: XmlElement, preserved: boolean): void {
    let looksLikeLayout = !preserved && this.#looksLaidOut(parent)
    for (const child of parent.children) {
      if (child.kind === 'element') this.#element(child, preserved)
      else {
        if (looksLikeLayout) this.#parts.push(emptyCdata)
        looksLikeLayout = false
        this.#text(child)
      }
    }
  }

  /** Whether all its texts would be dropped as layout of the source. */
  #looksLaidOut({ name, children }: XmlElement): boolean {
    const texts = children.filter((child) => child.kind === 'text')
    return (
      (name === '' || texts.length < children.length) &&
      texts.every(({ text, runs }) => runs.every(({ marks }) => marks === 0) && isBlankWithBreak(text))
    )
  }

  #element(element: XmlElement, inherited: boolean): void {
    const { name, attributes, children } = element
    this.#parts.push(`<${name}${attributesOf(attributes)}`)
    if (children.length === 0) {
      this.#parts.push('/>')
      return
    }
    this.#parts.push('>')
    if (this.#vocabulary.useOf(name) === 'both') this.#parts.push(emptyCdata)
    const space = attributes.find(([attribute]) => attribute === 'xml:space')?.[1]
    this.#children(element, space === undefined ? inherited : space === 'preserve')
    this.#parts.push(`</${name}>`)
  }

  #text({ text, runs }: XmlText): void {
    let open: readonly MarkForm[] = []
    runs.forEach(({ start, marks }, index) => {
      open = this.#changeMarks(open, marks)
      this.#parts.push(escapeText(text.slice(start, runs[index + 1]?.start ?? text.length)))
    })
    this.#changeMarks(open, 0)
  }

  /** Closes and opens marks; what the two stretches have in common from outside stays open. */
  #changeMarks(open: readonly MarkForm[], set: MarkSet): readonly MarkForm[] {
    const wanted = this.#marks.formsOf(set)
    let shared = 0
    while (shared < open.length && open[shared] === wanted[shared]) shared += 1
    for (const { name } of open.slice(shared).reverse()) this.#parts.push(`</${name}>`)
    for (const { name, attributes } of wanted.slice(shared)) {
      this.#parts.push(`<${name}${attributesOf(attributes)}>`)
    }
    return wanted
  }
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

/** A parser makes line feeds of carriage returns, unless they are references. */
const escapeText = (text: string): string => text.replace(/[&<>\r]/g, (found) => escapes[found] as string)

/** A parser makes blanks of white space in attributes, unless it is a reference. */
const escapeAttribute = (text: string): string =>
  text.replace(/[&<>"\t\n\r]/g, (found) => escapes[found] as string)

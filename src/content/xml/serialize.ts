import type * as Y from 'yjs'
import { Output } from '../output.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import { type MarkSet, MarkTable } from './mark-sets.ts'
import { NodeInterner } from './node-interner.ts'
import { ObservedSchema } from './observed-schema.ts'
import { isBlankWithBreak } from './parse.ts'
import { readTree } from './read-tree.ts'
import type { MarkForm } from './stored-marks.ts'
import type { XmlElement, XmlText } from './tree.ts'

/**
 * The content of a root as XML: attributes sorted by name, marks as elements around text, nothing added for layout.
 * Parsed again for the same document it is the same content; an empty CDATA section stands where it would be taken
 * for something else (a line break that is no layout, an element that is called like a mark).
 */
export const serializeXml = (doc: Y.Doc, contentKey: string, output?: Output): string =>
  serializeType(doc.share.get(contentKey), contentKey, output)

/** The same of any shared type; `contentKey` says what kind of editor the content is for. */
export function serializeType(
  type: SharedRoot | undefined,
  contentKey: string,
  output = new Output(),
): string {
  const vocabulary = new ObservedSchema(contentKey)
  const marks = new MarkTable(vocabulary)
  const { root } = readTree(type, vocabulary, marks, new NodeInterner(), output)
  return new XmlWriter(vocabulary, marks, output).content(root, false)
}

const emptyCdata = '<![CDATA[]]>'

class XmlWriter {
  readonly #vocabulary: ObservedSchema
  readonly #marks: MarkTable
  readonly #output: Output
  readonly #parts: string[] = []
  /** Start tags of the marks: a mark repeats its tag in each stretch of text. */
  readonly #startTags = new Map<MarkForm, string>()

  constructor(vocabulary: ObservedSchema, marks: MarkTable, output: Output) {
    this.#vocabulary = vocabulary
    this.#marks = marks
    this.#output = output
  }

  content(root: XmlElement, preserved: boolean): string {
    this.#children(root, preserved)
    return this.#parts.join('')
  }

  #push(part: string): void {
    this.#output.count(part.length)
    this.#parts.push(part)
  }

  #children(parent: XmlElement, preserved: boolean): void {
    let looksLikeLayout = !preserved && this.#looksLaidOut(parent)
    for (const child of parent.children) {
      if (child.kind === 'element') this.#element(child, preserved)
      else {
        if (looksLikeLayout) this.#push(emptyCdata)
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
    this.#push(`<${name}${attributesOf(attributes)}`)
    if (children.length === 0) {
      this.#push('/>')
      return
    }
    this.#push('>')
    if (this.#vocabulary.useOf(name) === 'both') this.#push(emptyCdata)
    const space = attributes.find(([attribute]) => attribute === 'xml:space')?.[1]
    this.#children(element, space === undefined ? inherited : space === 'preserve')
    this.#push(`</${name}>`)
  }

  #text({ text, runs }: XmlText): void {
    let open: readonly MarkForm[] = []
    runs.forEach(({ start, marks }, index) => {
      open = this.#changeMarks(open, marks)
      this.#push(escapeText(text.slice(start, runs[index + 1]?.start ?? text.length)))
    })
    this.#changeMarks(open, 0)
  }

  /** Closes and opens marks; what the two stretches have in common from outside stays open. */
  #changeMarks(open: readonly MarkForm[], set: MarkSet): readonly MarkForm[] {
    const wanted = this.#marks.formsOf(set)
    let shared = 0
    while (shared < open.length && open[shared] === wanted[shared]) shared += 1
    for (const { name } of open.slice(shared).reverse()) this.#push(`</${name}>`)
    for (const mark of wanted.slice(shared)) this.#push(this.#startTag(mark))
    return wanted
  }

  #startTag(mark: MarkForm): string {
    const known = this.#startTags.get(mark)
    if (known !== undefined) return known
    const tag = `<${mark.name}${attributesOf(mark.attributes)}>`
    this.#startTags.set(mark, tag)
    return tag
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

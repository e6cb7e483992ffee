import { limits } from '../../model/limits.ts'
import { contentLimit } from '../content-error.ts'
import type { Json, JsonObject } from '../json/json.ts'
import type { MarkSet, MarkTable } from './mark-sets.ts'
import { xmlName } from './names.ts'
import type { ObservedSchema } from './observed-schema.ts'
import { isBlankWithBreak, type ParsedElement, type ParsedNode } from './parse.ts'
import {
  type LiveElement,
  type NodeInterner,
  subtreeSize,
  type XmlElement,
  type XmlNode,
  XmlRunBuilder,
} from './tree.ts'
import { jsonValues } from './value-codec.ts'

/**
 * Returns the tree of a target, in the names and marks of a document. The tree may contain nodes of `root`:
 * these stay as they are.
 */
export type TargetTree = (
  vocabulary: ObservedSchema,
  marks: MarkTable,
  numbers: NodeInterner,
  root: LiveElement,
) => XmlElement

/**
 * Interprets parsed XML for this document: uses the spelling of names in the document, distinguishes elements
 * from formatting marks, drops white space that is only layout of the source, and joins adjacent texts.
 */
export function targetTree(
  parsed: ParsedElement,
  vocabulary: ObservedSchema,
  marks: MarkTable,
  numbers: NodeInterner,
): XmlElement {
  return new TargetBuilder(vocabulary, marks, numbers).root(parsed)
}

/**
 * Maximum number of marks in a target. Each mark is counted once for each text that has it. Without this
 * limit, a few elements around many texts would multiply the marks.
 */
const markingsMax = 2 * limits.nodes

interface TargetPosition {
  readonly nodes: XmlNode[]
  readonly text: XmlRunBuilder
}

class TargetBuilder {
  readonly #vocabulary: ObservedSchema
  readonly #marks: MarkTable
  readonly #numbers: NodeInterner
  #markings = 0
  readonly #areMarks = new Map<ParsedElement, boolean>()

  constructor(vocabulary: ObservedSchema, marks: MarkTable, numbers: NodeInterner) {
    this.#vocabulary = vocabulary
    this.#marks = marks
    this.#numbers = numbers
  }

  root(parsed: ParsedElement): XmlElement {
    return this.#made('', [], this.#content(parsed, 0, false))
  }

  #element(parsed: ParsedElement, set: MarkSet, preserved: boolean): XmlElement {
    const attributes = [...parsed.attributes].sort(([a], [b]) => (a < b ? -1 : 1))
    const children = this.#content(parsed, set, preservesSpace(parsed, preserved))
    return this.#made(this.#vocabulary.spelling(parsed.name), attributes, children)
  }

  #made(name: string, attributes: XmlElement['attributes'], children: readonly XmlNode[]): XmlElement {
    const number = this.#numbers.ofElement(name, attributes, children)
    return { kind: 'element', name, attributes, children, size: subtreeSize(children), number }
  }

  #content(parsed: ParsedElement, set: MarkSet, preserved: boolean): XmlNode[] {
    const place: TargetPosition = { nodes: [], text: new XmlRunBuilder() }
    this.#fill(place, parsed, set, preserved)
    this.#endText(place)
    return place.nodes
  }

  /**
   * Adds the content of an element. Marks are not nodes of the tree: the content of a mark belongs to the
   * element around it.
   */
  #fill(place: TargetPosition, parsed: ParsedElement, set: MarkSet, preserved: boolean): void {
    const dropsBreaks = !preserved && this.#isLaidOut(parsed)
    for (const child of parsed.children) {
      if (child.kind === 'text') {
        if (!dropsBreaks || !isLayout(child)) this.#addText(place, child.text, set)
      } else if (this.#isMark(child)) {
        const name = this.#vocabulary.spelling(child.name)
        this.#fill(
          place,
          child,
          this.#marks.with(set, { name, attributes: [...child.attributes] }),
          preserved,
        )
      } else {
        this.#endText(place)
        place.nodes.push(this.#element(child, set, preserved))
      }
    }
  }

  #addText(place: TargetPosition, text: string, set: MarkSet): void {
    this.#markings += this.#marks.sizeOf(set)
    if (this.#markings > markingsMax) {
      throw contentLimit(`data has too much formatting: at most ${markingsMax} marks on all texts together`)
    }
    place.text.add(text, set)
  }

  #endText(place: TargetPosition): void {
    const found = place.text.take()
    if (found === null) return
    const { text, runs } = found
    place.nodes.push({
      kind: 'text',
      text,
      runs,
      size: text.length,
      number: this.#numbers.ofText(runs, text),
    })
  }

  /**
   * Returns whether line breaks between the child elements are layout. This is the case if the element has no
   * other text and no marks.
   */
  #isLaidOut({ name, children }: ParsedElement): boolean {
    let elements = name === '' ? 1 : 0
    for (const child of children) {
      if (child.kind === 'text' ? !isLayout(child) : this.#isMark(child)) return false
      if (child.kind === 'element') elements += 1
    }
    return elements > 0
  }

  #isMark(parsed: ParsedElement): boolean {
    const known = this.#areMarks.get(parsed)
    if (known !== undefined) return known
    const isMark = this.#decide(parsed)
    this.#areMarks.set(parsed, isMark)
    return isMark
  }

  #decide(parsed: ParsedElement): boolean {
    const name = this.#vocabulary.spelling(parsed.name)
    const use = this.#vocabulary.useOf(name)
    if (use === 'mark' || use === 'element') return use === 'mark'
    if (use === 'new') return this.#vocabulary.isInlineMark(name) && this.#isInline(parsed)
    // An element without content is not a mark, because such a mark would leave nothing in the document.
    return !parsed.surelyElement && parsed.children.length > 0 && this.#isInline(parsed)
  }

  #isInline({ children }: ParsedElement): boolean {
    return children.every((child) => child.kind === 'text' || this.#isMark(child))
  }
}

const isLayout = (node: ParsedNode): boolean =>
  node.kind === 'text' && !node.meant && isBlankWithBreak(node.text)

function preservesSpace({ attributes }: ParsedElement, inherited: boolean): boolean {
  const space = attributes.get('xml:space')
  return space === undefined ? inherited : space === 'preserve'
}

/**
 * An element of a target whose attributes have types. Names are in the stored form. The name and the
 * attributes of the root are not used.
 */
export interface TypedElement {
  readonly kind: 'element'
  readonly name: string
  readonly attributes: ReadonlyMap<string, Json>
  readonly children: readonly TypedNode[]
}

interface TypedText {
  readonly kind: 'text'
  /** Well-formed Unicode. */
  readonly text: string
  readonly marks: readonly TypedMark[]
}

export interface TypedMark {
  readonly name: string
  readonly attributes: JsonObject
}

export type TypedNode = TypedElement | TypedText

/** Converts a target to the tree that is compared with the document. Adjacent texts are joined. */
export const typedTree = (target: TypedElement, marks: MarkTable, numbers: NodeInterner): XmlElement =>
  new TypedTreeBuilder(marks, numbers).root(target)

class TypedTreeBuilder {
  readonly #marks: MarkTable
  readonly #numbers: NodeInterner
  readonly #sets = new Map<readonly TypedMark[], MarkSet>()
  #markings = 0

  constructor(marks: MarkTable, numbers: NodeInterner) {
    this.#marks = marks
    this.#numbers = numbers
  }

  root({ children }: TypedElement): XmlElement {
    return this.#made('', [], children)
  }

  #element({ name, attributes: values, children }: TypedElement): XmlElement {
    const attributes: [string, string][] = []
    for (const [attribute, value] of values) {
      const text = jsonValues.toText(value)
      if (text !== null) attributes.push([xmlName(attribute), text])
    }
    attributes.sort(([a], [b]) => (a < b ? -1 : 1))
    return this.#made(xmlName(name), attributes, children)
  }

  #made(name: string, attributes: XmlElement['attributes'], targets: readonly TypedNode[]): XmlElement {
    const children = this.#children(targets)
    const number = this.#numbers.ofElement(name, attributes, children)
    return { kind: 'element', name, attributes, children, size: subtreeSize(children), number }
  }

  #children(targets: readonly TypedNode[]): XmlNode[] {
    const nodes: XmlNode[] = []
    const builder = new XmlRunBuilder()
    const endText = (): void => {
      const found = builder.take()
      if (found === null) return
      const { text, runs } = found
      const number = this.#numbers.ofText(runs, text)
      nodes.push({ kind: 'text', text, runs, size: text.length, number })
    }
    for (const target of targets) {
      if (target.kind === 'text') builder.add(target.text, this.#setOf(target.marks))
      else {
        endText()
        nodes.push(this.#element(target))
      }
    }
    endText()
    return nodes
  }

  #setOf(marks: readonly TypedMark[]): MarkSet {
    this.#markings += marks.length
    if (this.#markings > markingsMax) {
      throw contentLimit(`data has too much formatting: at most ${markingsMax} marks on all texts together`)
    }
    const known = this.#sets.get(marks)
    if (known !== undefined) return known
    const set = marks.reduce((sum, { name, attributes }) => this.#marks.withValues(sum, name, attributes), 0)
    this.#sets.set(marks, set)
    return set
  }
}

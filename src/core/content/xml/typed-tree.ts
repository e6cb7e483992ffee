import { contentLimit } from '../content-error.ts'
import type { Json, JsonObject } from '../json/json.ts'
import type { MarkSet, MarkTable } from './mark-sets.ts'
import { xmlName } from './names.ts'
import { type NodeInterner, subtreeSize, XmlRunBuilder } from './node-interner.ts'
import { markingsMax } from './target-tree.ts'
import type { XmlElement, XmlNode } from './tree.ts'
import { jsonValues } from './value-codec.ts'

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

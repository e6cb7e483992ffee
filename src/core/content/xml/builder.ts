import { randomUUID } from 'node:crypto'
import * as Y from 'yjs'
import { storedName } from './names.ts'
import type { XmlScope } from './read-tree.ts'
import { insertsOf } from './text-plan.ts'
import type { XmlElement, XmlNode, XmlParent } from './tree.ts'
import { typeOfValue } from './value-codec.ts'

/** Maximum number of children in one call of Yjs, which passes them on as function arguments. */
const childrenAtOnce = 10_000

/** Builds shared types from nodes, in the form that y-prosemirror and Tiptap use. */
export class XmlBuilder {
  readonly #scope: XmlScope
  #marked: Y.XmlText[] = []

  constructor(scope: XmlScope) {
    this.#scope = scope
  }

  build(node: XmlNode): Y.XmlElement | Y.XmlText {
    if (node.kind === 'element') return this.#element(node)
    const text = new Y.XmlText()
    text.applyDelta(insertsOf(node, this.#scope.marks))
    if (node.runs.length > 1) this.#marked.push(text)
    return text
  }

  /** Returns the texts with several runs that were built since the last call. */
  takeMarked(): readonly Y.XmlText[] {
    const marked = this.#marked
    this.#marked = []
    return marked
  }

  /**
   * Converts the text of an attribute to its value. The value gets the type that the attribute already has on
   * this element, or otherwise the type that it has elsewhere in the document.
   */
  attributeValue(owner: string, attribute: string, text: string, existing?: XmlParent): unknown {
    const item = existing?._map.get(storedName(attribute))
    const value: unknown = item?.deleted === false ? item.content.getContent()[item.length - 1] : null
    return this.#scope.vocabulary.values.toValue(
      text,
      () => typeOfValue(value) ?? this.#scope.vocabulary.typeOf(owner, attribute),
    )
  }

  #element({ name, attributes, children }: XmlElement): Y.XmlElement {
    const element = new Y.XmlElement(storedName(name))
    const { editor } = this.#scope.vocabulary
    editor?.count('node', storedName(name))
    const values = new Map<string, unknown>(editor?.nodeDefaults(storedName(name)))
    for (const [attribute, text] of attributes)
      values.set(storedName(attribute), this.attributeValue(name, attribute, text))
    const id = editor?.idOf(storedName(name)) ?? null
    if (id !== null && !values.has(id)) values.set(id, randomUUID())
    // Yjs accepts values of any type, although its type definitions only allow strings.
    for (const [attribute, value] of values) element.setAttribute(attribute, value as string)
    for (let index = 0; index < children.length; index += childrenAtOnce) {
      const some = children.slice(index, index + childrenAtOnce)
      element.insert(
        index,
        some.map((child) => this.build(child)),
      )
    }
    return element
  }
}

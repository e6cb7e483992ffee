import type * as Y from 'yjs'
import { isJsonObject } from '../../base/json.ts'
import { memoized } from '../../base/maps.ts'
import { limits } from '../../model/limits.ts'
import { contentLimit } from '../content-error.ts'
import { type Json, type JsonObject, jsonTypeName, setMember } from '../json/json.ts'
import { JsonValidator, quotedName } from '../json/json-validator.ts'
import { Output } from '../output.ts'
import { type MarkSet, type MarkTable, shownMax } from '../xml/mark-sets.ts'
import { storedName } from '../xml/names.ts'
import { readTree, XmlScope } from '../xml/read-tree.ts'
import type { MarkForm } from '../xml/stored-marks.ts'
import {
  type TargetTree,
  type TypedElement,
  type TypedMark,
  type TypedNode,
  typedTree,
} from '../xml/target-tree.ts'
import type { XmlElement, XmlNode, XmlText } from '../xml/tree.ts'
import { jsonValues } from '../xml/value-codec.ts'

/** Type of the nodes that contain characters. */
const textType = 'text'
/** Type of the node that represents a root. */
const rootType = 'doc'

/** Maximum number of nested elements, as in XML. */
const depthMax = limits.typeDepth - 1

/**
 * Checks the `data` of a ProseMirror target: a node of the type `doc`, or an array of nodes.
 * @throws ApiError INVALID_ARGUMENT with the JSON pointer of the problem, or with the exceeded limit
 */
export const checkProseMirror = (data: unknown): TargetTree => typedTree(new NodeValidator().root(data))

const noMarks: readonly TypedMark[] = []
const noAttributes: ReadonlyMap<string, Json> = new Map()

class NodeValidator extends JsonValidator {
  root(data: unknown): TypedElement {
    if (Array.isArray(data)) return this.#root(this.elements(data, (node) => this.#node(node, 1)))
    if (!isJsonObject(data))
      throw this.problem(`must be a node of the type "${rootType}" or an array, not ${jsonTypeName(data)}`)
    const { type, content, attrs, ...others } = data
    if (type !== rootType)
      throw this.problemAt('type', `must be "${rootType}"; to send nodes without a document, use an array`)
    this.#refuseMembers(others, 'type, content')
    const attributes = this.object('attrs', attrs ?? undefined)
    const set = Object.keys(attributes).find((name) => attributes[name] !== null)
    if (set !== undefined)
      throw this.problemAt('attrs', `must be absent: a root stores no attributes such as ${quotedName(set)}`)
    return this.#root(this.#content(content, 1))
  }

  #root = (children: readonly TypedNode[]): TypedElement => ({
    kind: 'element',
    name: '',
    attributes: noAttributes,
    children,
  })

  #content = (data: unknown, depth: number): readonly TypedNode[] =>
    this.list('content', data ?? undefined, (node) => this.#node(node, depth))

  #node(data: unknown, depth: number): TypedNode {
    this.count()
    if (!isJsonObject(data)) throw this.problem(`must be a node (an object), not ${jsonTypeName(data)}`)
    const { type, attrs, content, marks, text, ...others } = data
    if (typeof type !== 'string')
      throw this.problemAt('type', `must be the name of a node type, not ${jsonTypeName(type)}`)
    if (type === textType && content === undefined) {
      this.#refuseMembers({ ...(attrs !== undefined && { attrs }), ...others }, 'type, text, marks')
      if (typeof text !== 'string')
        throw this.problemAt('text', `must be a string, not ${jsonTypeName(text)}`)
      return { kind: 'text', text: text.toWellFormed(), marks: this.#marks(marks) }
    }
    this.#refuseMembers({ ...(text !== undefined && { text }), ...others }, 'type, attrs, content, marks')
    if (depth > depthMax)
      throw contentLimit(`${this.place}: nodes must be nested at most ${depthMax} levels deep`)
    // The binding of ProseMirror stores marks of text only, and editors print them for line breaks also.
    this.#marks(marks)
    return {
      kind: 'element',
      name: type.toWellFormed(),
      attributes: this.#attributes(attrs),
      children: this.#content(content, depth + 1),
    }
  }

  #attributes(data: unknown): ReadonlyMap<string, Json> {
    const entries = Object.entries(this.object('attrs', data ?? undefined))
    if (entries.length <= limits.attributes) return new Map(entries)
    throw contentLimit(
      `${this.place}: a node must have at most ${limits.attributes} attributes; it has ${entries.length}`,
    )
  }

  #marks(data: unknown): readonly TypedMark[] {
    if (data === undefined || data === null) return noMarks
    if (Array.isArray(data) && data.length > shownMax)
      throw contentLimit(
        `${this.place}/marks: a text must have at most ${shownMax} marks; it has ${data.length}`,
      )
    return this.list('marks', data, (mark) => this.#mark(mark))
  }

  #mark(data: unknown): TypedMark {
    this.count()
    if (!isJsonObject(data)) throw this.problem(`must be a mark (an object), not ${jsonTypeName(data)}`)
    const { type, attrs, ...others } = data
    this.#refuseMembers(others, 'type, attrs')
    if (typeof type !== 'string')
      throw this.problemAt('type', `must be the name of a mark type, not ${jsonTypeName(type)}`)
    return { name: type.toWellFormed(), attributes: this.object('attrs', attrs ?? undefined) }
  }

  /** Rejects members that the format does not have, because their content would be lost. */
  #refuseMembers(others: object, allowed: string): void {
    const [unknown] = Object.keys(others)
    if (unknown !== undefined) throw this.problem(`must have only ${allowed}, not ${quotedName(unknown)}`)
  }
}

/**
 * Returns the content of a root as a ProseMirror document in JSON: a node of the type `doc`. The types of
 * nodes and marks are the stored names. Passing the result to a replacement changes nothing.
 * @throws ApiError RESOURCE_EXHAUSTED as for `Output`
 */
export function readProseMirror(doc: Y.Doc, contentKey: string, output = new Output()): JsonObject {
  const scope = new XmlScope(contentKey, jsonValues)
  const { root } = readTree(doc.share.get(contentKey), scope, output)
  const writer = new NodeWriter(scope.marks, output)
  return { type: rootType, content: writer.nodes(root.children) }
}

/** Converts nodes to JSON. Marks that several texts have are represented by the same objects. */
class NodeWriter {
  readonly #marks: MarkTable
  readonly #output: Output
  readonly #sets = new Map<MarkSet, readonly JsonObject[]>()
  readonly #forms = new Map<MarkForm, JsonObject>()

  constructor(marks: MarkTable, output: Output) {
    this.#marks = marks
    this.#output = output
  }

  nodes(children: readonly XmlNode[]): Json[] {
    return children.flatMap((child): Json[] =>
      child.kind === 'text' ? this.#texts(child) : [this.#element(child)],
    )
  }

  #element({ name: xmlName, attributes, children }: XmlElement): JsonObject {
    const type = storedName(xmlName)
    const attrs = this.#attrs(attributes)
    // Without content, an element of the type `text` could not be distinguished from a text.
    const hasContent = children.length > 0 || type === textType
    return {
      type,
      ...(attributes.length > 0 && { attrs }),
      ...(hasContent && { content: this.nodes(children) }),
    }
  }

  #attrs(attributes: XmlElement['attributes']): JsonObject {
    const attrs: Record<string, Json> = {}
    for (const [name, text] of attributes) {
      this.#output.count(text.length)
      setMember(attrs, storedName(name), JSON.parse(text) as Json)
    }
    return attrs
  }

  #texts({ text, runs }: XmlText): JsonObject[] {
    return runs.map(({ start, marks }, index) => {
      const part = text.slice(start, runs[index + 1]?.start ?? text.length)
      this.#output.count(part.length)
      return { type: textType, text: part, ...(marks !== 0 && { marks: this.#marksOf(marks) }) }
    })
  }

  #marksOf(set: MarkSet): readonly JsonObject[] {
    return memoized(this.#sets, set, () => this.#marks.formsOf(set).map((form) => this.#mark(form)))
  }

  #mark(form: MarkForm): JsonObject {
    return memoized(this.#forms, form, () => {
      const type = storedName(form.name)
      return form.attributes.length === 0 ? { type } : { type, attrs: this.#attrs(form.attributes) }
    })
  }
}

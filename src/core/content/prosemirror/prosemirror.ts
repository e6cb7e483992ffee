import type * as Y from 'yjs'
import { type Json, type JsonObject, setMember } from '../json/json.ts'
import { Output } from '../output.ts'
import { type MarkSet, MarkTable } from '../xml/mark-sets.ts'
import { storedName } from '../xml/names.ts'
import { ObservedSchema } from '../xml/observed-schema.ts'
import { readTree } from '../xml/read-tree.ts'
import type { MarkForm } from '../xml/stored-marks.ts'
import { NodeInterner, type XmlElement, type XmlNode, type XmlText } from '../xml/tree.ts'
import { jsonValues } from '../xml/value-codec.ts'
import { rootType, textType } from './node-validator.ts'

/**
 * Returns the content of a root as a ProseMirror document in JSON: a node of the type `doc`. The types of
 * nodes and marks are the stored names. Passing the result to a replacement changes nothing.
 * @throws ApiError RESOURCE_EXHAUSTED as for `Output`
 */
export function readProseMirror(doc: Y.Doc, contentKey: string, output = new Output()): JsonObject {
  const vocabulary = new ObservedSchema(contentKey, jsonValues)
  const marks = new MarkTable(vocabulary)
  const { root } = readTree(doc.share.get(contentKey), vocabulary, marks, new NodeInterner(), output)
  const writer = new NodeWriter(marks, output)
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
    const known = this.#sets.get(set)
    if (known !== undefined) return known
    const marks = this.#marks.formsOf(set).map((form) => this.#mark(form))
    this.#sets.set(set, marks)
    return marks
  }

  #mark(form: MarkForm): JsonObject {
    const known = this.#forms.get(form)
    if (known !== undefined) return known
    const { name, attributes } = form
    const type = storedName(name)
    const mark = attributes.length === 0 ? { type } : { type, attrs: this.#attrs(attributes) }
    this.#forms.set(form, mark)
    return mark
  }
}

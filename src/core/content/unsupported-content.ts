import * as Y from 'yjs'
import { ApiError } from '../base/errors.ts'
import { pointerOf } from './json/pointer.ts'
import { shownName } from './roots.ts'
import { type StoredForm, storedForm } from './stored/shared-values.ts'
import type { KnownKind, SharedRoot } from './yjs/root-kind.ts'

/**
 * Checks that the formats of a kind can represent everything in a root. A write would otherwise leave hidden
 * content next to the new one, or delete content that the caller has never seen. Takes one pass over the items.
 * @throws ApiError FAILED_PRECONDITION with the path of the first content that no format of the kind represents
 */
export function checkRepresentable(doc: Y.Doc, contentKey: string, kind: KnownKind): void {
  const root = doc.share.get(contentKey)
  const found = root === undefined ? null : new UnsupportedSearch().inType(root, shapes[kind])
  if (found === null) return
  const path = pointerOf(found.path)
  throw new ApiError(
    'crdt/unsupported-content',
    `the root ${shownName(contentKey)} has ${found.problem} at ${path}, which content of type "${kind}" cannot represent; change it with an editor or with /v2/crdt/apply`,
    { details: { path, type: kind } },
  )
}

/** What a shared type may contain so that a format can represent it. */
interface Shape {
  readonly name: string
  /** Whether it may have entries, such as the attributes of an element. */
  readonly entries: boolean
  readonly texts: boolean
  readonly embeds: boolean
  readonly values: boolean
  /** Returns the shape of a shared type in the sequence; null if the format does not represent it. */
  readonly child: (type: SharedRoot) => Shape | null
}

const none = { entries: false, texts: false, embeds: false, values: false, child: () => null }

const map: Shape = { ...none, name: 'a map', entries: true }
const array: Shape = { ...none, name: 'an array', values: true, child: (type) => shapeOfValue(type) }
const text: Shape = { ...none, name: 'a text', texts: true, embeds: true }
const xml: Shape = { ...none, name: 'XML', child: (type) => shapeInXml(type) }
const element: Shape = { ...xml, name: 'an element', entries: true }
const textInXml: Shape = { ...none, name: 'a text in XML', texts: true }
const xmlText: Shape = {
  name: 'a text',
  entries: true,
  texts: true,
  embeds: true,
  values: false,
  child: (type) => (isPlainMap(type) ? map : shapeInXmlText(type)),
}
const elementInText: Shape = { ...element, child: (type) => shapeInXmlText(type) }

const shapes: Readonly<Record<KnownKind, Shape>> = { map, array, text, xml, xmltext: xmlText }

const isPlainMap = (type: SharedRoot): boolean => type instanceof Y.Map && !(type instanceof Y.XmlHook)

function shapeInXml(type: SharedRoot): Shape | null {
  if (type instanceof Y.XmlText) return textInXml
  return type instanceof Y.XmlElement ? element : null
}

function shapeInXmlText(type: SharedRoot): Shape | null {
  if (type instanceof Y.XmlText) return xmlText
  return type instanceof Y.XmlElement ? elementInText : null
}

const shapesOfForms: Readonly<Partial<Record<StoredForm, Shape>>> = { map, array, text, xml }

/** Returns the shape of a shared type that is a value of a map or an array; null if JSON does not represent it. */
const shapeOfValue = (type: SharedRoot): Shape | null => shapesOfForms[storedForm(type)] ?? shapeInXml(type)

/** Content that no format represents. */
interface Unsupported {
  readonly path: readonly (string | number)[]
  readonly problem: string
}

class UnsupportedSearch {
  readonly #path: (string | number)[] = []

  inType(type: SharedRoot, shape: Shape): Unsupported | null {
    return this.#inEntries(type, shape) ?? this.#inSequence(type, shape)
  }

  #inEntries({ _map }: SharedRoot, { entries, name }: Shape): Unsupported | null {
    for (const [key, { deleted, content }] of _map) {
      if (deleted) continue
      this.#path.push(key.toWellFormed())
      const found = entries ? this.#inValue(content, shapeOfValue) : this.#problem(`an entry of ${name}`)
      if (found !== null) return found
      this.#path.pop()
    }
    return null
  }

  #inSequence({ _start }: SharedRoot, shape: Shape): Unsupported | null {
    let index = 0
    for (let item = _start; item !== null; item = item.right) {
      if (item.deleted) continue
      this.#path.push(index)
      const found = this.#inContent(item.content, shape)
      if (found !== null) return found
      this.#path.pop()
      if (item.countable) index += item.length
    }
    return null
  }

  #inContent(content: Y.Item['content'], { name, texts, embeds, values, child }: Shape): Unsupported | null {
    if (content instanceof Y.ContentType) return this.#inValue(content, child)
    if (content instanceof Y.ContentString || content instanceof Y.ContentFormat)
      return texts ? null : this.#problem(`text directly in ${name}`)
    if (content instanceof Y.ContentEmbed) return embeds ? null : this.#problem(`an embed in ${name}`)
    return values ? null : this.#problem(`a value in ${name}`)
  }

  #inValue(content: Y.Item['content'], shapeOf: Shape['child']): Unsupported | null {
    if (!(content instanceof Y.ContentType)) return null
    const { type } = content
    const shape = shapeOf(type)
    return shape === null
      ? this.#problem(`a shared value of the class ${type.constructor.name}`)
      : this.inType(type, shape)
  }

  #problem(problem: string): Unsupported {
    return { path: [...this.#path], problem }
  }
}

import { isJsonObject } from '../../base/json.ts'
import { limits } from '../../model/limits.ts'
import { contentLimit, invalidContent } from '../content-error.ts'
import { isObject, jsonTypeName } from '../json/json.ts'
import { JsonValidator, quotedName } from '../json/json-validator.ts'
import { nameless } from '../yjs/root-kind.ts'
import type { SharedElement, SharedNode, SharedText, TextPiece } from './nodes.ts'

/**
 * Checks the `data` of an xmltext target.
 * @throws ApiError INVALID_ARGUMENT with the position if the content is invalid; also if keys, depth or size
 * exceed the limits that apply to maps, or if more than 199 shared values are nested
 */
export const checkXmlText = (data: unknown): SharedText => new XmlTextValidator().text(data)

/**
 * Checks that a root with this content can later be recognized as a root of shared texts. The content must be
 * empty, or contain a text or a certain element: one without a name, or any element if the root has
 * attributes.
 * @throws ApiError INVALID_ARGUMENT if it cannot be recognized
 */
export function requireText(root: SharedText): void {
  const hasAttributes = Object.keys(root.attributes).length > 0
  const isEmpty = root.delta.length === 0 && !hasAttributes
  if (isEmpty || root.delta.some(({ insert }) => isEditorNode(insert, hasAttributes))) return
  throw invalidContent('data at /delta must hold a text, as the roots of Lexical and Slate do')
}

function isEditorNode(insert: TextPiece['insert'], inAttributed: boolean): boolean {
  if (typeof insert === 'string') return false
  return insert.kind === 'text' || (insert.kind === 'element' && (inAttributed || insert.name === nameless))
}

class XmlTextValidator extends JsonValidator {
  /** Number of shared values that contain the part that is read. */
  #depth = 0

  text(data: unknown): SharedText {
    const { attributes, delta } = this.#members(data, ['attributes', 'delta'])
    return {
      kind: 'text',
      attributes: this.object('attributes', attributes),
      delta: this.list('delta', delta, (piece) => this.#piece(piece)),
    }
  }

  #element(data: unknown): SharedElement {
    const { name, attributes, children } = this.#members(data, ['name', 'attributes', 'children'])
    if (typeof name !== 'string') throw this.problemAt('name', `must be a string, not ${jsonTypeName(name)}`)
    return {
      kind: 'element',
      name: name.toWellFormed(),
      attributes: this.object('attributes', attributes),
      children: this.list('children', children, (child) => this.#inElement(child)),
    }
  }

  #inElement = (data: unknown): SharedText | SharedElement =>
    this.#node(data, ['text', 'element']) as SharedText | SharedElement

  #piece(data: unknown): TextPiece {
    this.count()
    const { attributes, ...rest } = this.#members(data, ['attributes', 'insert', 'text', 'element', 'map'])
    const formatting = this.object('attributes', attributes)
    const set = Object.entries(formatting).filter(([, value]) => value !== null)
    return { insert: this.#insert(rest), formatting: Object.fromEntries(set) }
  }

  #insert(data: Record<string, unknown>): string | SharedNode {
    if (!('insert' in data)) return this.#node(data, ['text', 'element', 'map'])
    if (Object.keys(data).length > 1)
      throw this.problem('must have only one of insert, text, element and map')
    const { insert } = data
    if (typeof insert === 'string') return insert.toWellFormed()
    const json = this.within('insert', () => this.read(insert))
    if (isObject(json)) return { kind: 'embed', value: json }
    throw this.problemAt('insert', `must be a string or an object, not ${jsonTypeName(json)}`)
  }

  #node(data: unknown, kinds: readonly string[]): SharedNode {
    const [found, ...others] = Object.entries(this.#members(data, kinds))
    if (found === undefined || others.length > 0) throw this.problem(`must have one of ${kinds.join(', ')}`)
    const [kind, value] = found
    this.count()
    this.#depth += 1
    if (this.#depth >= limits.typeDepth) throw tooDeep()
    const node = this.#nodeOf(kind, value)
    this.#depth -= 1
    return node
  }

  #nodeOf(kind: string, value: unknown): SharedNode {
    if (kind === 'map') return { kind: 'map', value: this.object('map', value) }
    return this.within(kind, () => (kind === 'text' ? this.text(value) : this.#element(value)))
  }

  /** Returns the members of an object. Rejects an object with any other member. */
  #members(data: unknown, names: readonly string[]): Record<string, unknown> {
    if (!isJsonObject(data))
      throw this.problem(`must be an object with ${names.join(', ')}, not ${jsonTypeName(data)}`)
    const unknown = Object.keys(data).find((name) => !names.includes(name))
    if (unknown === undefined) return { ...data }
    throw this.problem(`must have ${names.join(', ')}, not ${quotedName(unknown)}`)
  }
}

const tooDeep = (): Error =>
  contentLimit(`data must have shared values at most ${limits.typeDepth - 1} deep; they are deeper`)

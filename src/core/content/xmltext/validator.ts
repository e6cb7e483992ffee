import { limits } from '../../model/limits.ts'
import { contentLimit, invalidContent } from '../content-error.ts'
import { isObject, type Json, type JsonObject, jsonTypeName } from '../json/json.ts'
import { JsonValidator } from '../json/json-validator.ts'
import { pointerTo } from '../json/pointer.ts'
import { nameless } from '../yjs/root-kind.ts'
import type { SharedElement, SharedNode, SharedText, TextPiece } from './nodes.ts'

/** A position in the data, described by the position around it and the step from there. */
interface ValidatedPosition {
  readonly around: ValidatedPosition | null
  readonly step: string | number
  /** Number of shared values that contain the position. */
  readonly depth: number
}

const within = (around: ValidatedPosition | null, step: string | number, deeper = 0): ValidatedPosition => ({
  around,
  step,
  depth: (around?.depth ?? 0) + deeper,
})

function pathTo(place: ValidatedPosition | null): (string | number)[] {
  const path: (string | number)[] = []
  for (let at = place; at !== null; at = at.around) path.push(at.step)
  return path.reverse()
}

/**
 * Checks the `data` of an xmltext target.
 * @throws ApiError INVALID_ARGUMENT with the position if the content is invalid; also if keys, depth or size
 * exceed the limits that apply to maps, or if more than 199 shared values are nested
 */
export const checkXmlText = (data: unknown): SharedText => new XmlTextValidator().text(data, null)

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
  throw refused(within(null, 'delta'), 'must hold a text, as the roots of Lexical and Slate do')
}

function isEditorNode(insert: TextPiece['insert'], inAttributed: boolean): boolean {
  if (typeof insert === 'string') return false
  return insert.kind === 'text' || (insert.kind === 'element' && (inAttributed || insert.name === nameless))
}

class XmlTextValidator {
  readonly #json = new JsonValidator()

  text(data: unknown, place: ValidatedPosition | null): SharedText {
    const { attributes, delta } = this.#members(data, place, ['attributes', 'delta'])
    const pieces = this.#list(delta, within(place, 'delta'))
    return {
      kind: 'text',
      attributes: this.#named(attributes, within(place, 'attributes')),
      delta: pieces.map((piece, index) => this.#piece(piece, within(within(place, 'delta'), index))),
    }
  }

  #element(data: unknown, place: ValidatedPosition | null): SharedElement {
    const { name, attributes, children } = this.#members(data, place, ['name', 'attributes', 'children'])
    if (typeof name !== 'string')
      throw refused(within(place, 'name'), `must be a string, not ${jsonTypeName(name)}`)
    return {
      kind: 'element',
      name: name.toWellFormed(),
      attributes: this.#named(attributes, within(place, 'attributes')),
      children: this.#list(children, within(place, 'children')).map((child, index) => {
        const node = this.#node(child, within(within(place, 'children'), index), ['text', 'element'])
        return node as SharedText | SharedElement
      }),
    }
  }

  #piece(data: unknown, place: ValidatedPosition | null): TextPiece {
    this.#json.count()
    const { attributes, ...rest } = this.#members(data, place, [
      'attributes',
      'insert',
      'text',
      'element',
      'map',
    ])
    const formatting = this.#named(attributes, within(place, 'attributes'))
    const set = Object.entries(formatting).filter(([, value]) => value !== null)
    return { insert: this.#insert(rest, place), formatting: Object.fromEntries(set) }
  }

  #insert(data: Record<string, unknown>, place: ValidatedPosition | null): string | SharedNode {
    if (!('insert' in data)) return this.#node(data, place, ['text', 'element', 'map'])
    if (Object.keys(data).length > 1)
      throw refused(place, 'must have only one of insert, text, element and map')
    if (typeof data.insert === 'string') return data.insert.toWellFormed()
    const json = this.#json.read(data.insert, pathTo(within(place, 'insert')))
    if (isObject(json)) return { kind: 'embed', value: json }
    throw refused(within(place, 'insert'), `must be a string or an object, not ${jsonTypeName(json)}`)
  }

  #node(data: unknown, place: ValidatedPosition | null, kinds: readonly string[]): SharedNode {
    const [found, ...others] = Object.entries(this.#members(data, place, kinds))
    if (found === undefined || others.length > 0) throw refused(place, `must have one of ${kinds.join(', ')}`)
    const [kind, value] = found
    this.#json.count()
    const inside = within(place, kind, 1)
    if (inside.depth >= limits.typeDepth) throw tooDeep()
    if (kind === 'text') return this.text(value, inside)
    if (kind === 'element') return this.#element(value, inside)
    return { kind: 'map', value: this.#named(value, within(place, kind)) }
  }

  /** Returns the members of an object. Rejects an object with any other member. */
  #members(
    data: unknown,
    place: ValidatedPosition | null,
    names: readonly string[],
  ): Record<string, unknown> {
    if (typeof data !== 'object' || data === null || Array.isArray(data)) {
      throw refused(place, `must be an object with ${names.join(', ')}, not ${jsonTypeName(data)}`)
    }
    const unknown = Object.keys(data).find((name) => !names.includes(name))
    if (unknown !== undefined) {
      throw refused(
        place,
        `must have ${names.join(', ')}, not ${JSON.stringify(unknown.slice(0, 50).toWellFormed())}`,
      )
    }
    return { ...data }
  }

  #list(data: unknown, place: ValidatedPosition | null): readonly unknown[] {
    if (data === undefined) return []
    if (Array.isArray(data)) return data
    throw refused(place, `must be an array, not ${jsonTypeName(data)}`)
  }

  /** Returns the entries of a shared map, or the attributes of a text or element. */
  #named(data: unknown, place: ValidatedPosition | null): JsonObject {
    if (data === undefined) return {}
    const json: Json = typeof data === 'object' ? this.#json.read(data, pathTo(place)) : null
    if (!isObject(json)) throw refused(place, `must be an object, not ${jsonTypeName(data)}`)
    return json
  }
}

const refused = (place: ValidatedPosition | null, problem: string): Error =>
  invalidContent(`${pointerTo(pathTo(place))}: ${problem}`)

const tooDeep = (): Error =>
  contentLimit(`data must have shared values at most ${limits.typeDepth - 1} deep; they are deeper`)

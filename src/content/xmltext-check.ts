import { invalid } from '../errors.ts'
import { limits } from '../model/limits.ts'
import { isObject, type Json, type JsonObject, nameOf } from './json.ts'
import { JsonReader, pointerTo } from './json-check.ts'
import { nameless } from './kind.ts'
import type { SharedElement, SharedNode, SharedText, TextPiece } from './xmltext-data.ts'

/** A place in the data: a step from the place around it. */
interface Place {
  readonly around: Place | null
  readonly step: string | number
  /** Shared values around it. */
  readonly depth: number
}

const within = (around: Place | null, step: string | number, deeper = 0): Place => ({
  around,
  step,
  depth: (around?.depth ?? 0) + deeper,
})

function pathTo(place: Place | null): (string | number)[] {
  const path: (string | number)[] = []
  for (let at = place; at !== null; at = at.around) path.push(at.step)
  return path.reverse()
}

/**
 * The `data` of an xmltext target. Throws INVALID_ARGUMENT naming the place of what is no such thing, and for keys,
 * depths and sizes as in maps; shared values are nested at most 199 deep. A root that holds anything holds a text, or an
 * element that has no name or stands beside attributes of the root: what it is must be seen later on.
 */
export function checkXmlText(data: unknown): SharedText {
  const root = new Checker().text(data, null)
  const hasAttributes = Object.keys(root.attributes).length > 0
  const isEmpty = root.delta.length === 0 && !hasAttributes
  if (isEmpty || root.delta.some(({ insert }) => isEditorNode(insert, hasAttributes))) return root
  throw refused(within(null, 'delta'), 'must hold a text, as the roots of Lexical and Slate do')
}

function isEditorNode(insert: TextPiece['insert'], inAttributed: boolean): boolean {
  if (typeof insert === 'string') return false
  return insert.kind === 'text' || (insert.kind === 'element' && (inAttributed || insert.name === nameless))
}

class Checker {
  readonly #json = new JsonReader()

  text(data: unknown, place: Place | null): SharedText {
    const { attributes, delta } = this.#members(data, place, ['attributes', 'delta'])
    const pieces = this.#list(delta, within(place, 'delta'))
    return {
      kind: 'text',
      attributes: this.#named(attributes, within(place, 'attributes')),
      delta: pieces.map((piece, index) => this.#piece(piece, within(within(place, 'delta'), index))),
    }
  }

  #element(data: unknown, place: Place | null): SharedElement {
    const { name, attributes, children } = this.#members(data, place, ['name', 'attributes', 'children'])
    if (typeof name !== 'string')
      throw refused(within(place, 'name'), `must be a string, not ${nameOf(name)}`)
    checkName(name, within(place, 'name'))
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

  #piece(data: unknown, place: Place | null): TextPiece {
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

  #insert(data: Record<string, unknown>, place: Place | null): string | SharedNode {
    if (!('insert' in data)) return this.#node(data, place, ['text', 'element', 'map'])
    if (Object.keys(data).length > 1)
      throw refused(place, 'must have only one of insert, text, element and map')
    if (typeof data.insert === 'string') return data.insert.toWellFormed()
    const json = this.#json.read(data.insert, pathTo(within(place, 'insert')))
    if (isObject(json)) return { kind: 'embed', value: json }
    throw refused(within(place, 'insert'), `must be a string or an object, not ${nameOf(json)}`)
  }

  #node(data: unknown, place: Place | null, kinds: readonly string[]): SharedNode {
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

  /** The members of an object that has no others than these. */
  #members(data: unknown, place: Place | null, names: readonly string[]): Record<string, unknown> {
    if (typeof data !== 'object' || data === null || Array.isArray(data)) {
      throw refused(place, `must be an object with ${names.join(', ')}, not ${nameOf(data)}`)
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

  #list(data: unknown, place: Place | null): readonly unknown[] {
    if (data === undefined) return []
    if (Array.isArray(data)) return data
    throw refused(place, `must be an array, not ${nameOf(data)}`)
  }

  /** A JSON object whose keys can be names. */
  #named(data: unknown, place: Place | null): JsonObject {
    if (data === undefined) return {}
    const json: Json = typeof data === 'object' ? this.#json.read(data, pathTo(place)) : null
    if (!isObject(json)) throw refused(place, `must be an object, not ${nameOf(data)}`)
    for (const name of Object.keys(json)) checkName(name, place)
    return json
  }
}

function checkName({ length }: string, place: Place | null): void {
  if (length >= 1 && length <= limits.nameLength) return
  throw refused(place, `names must have 1 to ${limits.nameLength} characters; one has ${length}`)
}

const refused = (place: Place | null, problem: string): Error =>
  invalid(`${pointerTo(pathTo(place))}: ${problem}`)

const tooDeep = (): Error =>
  invalid(`data must have shared values at most ${limits.typeDepth - 1} deep; they are deeper`)

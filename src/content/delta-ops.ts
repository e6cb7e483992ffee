import { invalid } from '../errors.ts'
import { limits } from '../model/limits.ts'
import { type Formats, type FormattedText, FormattedTextBuilder } from './delta-state.ts'
import { isObject, type Json, type JsonObject, nameOf } from './json.ts'
import { JsonReader } from './json-check.ts'

/** One operation of a delta that is a whole content: text or an embed, with attributes if it has any. */
export interface DeltaOp {
  readonly insert: string | JsonObject
  readonly attributes?: JsonObject
}

/**
 * The `data` of a delta target: a Quill delta of inserts, as array of operations or as `{ ops }`. Unpaired surrogates
 * become U+FFFD, attributes that are null are none, an empty text is nothing. Throws INVALID_ARGUMENT naming the
 * operation that is not one, and for keys and sizes as in maps.
 */
export function checkDelta(data: unknown): readonly DeltaOp[] {
  const ops = Array.isArray(data) ? data : opsIn(data)
  const reader = new JsonReader()
  return Array.from(ops, (op: unknown, index) => new OpReader(reader, index).read(op))
}

function opsIn(data: unknown): readonly unknown[] {
  if (typeof data === 'object' && data !== null && 'ops' in data) {
    const unknown = Object.keys(data).find((key) => key !== 'ops')
    if (unknown !== undefined) throw invalid(`data must have nothing but ops; it has ${shown(unknown)}`)
    if (Array.isArray(data.ops)) return data.ops
    throw invalid(`data.ops must be an array, not ${nameOf(data.ops)}`)
  }
  throw invalid(
    `data must be a Quill delta for type "delta", an array of operations or { "ops": [...] }, not ${nameOf(data)}`,
  )
}

const shown = (key: string): string => JSON.stringify(key.slice(0, 50).toWellFormed())

class OpReader {
  readonly #reader: JsonReader
  readonly #index: number

  constructor(reader: JsonReader, index: number) {
    this.#reader = reader
    this.#index = index
  }

  read(op: unknown): DeltaOp {
    this.#reader.count()
    if (typeof op !== 'object' || op === null || Array.isArray(op)) {
      throw this.#refusal(`must be an object with insert, not ${nameOf(op)}`)
    }
    const { insert, attributes, ...rest } = op as Record<string, unknown>
    for (const name of ['retain', 'delete']) {
      if (name in rest) throw this.#refusal(`is a ${name}: data is the whole content, so it has only inserts`)
    }
    for (const name of Object.keys(rest))
      throw this.#refusal(`must have insert and attributes, not ${shown(name)}`)
    const read = this.#insert(insert)
    const set = this.#attributes(attributes)
    return set === null ? { insert: read } : { insert: read, attributes: set }
  }

  #insert(insert: unknown): string | JsonObject {
    if (typeof insert === 'string') return insert.toWellFormed()
    const embed = typeof insert === 'object' ? this.#json(insert, 'insert') : null
    if (embed === null || !isObject(embed)) {
      throw this.#refusal(`must insert a string or an embed (an object), not ${nameOf(insert)}`)
    }
    return embed
  }

  /** Null when there are none. */
  #attributes(attributes: unknown): JsonObject | null {
    if (attributes === undefined || attributes === null) return null
    const json = typeof attributes === 'object' ? this.#json(attributes, 'attributes') : null
    if (json === null || !isObject(json)) {
      throw this.#refusal(`must have an object as attributes, not ${nameOf(attributes)}`)
    }
    const entries = Object.entries(json).filter(([key, value]) => this.#checkName(key) && value !== null)
    return entries.length === 0 ? null : Object.fromEntries(entries)
  }

  #checkName({ length }: string): true {
    if (length >= 1 && length <= limits.nameLength) return true
    throw this.#refusal(
      `has an attribute whose name has not 1 to ${limits.nameLength} characters; it has ${length}`,
    )
  }

  #json = (value: unknown, name: string): Json => this.#reader.read(value, [this.#index, name])

  #refusal = (what: string): Error => invalid(`operation ${this.#index} of data ${what}`)
}

/** The content as one string. */
export function formattedTextOf(ops: readonly DeltaOp[], formats: Formats): FormattedText {
  const content = new FormattedTextBuilder(formats)
  for (const { insert, attributes = {} } of ops) content.add(insert, formats.of(attributes))
  return content
}

/** The operations that make a content: neighbours with the same attributes are one, an embed is always one. */
export function opsOf({ text, runs, embeds }: FormattedText, formats: Formats): DeltaOp[] {
  const ops: DeltaOp[] = []
  const embedsAt = [...embeds.keys()]
  let next = 0
  for (const [index, { start, format }] of runs.entries()) {
    const { attributes } = formats.get(format)
    const add = (insert: DeltaOp['insert']): unknown =>
      ops.push(Object.keys(attributes).length === 0 ? { insert } : { insert, attributes })
    const end = runs[index + 1]?.start ?? text.length
    let at = start
    for (let embed = embedsAt[next]; embed !== undefined && embed < end; embed = embedsAt[++next]) {
      if (embed > at) add(text.slice(at, embed).toWellFormed())
      add(embeds.get(embed) as JsonObject)
      at = embed + 1
    }
    if (end > at) add(text.slice(at, end).toWellFormed())
  }
  return ops
}

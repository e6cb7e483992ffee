import { isJsonObject } from '../../base/json.ts'
import { invalidContent } from '../content-error.ts'
import { isObject, type Json, type JsonObject, jsonTypeName } from '../json/json.ts'
import { JsonValidator } from '../json/json-validator.ts'
import { type FormatTable, type FormattedText, FormattedTextBuilder } from './formatted-text.ts'

/**
 * One operation of a delta that describes a whole content. It inserts a text or an embed, with its attributes
 * if it has any.
 */
export interface DeltaInsert {
  readonly insert: string | JsonObject
  readonly attributes?: JsonObject
}

/**
 * Checks the `data` of a delta target. The data must be a Quill delta of inserts: an array of operations, or
 * `{ ops }`. Unpaired surrogates become U+FFFD, attributes that are null count as absent, and empty texts are
 * dropped.
 * @throws ApiError INVALID_ARGUMENT with the position, if an operation is invalid, or if `JsonValidator`
 * rejects an embed or an attribute
 */
export function checkDelta(data: unknown): readonly DeltaInsert[] {
  const ops = Array.isArray(data) ? data : opsIn(data)
  const reader = new JsonValidator()
  return Array.from(ops, (op: unknown, index) => new OpReader(reader, index).read(op))
}

function opsIn(data: unknown): readonly unknown[] {
  if (typeof data === 'object' && data !== null && 'ops' in data) {
    const unknown = Object.keys(data).find((key) => key !== 'ops')
    if (unknown !== undefined)
      throw invalidContent(`data must have nothing but ops; it has ${shown(unknown)}`)
    if (Array.isArray(data.ops)) return data.ops
    throw invalidContent(`data.ops must be an array, not ${jsonTypeName(data.ops)}`)
  }
  throw invalidContent(
    `data must be a Quill delta for type "delta", an array of operations or { "ops": [...] }, not ${jsonTypeName(data)}`,
  )
}

const shown = (key: string): string => JSON.stringify(key.slice(0, 50).toWellFormed())

class OpReader {
  readonly #reader: JsonValidator
  readonly #index: number

  constructor(reader: JsonValidator, index: number) {
    this.#reader = reader
    this.#index = index
  }

  read(op: unknown): DeltaInsert {
    this.#reader.count()
    if (!isJsonObject(op)) {
      throw this.#refusal(`must be an object with insert, not ${jsonTypeName(op)}`)
    }
    const { insert, attributes, ...rest } = op
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
      throw this.#refusal(`must insert a string or an embed (an object), not ${jsonTypeName(insert)}`)
    }
    return embed
  }

  /** Returns the attributes; null if there are none. */
  #attributes(attributes: unknown): JsonObject | null {
    if (attributes === undefined || attributes === null) return null
    const json = typeof attributes === 'object' ? this.#json(attributes, 'attributes') : null
    if (json === null || !isObject(json)) {
      throw this.#refusal(`must have an object as attributes, not ${jsonTypeName(attributes)}`)
    }
    const entries = Object.entries(json).filter(([, value]) => value !== null)
    return entries.length === 0 ? null : Object.fromEntries(entries)
  }

  #json = (value: unknown, name: string): Json => this.#reader.read(value, [this.#index, name])

  #refusal = (what: string): Error => invalidContent(`operation ${this.#index} of data ${what}`)
}

/** Converts the operations of a delta to a formatted text. */
export function formattedTextOf(ops: readonly DeltaInsert[], formats: FormatTable): FormattedText {
  const content = new FormattedTextBuilder(formats)
  for (const { insert, attributes = {} } of ops) content.add(insert, formats.of(attributes))
  return content
}

/**
 * Converts a formatted text to the operations of a delta. Adjacent texts with the same attributes are joined;
 * an embed is always a separate operation.
 */
export function toInserts({ text, runs, embeds }: FormattedText, formats: FormatTable): DeltaInsert[] {
  const ops: DeltaInsert[] = []
  const embedsAt = [...embeds]
  let next = 0
  for (const [index, { start, format }] of runs.entries()) {
    const { attributes } = formats.get(format)
    const add = (insert: DeltaInsert['insert']): unknown =>
      ops.push(Object.keys(attributes).length === 0 ? { insert } : { insert, attributes })
    const end = runs[index + 1]?.start ?? text.length
    let at = start
    for (let each = embedsAt[next]; each !== undefined && each[0] < end; each = embedsAt[++next]) {
      const [embedAt, embed] = each
      if (embedAt > at) add(text.slice(at, embedAt).toWellFormed())
      add(embed)
      at = embedAt + 1
    }
    if (end > at) add(text.slice(at, end).toWellFormed())
  }
  return ops
}

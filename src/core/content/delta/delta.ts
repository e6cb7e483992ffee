import * as Y from 'yjs'
import { isJsonObject } from '../../base/json.ts'
import { invalidContent } from '../content-error.ts'
import { isObject, type Json, type JsonObject, jsonTypeName } from '../json/json.ts'
import { JsonValidator, quotedName } from '../json/json-validator.ts'
import type { Output } from '../output.ts'
import { cleanupFormatting } from '../yjs/cleanup-formatting.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import { applyToRoot, type PlannedUpdate, type RootReplacement } from '../yjs/root-replacement.ts'
import {
  FormatTable,
  type FormattedTarget,
  type FormattedText,
  FormattedTextBuilder,
  type FormattedTextState,
  piecesOf,
  readFormatted,
  tooManyAttributes,
} from './formatted-text.ts'
import { planDelta } from './plan.ts'

/**
 * Budget of the cleanup of formatting. Each item costs one, plus one for each attribute that is active at the
 * item. The whole budget takes about 0.1 s.
 */
const tidiedMax = 5_000_000

/**
 * Reads a text root as a Quill delta. The delta is exactly the stored content, without the final line break
 * that Quill adds for display. `replaceDelta` with this delta would change nothing.
 * @throws ApiError INVALID_ARGUMENT if the root has more than 200,000 attributes
 */
export function readDelta(doc: Y.Doc, contentKey: string, output?: Output): readonly DeltaInsert[] {
  const formats = new FormatTable()
  const stored = readFormatted(doc.share.get(contentKey), formats, output)
  if (!stored.complete) throw tooManyAttributes()
  return toInserts(stored.content, formats)
}

/**
 * Makes text, attributes and embeds of the root `contentKey` equal to `target`. Equal parts stay, the
 * attributes of text that stays are changed in place, and an embed that differs is replaced. If the root is
 * already equal, nothing changes. The root keeps its Yjs type.
 */
export function replaceDelta(
  doc: Y.Doc,
  contentKey: string,
  target: readonly DeltaInsert[],
): RootReplacement {
  return applyToRoot(
    doc,
    contentKey,
    planFormattedText(doc.share.get(contentKey), (formats) => formattedTextOf(target, formats)),
  )
}

/**
 * Makes the root equal to the same root of another document, like `replaceDelta`.
 * @throws ApiError INVALID_ARGUMENT as for `readDelta`
 */
export const restoreDelta = (doc: Y.Doc, contentKey: string, past: Y.Doc): RootReplacement =>
  applyToRoot(doc, contentKey, planFormatted(doc.share.get(contentKey), past.share.get(contentKey)))

/**
 * Compares a text (a root or a nested text) with a past text, and changes neither of them. Returns the update
 * that makes the text equal to the past text; null if both are equal.
 */
export const planFormatted = (
  type: SharedRoot | undefined,
  past: SharedRoot | undefined,
): PlannedUpdate | null =>
  planFormattedText(type, (formats) => {
    const { content, complete } = readFormatted(past, formats)
    if (!complete) throw tooManyAttributes()
    return content
  })

/**
 * Compares a text with a target, which may be derived from the stored text. Adds the values of the document to
 * the format table before the values of the target, so that equal values of the document are reused.
 */
export function planFormattedText(
  type: SharedRoot | undefined,
  targetIn: (formats: FormatTable, stored: FormattedTextState) => FormattedTarget,
): PlannedUpdate | null {
  const formats = new FormatTable()
  const stored = readFormatted(type, formats)
  const { operations, insertions, deletions } = planDelta(stored, targetIn(formats, stored), formats)
  if (operations.length === 0) return null
  return (_, live) => {
    Y.Text.prototype.applyDelta.call(live, operations)
    cleanupFormatting(live, { tidyLeft: tidiedMax })
    return { changed: true, insertions, deletions }
  }
}

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
  const reader = new OpReader()
  return Array.from(ops, (op: unknown, index) => reader.readAt(op, index))
}

function opsIn(data: unknown): readonly unknown[] {
  if (typeof data === 'object' && data !== null && 'ops' in data) {
    const unknown = Object.keys(data).find((key) => key !== 'ops')
    if (unknown !== undefined)
      throw invalidContent(`data must have nothing but ops; it has ${quotedName(unknown)}`)
    if (Array.isArray(data.ops)) return data.ops
    throw invalidContent(`data.ops must be an array, not ${jsonTypeName(data.ops)}`)
  }
  throw invalidContent(
    `data must be a Quill delta for type "delta", an array of operations or { "ops": [...] }, not ${jsonTypeName(data)}`,
  )
}

/** Reads the operations of one delta. */
class OpReader extends JsonValidator {
  #index = 0

  readAt(op: unknown, index: number): DeltaInsert {
    this.#index = index
    this.count()
    if (!isJsonObject(op)) {
      throw this.#refusal(`must be an object with insert, not ${jsonTypeName(op)}`)
    }
    const { insert, attributes, ...rest } = op
    for (const name of ['retain', 'delete']) {
      if (name in rest) throw this.#refusal(`is a ${name}: data is the whole content, so it has only inserts`)
    }
    for (const name of Object.keys(rest))
      throw this.#refusal(`must have insert and attributes, not ${quotedName(name)}`)
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

  #json = (value: unknown, name: string): Json =>
    this.within(this.#index, () => this.within(name, () => this.read(value)))

  #refusal = (what: string): Error => invalidContent(`operation ${this.#index} of data ${what}`)
}

/** Converts the operations of a delta to a formatted text. */
function formattedTextOf(ops: readonly DeltaInsert[], formats: FormatTable): FormattedText {
  const content = new FormattedTextBuilder(formats)
  for (const { insert, attributes = {} } of ops) content.add(insert, formats.of(attributes))
  return content
}

/**
 * Converts a formatted text to the operations of a delta. Adjacent texts with the same attributes are joined;
 * an embed is always a separate operation.
 */
function toInserts(content: FormattedText, formats: FormatTable): DeltaInsert[] {
  const ops: DeltaInsert[] = []
  for (const { insert, format } of piecesOf(content)) {
    const { attributes } = formats.get(format)
    const shown = typeof insert === 'string' ? insert.toWellFormed() : insert
    ops.push(Object.keys(attributes).length === 0 ? { insert: shown } : { insert: shown, attributes })
  }
  return ops
}

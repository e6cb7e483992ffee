import * as Y from 'yjs'
import { limits } from '../../model/limits.ts'
import { contentLimit } from '../content-error.ts'
import { isObject, type Json, JsonInterner, type JsonObject, toJson } from '../json/json.ts'
import { Output } from '../output.ts'
import { readStoredValue } from '../stored/shared-values.ts'
import type { DeltaAttributes } from '../text/operations.ts'
import { markUnpaired, runIndexAtOffset } from '../text/text-state.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'

/** A range of text with one set of attributes. The range ends at the start of the next range. */
export interface FormattedRun {
  readonly start: number
  /** Number of the attribute set in the format table. */
  readonly format: number
}

/**
 * Formatted text as one string. Each embed is one character of the string: an unpaired low surrogate, which
 * no text contains. Equal embeds have equal characters. Different embeds rarely have equal characters.
 */
export interface FormattedText {
  readonly text: string
  readonly runs: readonly FormattedRun[]
  /** Embeds by offset. */
  readonly embeds: ReadonlyMap<number, JsonObject>
}

/** Text or an embed with one set of attributes. */
export interface FormattedPiece {
  readonly insert: string | JsonObject
  readonly format: number
  /** Offset in the text. */
  readonly at: number
}

/** Yields the content between two offsets in parts: each embed alone, and each text with one set of attributes. */
export function* piecesOf(
  { text, runs, embeds }: FormattedText,
  start = 0,
  end = text.length,
): Generator<FormattedPiece> {
  for (let index = runIndexAtOffset(runs, start); index < runs.length; index++) {
    const { start: runStart, format } = runs[index] as FormattedRun
    const runEnd = Math.min(end, runs[index + 1]?.start ?? end)
    for (let at = Math.max(start, runStart); at < runEnd; ) {
      const embed = embeds.get(at)
      const next = embed === undefined ? endOfText(text, embeds, at, runEnd) : at + 1
      yield { insert: embed ?? text.slice(at, next), format, at }
      at = next
    }
  }
}

/** Returns the offset of the next embed after `at`, or `end`. An embed is an unpaired low surrogate. */
function endOfText(text: string, embeds: FormattedText['embeds'], at: number, end: number): number {
  if (embeds.size === 0) return end
  let next = at + 1
  while (next < end && !((text.charCodeAt(next) & 0xfc00) === 0xdc00 && embeds.has(next))) next += 1
  return next
}

/** The text that a stored text must become. */
export interface FormattedTarget extends FormattedText {
  /**
   * Returns the format of text that stays, at an offset of the target; default: that of the target.
   * @param from the stored format
   * @param to the format of the target
   */
  readonly keptFormat?: (from: number, to: number, targetAt: number) => number
  /** The range that may differ, in the stored text and in the target; default: everything. */
  readonly changed?: { readonly start: number; readonly end: number; readonly targetEnd: number }
}

/** An attribute set in two forms: as it is in `data`, and with the values that the document stores. */
interface FormatValue {
  readonly attributes: JsonObject
  readonly stored: ReadonlyMap<string, unknown>
}

const firstPlaceholder = 0xdc00
const placeholders = 1023
/** Character that stands for each unpaired surrogate of the document. */
const unpairedPlaceholder = '\udfff'

/** Assigns numbers to attribute sets and embeds. All texts that are compared use one table. */
export class FormatTable {
  readonly #numbers = new JsonInterner()
  readonly #formats = new Map<number, FormatValue>()
  readonly #values = new Map<number, unknown>()

  constructor() {
    this.of({})
  }

  /** Returns the number of an attribute set; 0 for the empty set. */
  of(attributes: JsonObject): number {
    const number = this.#numbers.of(attributes)
    if (!this.#formats.has(number)) {
      const entries = Object.entries(attributes).map(([key, value]) => [key, this.#stored(value)] as const)
      this.#formats.set(number, { attributes, stored: new Map(entries) })
    }
    return number
  }

  get(number: number): FormatValue {
    return this.#formats.get(number) as FormatValue
  }

  /** Returns the attributes of new text that has the format `number`. */
  attributesOf(number: number): DeltaAttributes {
    return Object.fromEntries(this.get(number).stored)
  }

  /** Returns the attributes to set on a text whose format changes. The value null removes an attribute. */
  change(from: number, to: number): DeltaAttributes {
    const change: DeltaAttributes = Object.create(null)
    if (from === to) return change
    const [before, after] = [this.get(from), this.get(to)]
    for (const key of before.stored.keys()) if (!after.stored.has(key)) change[key] = null
    for (const [key, value] of after.stored) {
      const same =
        before.stored.has(key) && this.same(before.attributes[key] ?? null, after.attributes[key] ?? null)
      if (!same) change[key] = value
    }
    return change
  }

  /**
   * Adds a value as the document stores it. Yjs compares nested values by identity. Therefore the values of
   * the document must be added before the values of the target, so that equal values of the target use the
   * stored values.
   */
  note(value: Json, stored: unknown): void {
    const number = this.#numbers.of(value)
    if (!this.#values.has(number)) this.#values.set(number, stored)
  }

  same = (a: Json, b: Json): boolean => this.#numbers.of(a) === this.#numbers.of(b)

  placeholderOf = (embed: JsonObject): string =>
    String.fromCharCode(firstPlaceholder + (this.#numbers.of(embed) % placeholders))

  #stored(value: Json): unknown {
    const number = this.#numbers.of(value)
    return this.#values.has(number) ? this.#values.get(number) : value
  }
}

export class FormattedTextBuilder implements FormattedText {
  readonly runs: FormattedRun[] = []
  readonly embeds = new Map<number, JsonObject>()
  readonly #formats: FormatTable
  #parts: string[] = []
  #length = 0

  constructor(formats: FormatTable) {
    this.#formats = formats
  }

  /** The whole text. The parts are joined only once, because the text is read often. */
  get text(): string {
    if (this.#parts.length > 1) this.#parts = [this.#parts.join('')]
    return this.#parts[0] ?? ''
  }

  get length(): number {
    return this.#length
  }

  add(insert: string | JsonObject, format: number): void {
    if (insert === '') return
    if (this.runs.at(-1)?.format !== format) this.runs.push({ start: this.#length, format })
    if (typeof insert !== 'string') this.embeds.set(this.#length, insert)
    const part =
      typeof insert === 'string'
        ? markUnpaired(insert, unpairedPlaceholder)
        : this.#formats.placeholderOf(insert)
    this.#parts.push(part)
    this.#length += part.length
  }
}

/** The content of a text root. It is read without changing the root. */
export interface FormattedTextState {
  readonly content: FormattedText
  /**
   * Positions of items that are neither text nor embeds. They are not shown, and a replacement does not
   * delete them.
   */
  readonly hidden: readonly { readonly at: number; readonly length: number }[]
  readonly items: number
  /**
   * False if the attributes of all ranges together have more than 200,000 values. Some attributes are then
   * missing.
   */
  readonly complete: boolean
}

/**
 * Reads a text root.
 * @throws ApiError RESOURCE_EXHAUSTED as for `Output`
 */
export function readFormatted(
  root: SharedRoot | undefined,
  formats: FormatTable,
  output = new Output(),
): FormattedTextState {
  const content = new FormattedTextBuilder(formats)
  const hidden: { at: number; length: number }[] = []
  const attributes = new CurrentAttributes(formats, newAttributeBudget())
  let items = 0
  for (let item = root?._start ?? null; item !== null; item = item.right) {
    items += 1
    if (item.deleted) continue
    const insert = insertOf(item.content, output)
    if (item.content instanceof Y.ContentFormat) attributes.change(item.content.key, item.content.value)
    else if (insert !== null) content.add(insert, attributes.format())
    else if (item.countable) hidden.push({ at: content.length, length: item.length })
  }
  return { content, hidden, items, complete: attributes.complete }
}

/**
 * Returns the text or embed of an item; null for any other content. An embed that is not an object is wrapped
 * in an object, because embeds in Quill are objects.
 */
function insertOf(content: Y.Item['content'], output: Output): string | JsonObject | null {
  if (content instanceof Y.ContentString) return content.str
  if (!(content instanceof Y.ContentEmbed || content instanceof Y.ContentType)) return null
  const json = readStoredValue(content.getContent()[0], output)?.json ?? null
  return isObject(json) ? json : { embed: json }
}

/**
 * Number of attribute values that may still be listed. Each range counts all its attributes. The number is
 * negative if the limit was exceeded.
 */
interface AttributeBudget {
  left: number
}

export const newAttributeBudget = (): AttributeBudget => ({ left: limits.nodes })

/** The attributes at the current position during a pass over a text. */
export class CurrentAttributes {
  readonly #formats: FormatTable
  readonly #listing: AttributeBudget
  readonly #current = new Map<string, Json>()
  #format: number | null = null

  constructor(formats: FormatTable, listing: AttributeBudget) {
    this.#formats = formats
    this.#listing = listing
  }

  get complete(): boolean {
    return this.#listing.left >= 0
  }

  change(key: string, stored: unknown): void {
    const value = toJson(stored) ?? null
    this.#format = null
    if (value === null) this.#current.delete(key)
    else {
      this.#formats.note(value, stored)
      this.#current.set(key, value)
    }
  }

  format(): number {
    if (this.#format !== null) return this.#format
    if (this.complete) this.#listing.left -= this.#current.size
    this.#format = this.#formats.of(this.complete ? Object.fromEntries(this.#current) : {})
    return this.#format
  }
}

export const tooManyAttributes = (): Error =>
  contentLimit(`the text has more than ${limits.nodes} attributes: use type "text" to read or write it`)

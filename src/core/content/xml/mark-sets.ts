import { memoized } from '../../base/maps.ts'
import type { JsonObject } from '../json/json.ts'
import type { AttributeRun } from '../text/text-state.ts'
import { byName, storedName } from './names.ts'
import type { NormalForm } from './normal-form.ts'
import type { ObservedSchema } from './observed-schema.ts'
import {
  MarkCodec,
  type MarkForm,
  markFormFrom,
  markFormOf,
  overlappingKey,
  type StoredMark,
} from './stored-marks.ts'
import type { ValueCodec } from './value-codec.ts'

/** The number of a set of marks; 0 is the empty set. Equal sets have equal numbers. */
export type MarkSet = number

/** The formatting attributes at a position of a text: for each key, the number of its mark. */
type MarkAttributes = ReadonlyMap<string, number>

/** Maximum number of marks of one range that are shown. If a range has more marks, only the first are shown. */
export const shownMax = 64

/**
 * Maximum number of marks of all ranges together that are shown. This limit keeps the size of the output
 * proportional to the stored content.
 */
const shownInAllMax = 4_000_000

/**
 * The marks of a document and of its target. Two marks are the same if their form is the same. For the marks
 * of the document, the table keeps the stored form.
 */
export class MarkTable {
  readonly #values: ValueCodec
  readonly #editor: NormalForm | null
  readonly #store: MarkCodec
  readonly #numbers = new Map<string, number>()
  readonly #forms: MarkForm[] = []
  /** The text of each form. Marks of the same name are sorted by this text. */
  readonly #texts = new Map<MarkForm, string>()
  readonly #stored: (StoredMark | null)[] = []
  /** For marks of a target whose attributes have types: the attributes. */
  readonly #given = new Map<number, JsonObject>()
  readonly #sets: (readonly number[])[] = [[]]
  readonly #setNumbers = new Map<string, MarkSet>([['', 0]])
  #shownLeft = shownInAllMax

  constructor(vocabulary: ObservedSchema) {
    this.#values = vocabulary.values
    this.#editor = vocabulary.editor
    this.#store = new MarkCodec(vocabulary)
  }

  /** Returns the number of a mark in the document, and records its stored form. */
  numberOf(stored: StoredMark): number {
    const form = markFormOf(stored, this.#values)
    const number = this.#numberOfForm(form)
    if (this.#stored[number] === null) {
      this.#stored[number] = stored
      this.#store.learn(form.name, stored)
    }
    return number
  }

  /**
   * Returns the marks of a range that are shown. Each call takes from the budget; when the budget is used up,
   * returns the empty set.
   */
  shown(stored: MarkAttributes): MarkSet {
    if (stored.size === 0 || this.#shownLeft < stored.size) return 0
    const numbers = shownOf(stored).map(([, number]) => number)
    this.#shownLeft -= numbers.length
    return this.#setNumber(numbers)
  }

  /** Returns the marks of a set, sorted by name. A mark is always represented by the same object. */
  formsOf(set: MarkSet): readonly MarkForm[] {
    return this.#marksIn(set)
      .map((number) => this.#forms[number] as MarkForm)
      .sort(
        (a, b) => byName([a.name, ''], [b.name, '']) || byName([this.#textOf(a), ''], [this.#textOf(b), '']),
      )
  }

  #textOf = (form: MarkForm): string => memoized(this.#texts, form, () => JSON.stringify(form))

  sizeOf(set: MarkSet): number {
    return this.#marksIn(set).length
  }

  /**
   * Returns the set with one more mark of the target. If marks of this name cannot overlap, the new mark
   * replaces the others of this name, because it is the inner mark.
   */
  with(set: MarkSet, { name, attributes }: MarkForm): MarkSet {
    const number = this.#numberOfTarget({ name, attributes: attributes.toSorted(byName) })
    const overlaps = this.#store.overlaps(name)
    const others = this.#marksIn(set).filter((other) => overlaps || this.#forms[other]?.name !== name)
    return this.#setNumber([...others, number])
  }

  /**
   * Returns the set with one more mark of the target, whose attributes have types. Marks with the same name
   * and different attributes overlap.
   */
  withValues(set: MarkSet, name: string, attributes: JsonObject): MarkSet {
    const form = markFormFrom(name, attributes, this.#values)
    const number = this.#numberOfTarget(form)
    if (!this.#given.has(number)) this.#given.set(number, attributes)
    const marks = this.#marksIn(set)
    if (marks.some((other) => other !== number && this.#forms[other]?.name === form.name))
      this.#store.learnOverlap(form.name)
    return this.#setNumber([...marks, number])
  }

  /** Returns the formatting attributes of text with these marks. */
  attributesOf(set: MarkSet): Record<string, unknown> {
    const attributes: Record<string, unknown> = Object.create(null)
    for (const number of this.#marksIn(set)) this.#put(number, attributes, new Set(Object.keys(attributes)))
    return attributes
  }

  /**
   * Returns the attributes to set so that the text shows exactly the wanted marks; the value null removes an
   * attribute. Returns null if nothing changes.
   */
  change(stored: MarkAttributes, shown: MarkSet, wanted: MarkSet): Record<string, unknown> | null {
    if (shown === wanted) return null
    const marks = this.#marksIn(wanted)
    const change: Record<string, unknown> = Object.create(null)
    const kept = new Map<number, string>()
    for (const [key, number] of shown === 0 ? [] : shownOf(stored)) {
      if (marks.includes(number)) kept.set(number, key)
      else change[key] = null
    }
    const taken = new Set(kept.values())
    for (const number of marks) if (!kept.has(number)) taken.add(this.#put(number, change, taken))
    return change
  }

  /**
   * Adds a mark under its key. If another mark already has this key, adds it under a unique key. Returns the
   * key.
   */
  #put(number: number, attributes: Record<string, unknown>, taken: ReadonlySet<string>): string {
    const form = this.#forms[number] as MarkForm
    this.#editor?.count('mark', storedName(form.name))
    const { key, value } = this.#stored[number] ?? this.#store.newMark(form, this.#given.get(number) ?? null)
    this.#stored[number] = { key, value }
    const free = taken.has(key) ? overlappingKey(storedName(form.name), value) : key
    attributes[free] = value
    return free
  }

  #marksIn(set: MarkSet): readonly number[] {
    return this.#sets[set] as readonly number[]
  }

  #setNumber(marks: readonly number[]): MarkSet {
    const sorted = [...new Set(marks)].sort((a, b) => a - b)
    return memoized(this.#setNumbers, sorted.join(), () => this.#sets.push(sorted) - 1)
  }

  /** Returns the number of a mark of the target. A mark that the document does not have gets the defaults. */
  #numberOfTarget(form: MarkForm): number {
    const known = this.#numbers.get(keyOf(form))
    const isStored = known !== undefined && this.#stored[known] !== null
    return isStored ? known : this.#numberOfForm(this.#store.completed(form))
  }

  #numberOfForm(form: MarkForm): number {
    return memoized(this.#numbers, keyOf(form), () => {
      this.#stored.push(null)
      return this.#forms.push(form) - 1
    })
  }
}

const keyOf = ({ name, attributes }: MarkForm): string => JSON.stringify([name, attributes])

function shownOf(stored: MarkAttributes): [string, number][] {
  if (stored.size <= shownMax) return [...stored]
  const shown: [string, number][] = []
  for (const entry of stored) {
    if (shown.length === shownMax) break
    shown.push(entry)
  }
  return shown
}

/**
 * Tracks the formatting of one text, run by run. The work is linear in the number of changes, and independent
 * of the number of marks.
 */
export class MarkCursor {
  readonly #marks: MarkTable
  readonly #stored = new Map<string, number>()

  constructor(marks: MarkTable) {
    this.#marks = marks
  }

  get stored(): MarkAttributes {
    return this.#stored
  }

  /** Advances to the next run. */
  enter({ changes }: AttributeRun): void {
    for (const [key, value] of changes) this.change(key, value)
  }

  /** Changes the value of one mark; null ends the mark. */
  change(key: string, value: unknown): void {
    if (value === null) this.#stored.delete(key)
    else this.#stored.set(key, this.#marks.numberOf({ key, value }))
  }
}

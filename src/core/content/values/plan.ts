import { ApiError } from '../../base/errors.ts'
import { planFormatted } from '../delta/delta.ts'
import { diffTokens, type Hunk, keptPositions } from '../diff/diff.ts'
import { isArray, isObject, type Json, JsonInterner, type JsonObject } from '../json/json.ts'
import { pointerTo } from '../json/pointer.ts'
import {
  asStored,
  fragmentKey,
  type StoredArray,
  StoredInterner,
  type StoredMap,
  type StoredValue,
} from '../stored/shared-values.ts'
import { editsToDelta } from '../text/edits-to-delta.ts'
import { planWithin } from '../text/plan.ts'
import { readTextState } from '../text/text-state.ts'
import type { XmlBudget } from '../xml/budget.ts'
import { isBlankWithBreak } from '../xml/parse.ts'
import type { TargetTree } from '../xml/target-tree.ts'
import { checkXml, planTree, treeOfPast } from '../xml/xml.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import type { PlannedUpdate } from '../yjs/root-replacement.ts'
import type { Insertion } from './item-splits.ts'
import { matchElements } from './match-elements.ts'
import { copyValue, type NewValue, NewValueFactory } from './new-values.ts'
import type { SharedTypeEdit } from './write-edits.ts'

/** Adjacent elements of a stored array, and the values to which they change. */
interface ElementRange {
  readonly elements: readonly StoredValue[]
  readonly target: readonly Json[]
  /** Index of the first element in the stored array. */
  readonly start: number
  /** Index of the first target in the array after the change, for the positions in errors. */
  readonly targetStart: number
  /** Returns the new value for the target with this index in `target`. */
  readonly make: (index: number) => NewValue
  /** The edit of the whole array (see `ArrayEdit`), to which the plan adds the changes of this range. */
  readonly removed: Uint8Array
  readonly insertions: Insertion[]
}

/**
 * Plans the changes that make stored values equal to JSON. The plan does not change the document. A shared
 * value that stays is compared with its target; any other value is replaced as a whole. A plan is for one
 * replacement: it has one budget, and counts the changes.
 */
export class JsonPlan {
  readonly edits: SharedTypeEdit[] = []
  /** Number of entries and elements written, plus UTF-16 units inserted into texts that stay. */
  insertions = 0
  /**
   * Number of entries and elements removed or overwritten, plus UTF-16 units and embeds deleted from texts
   * that stay.
   */
  deletions = 0
  readonly #effort: XmlBudget
  readonly #numbers = new JsonInterner()
  readonly #storedNumbers = new StoredInterner()
  readonly #path: (string | number)[] = []

  constructor(effort: XmlBudget) {
    this.#effort = effort
  }

  /**
   * Plans the changes that make a stored map equal to `target`.
   * @param past the target as another document stores it; new values are then created in the form that they
   * have there
   */
  map(stored: StoredMap, target: JsonObject, past?: StoredMap): void {
    const removed = [...stored.entries.keys()].filter((key) => !Object.hasOwn(target, key))
    const siblings = new NewValueFactory([...stored.entries.values()].map(asStored))
    const set = Object.entries(target)
      .filter(([key, value]) => !this.#entryKept(stored, key, value, past?.entries.get(key)))
      .map(([key, value]) => {
        const make = () => made(siblings, value, past?.entries.get(key))
        return [key, this.at(key, make)] as const
      })
    if (removed.length + set.length === 0) return
    this.edits.push({ in: 'map', type: stored.type, removed, set })
    this.insertions += set.length
    this.deletions += removed.length + set.filter(([key]) => stored.entries.has(key)).length
  }

  /**
   * Plans the changes that make a stored array equal to `target`.
   * @param past see `map`
   */
  array(stored: StoredArray, target: readonly Json[], past?: StoredArray): void {
    const { elements, type } = stored
    const hunks = diffTokens(...this.#tokens(elements, target, past), this.#effort.budget)
    if (past !== undefined) this.#formatKept(stored, past, hunks)
    if (hunks.length === 0) return
    const siblings = new NewValueFactory(elements.map(asStored))
    const removed = new Uint8Array(elements.length)
    const insertions: Insertion[] = []
    const range: ElementRange = {
      elements,
      target,
      start: 0,
      targetStart: 0,
      removed,
      insertions,
      make: (b) => made(siblings, target[b] as Json, past?.elements[b]),
    }
    for (const hunk of hunks) this.#hunk(range, hunk, past)
    this.writeElements(type, removed, insertions)
  }

  /**
   * Plans the changes after which a range of an array equals `range.target`. Adds them to `range.removed` and
   * `range.insertions`.
   */
  elements(range: ElementRange): void {
    const hunks = diffTokens(...this.#tokens(range.elements, range.target), this.#effort.budget)
    for (const hunk of hunks) this.#hunk(range, hunk)
  }

  /** Adds the edit of an array, if its elements change, and counts the removed elements. */
  writeElements(type: SharedRoot, removed: Uint8Array, insertions: readonly Insertion[]): void {
    const count = removed.reduce((sum, value) => sum + value, 0)
    this.deletions += count
    if (count + insertions.length > 0) this.edits.push({ in: 'array', type, removed, insertions })
  }

  #hunk(range: ElementRange, hunk: Hunk, past?: StoredArray): void {
    const { elements, target, start, targetStart, removed, insertions } = range
    removed.fill(1, start + hunk.aStart, start + hunk.aEnd)
    let [after, at] = [hunk.aStart - 1, hunk.bStart]
    const insertTo = (end: number): void => {
      const values: NewValue[] = []
      for (let b = at; b < end; b++) values.push(this.at(targetStart + b, () => range.make(b)))
      if (values.length > 0) insertions.push({ after: start + after, values })
      this.insertions += values.length
    }
    for (const [a, b] of matchElements(elements, target, hunk, this.#effort.budget)) {
      if (past !== undefined && past.elements[b]?.kind !== elements[a]?.kind) continue
      const update = () => this.update(elements[a] as StoredValue, target[b] as Json, past?.elements[b])
      if (!this.at(targetStart + b, update)) continue
      insertTo(b)
      removed[start + a] = 0
      ;[after, at] = [a, b + 1]
    }
    insertTo(hunk.bEnd)
  }

  /**
   * Returns the tokens of both sides for a comparison. If another document stores the target, the stored
   * forms are compared.
   */
  #tokens(
    elements: readonly StoredValue[],
    target: readonly Json[],
    past?: StoredArray,
  ): [Int32Array, Int32Array] {
    if (past === undefined) {
      return [
        Int32Array.from(elements, ({ json }) => this.#numbers.of(json)),
        Int32Array.from(target, (value) => this.#numbers.of(value)),
      ]
    }
    const tokens = (values: readonly StoredValue[]) =>
      Int32Array.from(values, (value) => this.#storedNumbers.of(value))
    return [tokens(elements), tokens(past.elements)]
  }

  #entryKept(stored: StoredMap, key: string, target: Json, past?: StoredValue): boolean {
    return this.at(key, () => {
      const entry = stored.entries.get(key)
      return entry !== undefined && this.update(entry, target, past)
    })
  }

  /**
   * Plans the changes that make a value equal to its target in place. Returns false if the value must be
   * replaced as a whole.
   */
  update(stored: StoredValue, target: Json, past?: StoredValue): boolean {
    if (past !== undefined) return this.#restore(stored, past)
    if (this.#numbers.of(stored.json) === this.#numbers.of(target)) return true
    if (stored.kind === 'map' && isObject(target)) this.map(stored, target)
    else if (stored.kind === 'array' && isArray(target)) this.array(stored, target)
    else if (stored.kind === 'text' && typeof target === 'string') this.#text(stored.type, target)
    else if (stored.kind === 'xml' && typeof target === 'string' && !isBlankWithBreak(target))
      this.#tree(stored.type, checkXml(target))
    else return false
    return true
  }

  /**
   * Like `update`, for a target that another document stores. If the kinds differ, the value must be
   * replaced as a whole, so that it gets the kind of the stored target.
   */
  #restore(stored: StoredValue, past: StoredValue): boolean {
    const isEqual = this.#storedNumbers.of(stored) === this.#storedNumbers.of(past)
    if (isEqual) this.#format(stored, past)
    else if (stored.kind === 'map' && past.kind === 'map') this.map(stored, past.json, past)
    else if (stored.kind === 'array' && past.kind === 'array') this.array(stored, past.json, past)
    else if (stored.kind === 'text' && past.kind === 'text') this.#formatted(stored.type, past.type)
    else if (stored.kind === 'xml' && past.kind === 'xml') this.#tree(stored.type, treeOfPast(past.type))
    else return false
    return true
  }

  /** Plans the changes of two values that differ only in the formatting of their texts. */
  #format(stored: StoredValue, past: StoredValue): void {
    if (stored.kind === 'text' && past.kind === 'text') this.#formatted(stored.type, past.type)
    else if (stored.kind === 'array' && past.kind === 'array') this.#formatKept(stored, past, [])
    else if (stored.kind === 'map' && past.kind === 'map')
      for (const [key, entry] of stored.entries) {
        const then = past.entries.get(key)
        if (then !== undefined) this.#format(entry, then)
      }
  }

  /** Plans the formatting changes of the elements outside the hunks. */
  #formatKept({ elements }: StoredArray, past: StoredArray, hunks: readonly Hunk[]): void {
    for (const [a, b] of keptPositions(hunks, elements.length))
      this.#format(elements[a] as StoredValue, past.elements[b] as StoredValue)
  }

  #formatted = (type: SharedRoot, past: SharedRoot): void => this.#plan(type, planFormatted(type, past))

  #plan(type: SharedRoot, update: PlannedUpdate | null): void {
    if (update !== null) this.edits.push({ in: 'planned', type, update })
  }

  #text(type: SharedRoot, target: string): void {
    const state = readTextState(type)
    const hunks = planWithin(state, target, this.#effort)
    const { operations, insertions, deletions } = editsToDelta(state, target, hunks)
    this.edits.push({ in: 'text', type, operations })
    this.insertions += insertions
    this.deletions += deletions
  }

  #tree(type: SharedRoot, target: TargetTree): void {
    this.#plan(type, planTree(type, fragmentKey, target, { effort: this.#effort }))
  }

  /** Runs `act`, and adds the path in the data to the errors that `act` throws. */
  at<T>(step: string | number, act: () => T): T {
    this.#path.push(step)
    try {
      return act()
    } catch (error) {
      if (!(error instanceof ApiError) || error.message.startsWith('data at ')) throw error
      const { code, message, details } = error
      throw new ApiError(code, `${pointerTo(this.#path)}: ${message}`, { ...(details && { details }) })
    } finally {
      this.#path.pop()
    }
  }
}

const made = (siblings: NewValueFactory, target: Json, past?: StoredValue): NewValue =>
  past === undefined ? siblings.make(target) : copyValue(past)

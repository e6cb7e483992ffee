import { ApiError, invalid } from '../errors.ts'
import { limits } from '../model/limits.ts'
import type { Insertion } from './array-edit.ts'
import { pairUp } from './array-pairs.ts'
import type { TypeUpdate } from './change.ts'
import { planFormatted } from './delta.ts'
import { diffTokens, type Hunk } from './diff.ts'
import { isArray, isObject, type Json, type JsonObject } from './json.ts'
import { pointerTo } from './json-check.ts'
import type { Root } from './kind.ts'
import { fragmentKey, type Stored, type StoredArray, type StoredMap } from './shared-values.ts'
import { type NewValue, Siblings } from './siblings.ts'
import { StoredNumbers } from './stored-numbers.ts'
import { deltaOf } from './text-delta.ts'
import { planEdits } from './text-plan.ts'
import { readState, type TextState } from './text-state.ts'
import { copyOf } from './value-copy.ts'
import { ValueNumbers } from './value-numbers.ts'
import type { Edit } from './value-write.ts'
import { checkXml, planXml, planXmlOf } from './xml.ts'
import type { Effort } from './xml-effort.ts'

/**
 * Finds what makes stored values equal to JSON: shared values that stay are compared with what they are to hold, all
 * others are atoms. Writes nothing. One plan is one replacement: it shares a budget and counts what it finds.
 */
export class ValuePlan {
  readonly edits: Edit[] = []
  /** Entries and elements written; UTF-16 units in texts that stay. */
  insertions = 0
  /** Entries and elements removed or overwritten; UTF-16 units and embeds in texts that stay. */
  deletions = 0
  readonly #effort: Effort
  readonly #numbers = new ValueNumbers()
  readonly #storedNumbers = new StoredNumbers()
  readonly #path: (string | number)[] = []

  constructor(effort: Effort) {
    this.#effort = effort
  }

  /** @param past where the target is stored in another document: new values are made as they are there */
  map(stored: StoredMap, target: JsonObject, past?: StoredMap): void {
    const removed = [...stored.entries.keys()].filter((key) => !Object.hasOwn(target, key))
    const siblings = new Siblings(stored.entries.values())
    const set = Object.keys(target)
      .filter((key) => !this.#entryKept(stored, key, target[key] as Json, past?.entries.get(key)))
      .map((key) => {
        const make = () => made(siblings, target[key] as Json, past?.entries.get(key))
        return [key, this.#at(key, make)] as const
      })
    if (removed.length + set.length === 0) return
    this.edits.push({ in: 'map', type: stored.type, removed, set })
    this.insertions += set.length
    this.deletions += removed.length + set.filter(([key]) => stored.entries.has(key)).length
  }

  /** @param past as with `map` */
  array(stored: StoredArray, target: readonly Json[], past?: StoredArray): void {
    const { elements, type } = stored
    const hunks = diffTokens(...this.#tokens(stored, target, past), this.#effort.budget)
    if (past !== undefined) this.#formatKept(stored, past, hunks)
    if (hunks.length === 0) return
    const siblings = new Siblings(elements)
    const removed = new Uint8Array(elements.length)
    const insertions: Insertion[] = []
    for (const hunk of hunks) {
      removed.fill(1, hunk.aStart, hunk.aEnd)
      let [after, at] = [hunk.aStart - 1, hunk.bStart]
      const insertTo = (end: number): void => {
        if (end > at)
          insertions.push({
            after,
            values: target
              .slice(at, end)
              .map((value, index) =>
                this.#at(at + index, () => made(siblings, value, past?.elements[at + index])),
              ),
          })
        this.insertions += end - at
      }
      for (const [a, b] of pairUp(elements, target, hunk, this.#effort.budget)) {
        if (past !== undefined && past.elements[b]?.kind !== elements[a]?.kind) continue
        insertTo(b)
        removed[a] = 0
        this.#at(b, () => this.#update(elements[a] as Stored, target[b] as Json, past?.elements[b]))
        ;[after, at] = [a, b + 1]
      }
      insertTo(hunk.bEnd)
    }
    const count = removed.reduce((sum, value) => sum + value, 0)
    this.deletions += count
    if (count + insertions.length > 0) this.edits.push({ in: 'array', type, removed, insertions })
  }

  /** What is stored on both sides is compared as it is stored. */
  #tokens(stored: StoredArray, target: readonly Json[], past?: StoredArray): [Int32Array, Int32Array] {
    if (past === undefined) {
      const tokens = (values: readonly Json[]) => Int32Array.from(values, (value) => this.#numbers.of(value))
      return [tokens(stored.json), tokens(target)]
    }
    const tokens = (values: readonly Stored[]) =>
      Int32Array.from(values, (value) => this.#storedNumbers.of(value))
    return [tokens(stored.elements), tokens(past.elements)]
  }

  #entryKept(stored: StoredMap, key: string, target: Json, past?: Stored): boolean {
    return this.#at(key, () => {
      const entry = stored.entries.get(key)
      if (entry !== undefined) return this.#update(entry, target, past)
      if (key.length >= 1 && key.length <= limits.nameLength) return false
      const place = pointerTo(this.#path)
      throw invalid(`${place}: the key of a shared map must have 1 to ${limits.nameLength} characters`)
    })
  }

  /** False where a value has to give way to another. */
  #update(stored: Stored, target: Json, past?: Stored): boolean {
    if (past !== undefined) return this.#restore(stored, past)
    if (this.#numbers.of(stored.json) === this.#numbers.of(target)) return true
    if (stored.kind === 'map' && isObject(target)) this.map(stored, target)
    else if (stored.kind === 'array' && isArray(target)) this.array(stored, target)
    else if (stored.kind === 'text' && typeof target === 'string') this.#text(stored.type, target)
    else if (stored.kind === 'xml' && typeof target === 'string') this.#xml(stored.type, target)
    else return false
    return true
  }

  /** The same where the target is stored too: values of another kind give way, so that all is as it was. */
  #restore(stored: Stored, past: Stored): boolean {
    const isEqual = this.#storedNumbers.of(stored) === this.#storedNumbers.of(past)
    if (isEqual) this.#format(stored, past)
    else if (stored.kind === 'map' && past.kind === 'map') this.map(stored, past.json, past)
    else if (stored.kind === 'array' && past.kind === 'array') this.array(stored, past.json, past)
    else if (stored.kind === 'text' && past.kind === 'text') this.#formatted(stored.type, past.type)
    else if (stored.kind === 'xml' && past.kind === 'xml')
      this.#plan(stored.type, planXmlOf(stored.type, fragmentKey, past.type, this.#effort))
    else return false
    return true
  }

  /** Of values that are equal but for the formatting of texts in them. */
  #format(stored: Stored, past: Stored): void {
    if (stored.kind === 'text' && past.kind === 'text') this.#formatted(stored.type, past.type)
    else if (stored.kind === 'array' && past.kind === 'array') this.#formatKept(stored, past, [])
    else if (stored.kind === 'map' && past.kind === 'map')
      for (const [key, entry] of stored.entries) {
        const then = past.entries.get(key)
        if (then !== undefined) this.#format(entry, then)
      }
  }

  /** The elements outside of the hunks. */
  #formatKept({ elements }: StoredArray, past: StoredArray, hunks: readonly Hunk[]): void {
    let [a, b] = [0, 0]
    const end = { aStart: elements.length, aEnd: elements.length, bEnd: past.elements.length }
    for (const { aStart, aEnd, bEnd } of [...hunks, end]) {
      for (; a < aStart; a++, b++) this.#format(elements[a] as Stored, past.elements[b] as Stored)
      ;[a, b] = [aEnd, bEnd]
    }
  }

  #formatted = (type: Root, past: Root): void => this.#plan(type, planFormatted(type, past))

  #plan(type: Root, update: TypeUpdate | null): void {
    if (update !== null) this.edits.push({ in: 'planned', type, update })
  }

  #text(type: Root, target: string): void {
    const state = readState(type)
    const { operations, insertions, deletions } = deltaOf(state, target, this.#hunks(state, target))
    this.edits.push({ in: 'text', type, operations })
    this.insertions += insertions
    this.deletions += deletions
  }

  #xml(type: Root, target: string): void {
    this.#plan(type, planXml(type, fragmentKey, checkXml(target), this.#effort))
  }

  /** Few and fine while effort is left, then the whole text anew. */
  #hunks(state: TextState, target: string): Hunk[] {
    const { budget, graphemes, editsLeft } = this.#effort
    if (editsLeft <= 0) return [{ aStart: 0, aEnd: state.text.length, bStart: 0, bEnd: target.length }]
    const hunks = planEdits(state, target, budget, graphemes, editsLeft)
    this.#effort.editsLeft -= hunks.length
    return hunks
  }

  /** What is refused inside names the place. */
  #at<T>(step: string | number, act: () => T): T {
    this.#path.push(step)
    try {
      return act()
    } catch (error) {
      if (!(error instanceof ApiError) || error.message.startsWith('data at ')) throw error
      throw invalid(`${pointerTo(this.#path)}: ${error.message}`)
    } finally {
      this.#path.pop()
    }
  }
}

const made = (siblings: Siblings, target: Json, past?: Stored): NewValue =>
  past === undefined ? siblings.make(target) : copyOf(past)

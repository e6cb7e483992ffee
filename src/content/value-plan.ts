import { ApiError, invalid } from '../errors.ts'
import { limits } from '../model/limits.ts'
import type { Insertion } from './array-edit.ts'
import { pairUp } from './array-pairs.ts'
import { diffTokens, type Hunk } from './diff.ts'
import { isArray, isObject, type Json, type JsonObject } from './json.ts'
import { pointerTo } from './json-check.ts'
import type { Root } from './kind.ts'
import { fragmentKey, type Stored, type StoredArray, type StoredMap } from './shared-values.ts'
import { Siblings } from './siblings.ts'
import { deltaOf } from './text-delta.ts'
import { planEdits } from './text-plan.ts'
import { readState, type TextState } from './text-state.ts'
import { ValueNumbers } from './value-numbers.ts'
import type { Edit } from './value-write.ts'
import { checkXml, planXml } from './xml.ts'
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
  readonly #path: (string | number)[] = []

  constructor(effort: Effort) {
    this.#effort = effort
  }

  map(stored: StoredMap, target: JsonObject): void {
    const removed = [...stored.entries.keys()].filter((key) => !Object.hasOwn(target, key))
    const siblings = new Siblings(stored.entries.values())
    const set = Object.keys(target)
      .filter((key) => !this.#entryKept(stored, key, target[key] as Json))
      .map((key) => [key, this.#at(key, () => siblings.make(target[key] as Json))] as const)
    if (removed.length + set.length === 0) return
    this.edits.push({ in: 'map', type: stored.type, removed, set })
    this.insertions += set.length
    this.deletions += removed.length + set.filter(([key]) => stored.entries.has(key)).length
  }

  array(stored: StoredArray, target: readonly Json[]): void {
    const { elements, type } = stored
    const numbered = (values: readonly Json[]) => Int32Array.from(values, (value) => this.#numbers.of(value))
    const hunks = diffTokens(numbered(stored.json), numbered(target), this.#effort.budget)
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
              .map((value, index) => this.#at(at + index, () => siblings.make(value))),
          })
        this.insertions += end - at
      }
      for (const [a, b] of pairUp(elements, target, hunk, this.#effort.budget)) {
        insertTo(b)
        removed[a] = 0
        this.#at(b, () => this.#update(elements[a] as Stored, target[b] as Json))
        ;[after, at] = [a, b + 1]
      }
      insertTo(hunk.bEnd)
    }
    const count = removed.reduce((sum, value) => sum + value, 0)
    this.deletions += count
    if (count + insertions.length > 0) this.edits.push({ in: 'array', type, removed, insertions })
  }

  #entryKept(stored: StoredMap, key: string, target: Json): boolean {
    return this.#at(key, () => {
      const entry = stored.entries.get(key)
      if (entry !== undefined) return this.#update(entry, target)
      if (key.length >= 1 && key.length <= limits.nameLength) return false
      const place = pointerTo(this.#path)
      throw invalid(`${place}: the key of a shared map must have 1 to ${limits.nameLength} characters`)
    })
  }

  /** False where a value has to give way to another. */
  #update(stored: Stored, target: Json): boolean {
    if (this.#numbers.of(stored.json) === this.#numbers.of(target)) return true
    if (stored.kind === 'map' && isObject(target)) this.map(stored, target)
    else if (stored.kind === 'array' && isArray(target)) this.array(stored, target)
    else if (stored.kind === 'text' && typeof target === 'string') this.#text(stored.type, target)
    else if (stored.kind === 'xml' && typeof target === 'string') this.#xml(stored.type, target)
    else return false
    return true
  }

  #text(type: Root, target: string): void {
    const state = readState(type)
    const { operations, insertions, deletions } = deltaOf(state, target, this.#hunks(state, target))
    this.edits.push({ in: 'text', type, operations })
    this.insertions += insertions
    this.deletions += deletions
  }

  #xml(type: Root, target: string): void {
    const update = planXml(type, fragmentKey, checkXml(target), this.#effort)
    if (update !== null) this.edits.push({ in: 'xml', type, update })
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

import { diffTokens } from '../../diff/diff.ts'
import type { DiffBudget } from '../../diff/myers.ts'
import { formatPointer } from '../../edit/patch/pointer.ts'
import { isArray, isObject, type Json, type JsonObject } from '../../json/json.ts'
import { JsonInterner } from '../../json/json-interner.ts'

/** An operation of JSON Patch (RFC 6902). */
export type JsonPatchStep =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: Json }
  | { readonly op: 'remove'; readonly path: string }

/** Maximum number of steps of the comparison of arrays. If more steps would be needed, whole ranges are replaced. */
const stepsMax = 2_000_000

/** Returns the operations that convert `before` to `after`. Takes linear time, and at most `stepsMax` more steps. */
export function diffJson(before: Json, after: Json): readonly JsonPatchStep[] {
  const differ = new JsonDiffer()
  differ.value(before, after, [])
  return differ.operations
}

class JsonDiffer {
  readonly operations: JsonPatchStep[] = []
  readonly #interner = new JsonInterner()
  readonly #budget: DiffBudget = { steps: stepsMax }

  value(before: Json, after: Json, path: readonly string[]): void {
    if (this.#interner.of(before) === this.#interner.of(after)) return
    if (isObject(before) && isObject(after)) this.#members(before, after, path)
    else if (isArray(before) && isArray(after)) this.#elements(before, after, path)
    else this.operations.push({ op: 'replace', path: formatPointer(path), value: after })
  }

  #members(before: JsonObject, after: JsonObject, path: readonly string[]): void {
    for (const name of Object.keys(before)) if (!Object.hasOwn(after, name)) this.#remove([...path, name])
    for (const [name, value] of Object.entries(after))
      if (Object.hasOwn(before, name)) this.value(before[name] as Json, value, [...path, name])
      else this.#add([...path, name], value)
  }

  #elements(before: readonly Json[], after: readonly Json[], path: readonly string[]): void {
    const tokens = (values: readonly Json[]): Int32Array =>
      Int32Array.from(values, (value) => this.#interner.of(value))
    for (const { aStart, aEnd, bStart, bEnd } of diffTokens(tokens(before), tokens(after), this.#budget)) {
      // Earlier hunks have already been applied, so an index is that of the later version.
      const shared = Math.min(aEnd - aStart, bEnd - bStart)
      for (let at = 0; at < shared; at += 1)
        this.value(before[aStart + at] as Json, after[bStart + at] as Json, [...path, String(bStart + at)])
      for (let at = shared; at < aEnd - aStart; at += 1) this.#remove([...path, String(bStart + shared)])
      for (let at = shared; at < bEnd - bStart; at += 1)
        this.#add([...path, String(bStart + at)], after[bStart + at] as Json)
    }
  }

  #add(path: readonly string[], value: Json): void {
    this.operations.push({ op: 'add', path: formatPointer(path), value })
  }

  #remove(path: readonly string[]): void {
    this.operations.push({ op: 'remove', path: formatPointer(path) })
  }
}

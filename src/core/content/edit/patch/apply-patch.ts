import type * as Y from 'yjs'
import { withPlace } from '../../content-error.ts'
import { commonStart } from '../../diff/common-ends.ts'
import { isArray, isObject, type Json, kindOfJson, toJson } from '../../json/json.ts'
import { formatPointer } from '../../json/pointer.ts'
import {
  elementsIn,
  entriesIn,
  entryIn,
  readArray,
  readElement,
  readMap,
} from '../../stored/shared-values.ts'
import type { Insertion } from '../../values/item-splits.ts'
import { copyValue, kindOfStored, type NewValue, NewValueFactory } from '../../values/new-values.ts'
import { JsonPlan } from '../../values/plan.ts'
import { structsIn } from '../../values/replace-values.ts'
import { writeEdits } from '../../values/write-edits.ts'
import { budgetFor } from '../../xml/budget.ts'
import type { SharedRoot } from '../../yjs/root-kind.ts'
import type { EditOutcome, JsonPatchOperation } from '../edit.ts'
import {
  isPlainView,
  isSharedView,
  type ListView,
  ObjectView,
  SharedCopy,
  toPlain,
  type Value,
} from './overlay.ts'
import { PatchRun } from './patch-run.ts'
import { withoutCopies } from './plain-copy.ts'

/**
 * Carries out a JSON patch (RFC 6902) on a root, or throws and has changed nothing. The operations run on a
 * view of the values that they touch. Then the differences are written.
 *
 * Shared values that stay are changed in place. A change inside a plain value replaces the smallest stored
 * value that contains it. New values have the same form as in a replacement of the whole content. Yjs cannot
 * move values: `move` deletes the value and inserts an equal one, and edits of other clients in the old value
 * are lost. The new value keeps the formatting of shared texts if it is shared again. Operations without effect
 * write nothing.
 * @param operations operations that `checkPatch` has returned
 * @param place position of the patch in the request, for example `edits[0].patch`
 * @throws ApiError FAILED_PRECONDITION if an operation fails; INVALID_ARGUMENT if the result exceeds a limit,
 * or if a string that replaces XML is not XML; RESOURCE_EXHAUSTED as for `Output`
 */
export function applyPatch(
  transaction: Y.Transaction,
  root: SharedRoot,
  kind: 'map' | 'array',
  operations: readonly JsonPatchOperation[],
  place: string,
): EditOutcome {
  const run = new PatchRun(root, kind)
  for (const [index, operation] of operations.entries())
    withPlace(`${place}[${index}]`, () => run.run(operation))
  const plan = new JsonPlan(budgetFor(structsIn(transaction.doc)))
  withPlace(place, () => planRun(plan, run, root))
  const written = writeEdits(transaction, plan.edits)
  return {
    place: { path: formatPointer(commonPath(operations)) },
    insertions: plan.insertions + written.insertions,
    deletions: plan.deletions + written.deletions,
    changed: plan.edits.length > 0,
  }
}

function planRun(plan: JsonPlan, run: PatchRun, root: SharedRoot): void {
  if (!isPlainView(run.root)) return new PatchPlan(plan).view(run.root)
  const target = toJson(withoutCopies(run.root.toPlain())) ?? null
  if (isArray(target)) plan.array(readArray(root), target)
  else if (isObject(target)) plan.map(readMap(root), target)
}

/** Returns the longest path that contains the places of all operations. */
function commonPath(operations: readonly JsonPatchOperation[]): readonly string[] {
  const paths = operations.flatMap(({ path, ...operation }) =>
    'from' in operation ? [path, operation.from] : [path],
  )
  const [first = [], ...others] = paths
  return others.reduce((common, path) => common.slice(0, commonStart(common, path)), first)
}

/**
 * Plans the edits that make the stored values equal to the views of them. Reads only values that the
 * operations touched: values that they replaced, and the siblings of new values as examples.
 */
class PatchPlan {
  readonly #plan: JsonPlan

  constructor(plan: JsonPlan) {
    this.#plan = plan
  }

  /** Plans the changes of a shared value and of the shared values in it. Other values are skipped. */
  view(view: Value): void {
    if (!isSharedView(view)) return
    if (view instanceof ObjectView) this.#object(view.source, view)
    else this.#list(view.source, view)
  }

  #object(type: SharedRoot, { changes, children }: ObjectView): void {
    const siblings = new NewValueFactory({ [Symbol.iterator]: () => entriesOf(type) })
    const removed: string[] = []
    const set: (readonly [string, NewValue])[] = []
    for (const [key, value] of changes) {
      const stored = entryIn(type, key)
      if (value === undefined) {
        if (stored !== undefined) removed.push(key)
      } else {
        const made = this.#plan.at(key, () => this.#member(stored, toPlain(value), siblings))
        if (made === null) continue
        set.push([key, made])
        if (stored !== undefined) this.#plan.deletions += 1
      }
    }
    for (const [key, child] of children) if (!changes.has(key)) this.#plan.at(key, () => this.view(child))
    this.#plan.insertions += set.length
    this.#plan.deletions += removed.length
    if (removed.length + set.length > 0) this.#plan.edits.push({ in: 'map', type, removed, set })
  }

  /** Plans a change of a stored value. Returns the new value; null if the stored value stays. */
  #member(stored: unknown, plain: unknown, siblings: NewValueFactory): NewValue | null {
    const json = jsonOf(plain)
    const kind = kindOfStored(stored)
    const mayStay = stored !== undefined && (kind === null || kind === kindOfJson(json))
    if (mayStay && this.#plan.update(readElement(stored), json)) return null
    return newValue(siblings, plain, json)
  }

  /** Plans the changes of an array. Stored elements between two kept ranges are changed to the new values there. */
  #list(type: SharedRoot, { stored, pieces, children }: ListView): void {
    const siblings = new NewValueFactory({ [Symbol.iterator]: () => elementsIn(type) })
    const removed = new Uint8Array(stored.length)
    const insertions: Insertion[] = []
    // A replaced element that stays gets its changes from its target, not from its view.
    const kept = new Map(children)
    let [next, targetStart] = [0, 0]
    let added: unknown[] = []
    const close = (end: number): void => {
      for (let index = next; index < end; index++) kept.delete(index)
      const target = added.map(jsonOf)
      const make = (index: number) => newValue(siblings, added[index], target[index] as Json)
      if (target.length === 0) removed.fill(1, next, end)
      else {
        const elements = Array.from({ length: end - next }, (_, index) =>
          readElement(stored.at(next + index)),
        )
        this.#plan.elements({ elements, target, start: next, targetStart, removed, insertions, make })
      }
      targetStart += target.length
      added = []
    }
    for (const piece of pieces) {
      if (piece.is === 'new') added.push(toPlain(piece.value))
      else {
        close(piece.from)
        next = piece.from + piece.length
        targetStart += piece.length
      }
    }
    close(stored.length)
    this.#plan.writeElements(type, removed, insertions)
    for (const [index, child] of kept) this.#plan.at(index, () => this.view(child))
  }
}

function* entriesOf(type: SharedRoot): Generator {
  for (const [, value] of entriesIn(type)) yield value
}

const jsonOf = (plain: unknown): Json => toJson(withoutCopies(plain)) ?? null

/**
 * Returns the form of a new value. A plain value keeps members that JSON cannot express, such as bytes.
 * @param json the JSON view of `plain`
 */
const newValue = (siblings: NewValueFactory, plain: unknown, json: Json): NewValue =>
  withCopies(siblings.make(json), plain)

/** Fills a new value from a plain value, so that copies of shared values keep their formatting. */
function withCopies(made: NewValue, plain: unknown): NewValue {
  if (made.as === 'plain') return { as: 'plain', value: withoutCopies(plain) }
  if (plain instanceof SharedCopy) return plain.stored.kind === made.as ? copyValue(plain.stored) : made
  if (made.as === 'array' && Array.isArray(plain))
    return { as: 'array', elements: made.elements.map((element, index) => withCopies(element, plain[index])) }
  if (made.as !== 'map' || typeof plain !== 'object' || plain === null) return made
  const members = new Map<string, unknown>(Object.entries(plain))
  return {
    as: 'map',
    entries: made.entries.map(([key, entry]) => [key, withCopies(entry, members.get(key))]),
  }
}

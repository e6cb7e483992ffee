import * as Y from 'yjs'
import { invalidContent } from '../content-error.ts'
import { isArray, isObject, type Json, type JsonObject, jsonTypeName } from '../json/json.ts'
import { JsonValidator } from '../json/json-validator.ts'
import type { Output } from '../output.ts'
import { readArray, readMap } from '../stored/shared-values.ts'
import { budgetFor } from '../xml/budget.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import { noReplacement, type RootReplacement } from '../yjs/root-replacement.ts'
import { JsonPlan } from './plan.ts'
import { writeEdits } from './write-edits.ts'

/**
 * Plans changes of the root `contentKey`, and writes them in one transaction. Without changes there is no
 * transaction. The Yjs type of the root stays unset, as in a root that is loaded from updates.
 */
function replaceValues(
  doc: Y.Doc,
  contentKey: string,
  find: (plan: JsonPlan, root: SharedRoot) => void,
): RootReplacement {
  const plan = new JsonPlan(budgetFor(structsIn(doc)))
  // A root that does not exist is planned as an empty root, so that a plan without changes does not create
  // it.
  const known = doc.share.get(contentKey)
  find(plan, known ?? new Y.AbstractType())
  const { edits, insertions, deletions } = plan
  if (edits.length === 0) return noReplacement
  const root = known ?? doc.get(contentKey)
  const placed = known === undefined ? edits.map((edit) => ({ ...edit, type: root })) : edits
  const inXml = doc.transact((transaction) => writeEdits(transaction, placed))
  return {
    changed: true,
    insertions: insertions + inXml.insertions,
    deletions: deletions + inXml.deletions,
  }
}

/** Returns the number of structs of the document. Yjs moves at most this number of structs for one edit. */
export function structsIn({ store }: Y.Doc): number {
  let count = 0
  for (const structs of store.clients.values()) count += structs.length
  return count
}

/**
 * Makes a map root equal to its state in another document. Values that were shared become shared values
 * again.
 */
export const restoreMap = (doc: Y.Doc, contentKey: string, past: Y.Doc): RootReplacement =>
  replaceValues(doc, contentKey, (plan, root) => {
    const then = readMap(past.get(contentKey))
    plan.map(readMap(root), then.json, then)
  })

/** Makes an array root equal to its state in another document, like `restoreMap`. */
export const restoreArray = (doc: Y.Doc, contentKey: string, past: Y.Doc): RootReplacement =>
  replaceValues(doc, contentKey, (plan, root) => {
    const then = readArray(past.get(contentKey))
    plan.array(readArray(root), then.json, then)
  })

/** Checks that the `data` of a map target is a JSON object. Returns a copy. */
export function checkMap(data: unknown): JsonObject {
  const json = typeof data === 'object' && data !== null ? new JsonValidator().read(data) : null
  if (json === null || !isObject(json))
    throw invalidContent(`data must be an object for type "map", not ${jsonTypeName(data)}`)
  return json
}

/** Reads a map root as JSON. `replaceMap` with this JSON would change nothing. */
export function readMapRoot(doc: Y.Doc, contentKey: string, output?: Output): Json {
  const root = doc.share.get(contentKey)
  return root === undefined ? {} : readMap(root, output).json
}

/**
 * Makes the map root `contentKey` equal to `target`. Equal entries stay, nested shared values that stay are
 * changed in place, and everything else is set or removed. If the root is already equal, nothing changes.
 */
export function replaceMap(doc: Y.Doc, contentKey: string, target: JsonObject): RootReplacement {
  return replaceValues(doc, contentKey, (plan, root) => plan.map(readMap(root), target))
}

/** Checks that the `data` of an array target is a JSON array. Returns a copy. */
export function checkArray(data: unknown): readonly Json[] {
  const json = Array.isArray(data) ? new JsonValidator().read(data) : null
  if (json === null || !isArray(json))
    throw invalidContent(`data must be an array for type "array", not ${jsonTypeName(data)}`)
  return json
}

/** Reads an array root as JSON. `replaceArray` with this JSON would change nothing. */
export function readArrayRoot(doc: Y.Doc, contentKey: string, output?: Output): readonly Json[] {
  const root = doc.share.get(contentKey)
  return root === undefined ? [] : readArray(root, output).json
}

/**
 * Makes the array root `contentKey` equal to `target`. Equal elements stay, nested shared values that stay
 * are changed in place, and everything else is inserted or removed. If the root is already equal, nothing
 * changes.
 */
export function replaceArray(doc: Y.Doc, contentKey: string, target: readonly Json[]): RootReplacement {
  return replaceValues(doc, contentKey, (plan, root) => plan.array(readArray(root), target))
}

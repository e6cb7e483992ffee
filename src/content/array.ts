import type * as Y from 'yjs'
import { invalid } from '../errors.ts'
import type { Change } from './change.ts'
import { isArray, type Json, nameOf } from './json.ts'
import { JsonReader } from './json-check.ts'
import { readArray } from './shared-values.ts'
import { replaceValues } from './value-root.ts'

/** The `data` of an array target: a JSON array. */
export function checkArray(data: unknown): readonly Json[] {
  const json = Array.isArray(data) ? new JsonReader().read(data) : null
  if (json === null || !isArray(json))
    throw invalid(`data must be an array for type "array", not ${nameOf(data)}`)
  return json
}

/** An array root as JSON; `replaceArray` with it changes nothing. */
export function readArrayRoot(doc: Y.Doc, contentKey: string): readonly Json[] {
  const root = doc.share.get(contentKey)
  return root === undefined ? [] : readArray(root).json
}

/**
 * Makes the array root `contentKey` equal to `target`: elements that are equal stay, nested shared values that stay are
 * changed in place, everything else is inserted or removed. Equal already: nothing happens.
 */
export function replaceArray(doc: Y.Doc, contentKey: string, target: readonly Json[]): Change {
  return replaceValues(doc, contentKey, (plan, root) => plan.array(readArray(root), target))
}

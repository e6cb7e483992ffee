import type * as Y from 'yjs'
import { invalidContent } from '../content-error.ts'
import type { Output } from '../output.ts'
import type { ReplacementResult } from '../replacement-result.ts'
import { readArray } from '../yjs/shared-values.ts'
import { isArray, type Json, jsonTypeName } from './json.ts'
import { JsonValidator } from './json-validator.ts'
import { replaceValues } from './replace-values.ts'

/** The `data` of an array target: a JSON array. */
export function checkArray(data: unknown): readonly Json[] {
  const json = Array.isArray(data) ? new JsonValidator().read(data) : null
  if (json === null || !isArray(json))
    throw invalidContent(`data must be an array for type "array", not ${jsonTypeName(data)}`)
  return json
}

/** An array root as JSON; `replaceArray` with it changes nothing. */
export function readArrayRoot(doc: Y.Doc, contentKey: string, output?: Output): readonly Json[] {
  const root = doc.share.get(contentKey)
  return root === undefined ? [] : readArray(root, output).json
}

/**
 * Makes the array root `contentKey` equal to `target`: elements that are equal stay, nested shared values that stay are
 * changed in place, everything else is inserted or removed. Equal already: nothing happens.
 */
export function replaceArray(doc: Y.Doc, contentKey: string, target: readonly Json[]): ReplacementResult {
  return replaceValues(doc, contentKey, (plan, root) => plan.array(readArray(root), target))
}

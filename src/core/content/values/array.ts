import type * as Y from 'yjs'
import { invalidContent } from '../content-error.ts'
import { isArray, type Json, jsonTypeName } from '../json/json.ts'
import { JsonValidator } from '../json/json-validator.ts'
import type { Output } from '../output.ts'
import { readArray } from '../stored/shared-values.ts'
import type { RootReplacement } from '../yjs/root-replacement.ts'
import { replaceValues } from './replace-values.ts'

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

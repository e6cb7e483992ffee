import type * as Y from 'yjs'
import { invalidContent } from '../content-error.ts'
import { isObject, type Json, type JsonObject, jsonTypeName } from '../json/json.ts'
import { JsonValidator } from '../json/json-validator.ts'
import type { Output } from '../output.ts'
import { readMap } from '../stored/shared-values.ts'
import type { RootReplacement } from '../yjs/root-replacement.ts'
import { replaceValues } from './replace-values.ts'

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

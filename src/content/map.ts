import type * as Y from 'yjs'
import { invalid } from '../errors.ts'
import { limits } from '../model/limits.ts'
import type { Change } from './change.ts'
import { isObject, type Json, type JsonObject, nameOf } from './json.ts'
import { JsonReader } from './json-check.ts'
import { readMap } from './shared-values.ts'
import { replaceValues } from './value-root.ts'

/** The `data` of a map target: a JSON object whose keys have 1 to 500 characters. */
export function checkMap(data: unknown): JsonObject {
  const json = typeof data === 'object' && data !== null ? new JsonReader().read(data) : null
  if (json === null || !isObject(json))
    throw invalid(`data must be an object for type "map", not ${nameOf(data)}`)
  for (const { length } of Object.keys(json)) {
    if (length === 0) throw invalid('a key of data must not be empty')
    if (length > limits.nameLength) {
      throw invalid(`a key of data must have at most ${limits.nameLength} characters; one has ${length}`)
    }
  }
  return json
}

/** A map root as JSON; `replaceMap` with it changes nothing. */
export function readMapRoot(doc: Y.Doc, contentKey: string): Json {
  const root = doc.share.get(contentKey)
  return root === undefined ? {} : readMap(root).json
}

/**
 * Makes the map root `contentKey` equal to `target`: entries that are equal stay, nested shared values that stay are
 * changed in place, everything else is set or removed. Equal already: nothing happens.
 */
export function replaceMap(doc: Y.Doc, contentKey: string, target: JsonObject): Change {
  return replaceValues(doc, contentKey, (plan, root) => plan.map(readMap(root), target))
}

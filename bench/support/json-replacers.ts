import { isDeepStrictEqual } from 'node:util'
import * as Y from 'yjs'
import { isArray, isObject, type Json, type JsonObject } from '../../src/core/content/json/json.ts'
import { replaceContent } from '../../src/core/content/replace.ts'

export const contentKey = 'content'

/** A method that replaces the content of a root with JSON. The root has nested shared types. */
export interface JsonReplacer {
  readonly name: string
  replace(doc: Y.Doc, target: Json): void
}

/** Converts JSON to shared types: objects and arrays at all levels, and texts for titles. */
export function shared(json: Json, key = ''): unknown {
  if (isArray(json)) return Y.Array.from(json.map((value) => shared(value) as string))
  if (isObject(json)) {
    return new Y.Map(Object.entries(json).map(([name, value]) => [name, shared(value, name)]))
  }
  return key === 'title' ? new Y.Text(json as string) : json
}

export function fresh(json: Json): Y.Doc {
  const author = new Y.Doc()
  whole.replace(author, json)
  const doc = new Y.Doc()
  Y.applyUpdate(doc, Y.encodeStateAsUpdate(author))
  return doc
}

const weft: JsonReplacer = {
  name: 'Weft',
  replace: (doc, target) => {
    replaceContent(doc, { type: isArray(target) ? 'array' : 'map', contentKey, data: target })
  },
}

const whole: JsonReplacer = {
  name: 'everything anew',
  replace: (doc, target) => {
    doc.transact(() => {
      if (isArray(target)) {
        const array = doc.getArray(contentKey)
        array.delete(0, array.length)
        array.push(target.map((value) => shared(value)))
      } else {
        const map = doc.getMap(contentKey)
        map.clear()
        for (const [name, value] of Object.entries(target as JsonObject)) map.set(name, shared(value, name))
      }
    })
  },
}

/**
 * Sets the top-level entries that differ. In an array, replaces everything from the first to the last
 * difference.
 */
const entries: JsonReplacer = {
  name: 'entries that differ',
  replace: (doc, target) => {
    doc.transact(() => {
      if (isArray(target)) replaceMiddle(doc.getArray(contentKey), target)
      else replaceEntries(doc.getMap(contentKey), target as JsonObject)
    })
  },
}

function replaceEntries(map: Y.Map<unknown>, target: JsonObject): void {
  const current = map.toJSON()
  for (const name of Object.keys(current)) if (!(name in target)) map.delete(name)
  for (const [name, value] of Object.entries(target)) {
    if (!isDeepStrictEqual(current[name], value)) map.set(name, shared(value, name))
  }
}

function replaceMiddle(array: Y.Array<unknown>, target: readonly Json[]): void {
  const current = array.toJSON() as Json[]
  const limit = Math.min(current.length, target.length)
  let [start, end] = [0, 0]
  while (start < limit && isDeepStrictEqual(current[start], target[start])) start += 1
  while (end < limit - start && isDeepStrictEqual(current.at(-1 - end), target.at(-1 - end))) end += 1
  if (current.length > start + end) array.delete(start, current.length - start - end)
  if (target.length > start + end) {
    array.insert(
      start,
      target.slice(start, target.length - end).map((value) => shared(value)),
    )
  }
}

/** All methods. The others are compared with the first one, which is that of Weft. */
export const jsonReplacers: readonly JsonReplacer[] = [weft, whole, entries]

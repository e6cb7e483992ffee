import type { Formats } from './delta-state.ts'
import { forbiddenKey, type Json, type JsonObject } from './json.ts'
import type { Root } from './kind.ts'
import { readStored } from './shared-values.ts'
import type { MapEdit } from './value-write.ts'

/** The attributes of a shared text or element that JSON can say. */
export function readAttributes(type: Root): JsonObject {
  const attributes: Record<string, Json> = {}
  for (const [name, item] of type._map) {
    if (item.deleted || name === forbiddenKey) continue
    const json = readStored(item.content.getContent()[item.length - 1])?.json
    if (json !== undefined) attributes[name] = json
  }
  return attributes
}

/** What makes the attributes `current` those of `target`. */
export function changedAttributes(
  current: JsonObject,
  target: JsonObject,
  formats: Formats,
): Pick<MapEdit, 'set' | 'removed'> {
  const changed = Object.entries(target).filter(
    ([name, value]) => !(Object.hasOwn(current, name) && formats.same(current[name] as Json, value)),
  )
  return {
    set: changed.map(([name, value]) => [name, { as: 'plain', value }]),
    removed: Object.keys(current).filter((name) => !Object.hasOwn(target, name)),
  }
}

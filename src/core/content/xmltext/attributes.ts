import type { FormatTable } from '../delta/formatted-text.ts'
import { type Json, type JsonObject, setMember } from '../json/json.ts'
import type { Output } from '../output.ts'
import { readStoredValue } from '../stored/shared-values.ts'
import { newValueOf } from '../values/new-values.ts'
import type { MapEdit } from '../values/write-edits.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'

/** Returns the attributes of a shared text or element, except those that JSON cannot express. */
export function readAttributes(type: SharedRoot, output: Output): JsonObject {
  const attributes: Record<string, Json> = {}
  for (const [name, item] of type._map) {
    if (item.deleted) continue
    const json = readStoredValue(item.content.getContent()[item.length - 1], output)?.json
    if (json !== undefined) setMember(attributes, name, json)
  }
  return attributes
}

/** Returns the changes from the attributes `current` to the attributes `target`. */
export function changedAttributes(
  current: JsonObject,
  target: JsonObject,
  formats: FormatTable,
): Pick<MapEdit, 'set' | 'removed'> {
  const changed = Object.entries(target).filter(([name, value]) => {
    const before = Object.hasOwn(current, name) ? current[name] : undefined
    return before === undefined || !formats.same(before, value)
  })
  return {
    set: changed.map(([name, value]) => [name, newValueOf(value)]),
    removed: Object.keys(current).filter((name) => !Object.hasOwn(target, name)),
  }
}

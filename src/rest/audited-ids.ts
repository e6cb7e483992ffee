import type { AuditedIds } from '../core/audit/record.ts'
import { isJsonObject } from '../core/base/json.ts'
import type { Schema } from '../core/base/schema.ts'

/** Maximum characters of the audited ids of one call. The limit is sufficient for a batch of 500 UUIDs. */
const charactersMax = 24_576

interface CollectedIds {
  readonly ids: AuditedIds
  /** Number of ids that were left out because of `charactersMax`. */
  readonly idsLeftOut: number
}

/**
 * Collects the ids in a call, by the names of their members. An id is a member with `format: 'id'` in the
 * schema. An id in a member `id`, or in a list, is collected under the name of its parent.
 * @param data data that is valid according to the schema
 */
export function collectAuditedIds(schema: Schema, data: unknown): CollectedIds {
  const found = new Map<string, Set<string>>()
  let characters = 0
  let idsLeftOut = 0
  const take = (name: string, id: string): void => {
    const ids = found.get(name) ?? new Set()
    if (ids.has(id)) return
    characters += id.length
    if (characters > charactersMax) {
      idsLeftOut += 1
      return
    }
    found.set(name, ids.add(id))
  }
  collect(schema, data, '', take)
  return { ids: Object.fromEntries([...found].map(([name, ids]) => [name, [...ids]])), idsLeftOut }
}

function collect(
  schema: Schema,
  value: unknown,
  name: string,
  take: (name: string, id: string) => void,
): void {
  if (schema.type === 'string') {
    if (schema.format === 'id' && typeof value === 'string') take(name, value)
  } else if (schema.type === 'array') {
    if (Array.isArray(value)) for (const item of value) collect(schema.items, item, name, take)
  } else if (schema.type === 'object' && schema.properties !== undefined && isJsonObject(value)) {
    for (const [member, inner] of Object.entries(schema.properties))
      if (Object.hasOwn(value, member))
        collect(inner, value[member], member === 'id' && name !== '' ? `${name}.id` : member, take)
  }
}

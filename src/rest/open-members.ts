import type { ObjectSchema, Schema } from '../core/base/schema.ts'
import { othersBytesMax } from '../core/directory/store/patch-record.ts'
import type { Metadata } from '../core/directory/store/records.ts'
import { jsonBytesUpTo } from '../core/model/json-pieces.ts'

/** Text about the unlisted members of an object, for the description of its schema. */
export const keepsOthers = `Other members are kept and returned; together at most ${othersBytesMax} bytes of JSON.`

/**
 * Returns the part of a schema that keeps unlisted members of a user, a document or a location.
 * @param reserved names that only responses have; in a request they are unknown members
 */
export const openMembers = (...reserved: readonly string[]) =>
  ({ additionalProperties: {}, 'x-reserved': reserved }) as const

/** Returns the members of a value that its schema does not list; undefined if there are none. */
export function othersOf(
  { properties }: Pick<ObjectSchema, 'properties'>,
  value: object,
): Metadata | undefined {
  const others = Object.entries(value).filter(([name]) => !Object.hasOwn(properties, name))
  return others.length === 0 ? undefined : Object.fromEntries(others)
}

/** Returns whether the members of a value that its schema does not list are within the limit. */
export const areOthersSmall = (schema: Pick<ObjectSchema, 'properties'>, value: object): boolean =>
  jsonBytesUpTo(othersOf(schema, value) ?? {}, othersBytesMax) <= othersBytesMax

/** Returns whether values of a schema may contain members that are kept although the schema does not list them. */
export function hasOpenMembers(schema: Schema): boolean {
  if (schema.type === undefined) return schema.anyOf?.some(hasOpenMembers) === true
  if (schema.type === 'array') return hasOpenMembers(schema.items)
  if (schema.type !== 'object') return false
  if (schema.properties === undefined) return hasOpenMembers(schema.additionalProperties)
  const members = Object.values(schema.properties)
  return (schema.additionalProperties !== undefined && members.length > 0) || members.some(hasOpenMembers)
}

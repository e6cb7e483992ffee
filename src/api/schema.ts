import { othersBytesMax } from '../directory/store/patch-record.ts'
import type { Metadata } from '../directory/store/records.ts'
import { jsonBytesUpTo } from '../model/json-pieces.ts'

/**
 * The part of JSON Schema (2020-12) that describes operations. One object, written `as const`, serves as the
 * validator, as the type of the handler's argument and as the OpenAPI description.
 */
export type Schema = PlainSchema | UnionSchema

type PlainSchema =
  | AnySchema
  | StringSchema
  | NumberSchema
  | BooleanSchema
  | ArraySchema
  | ObjectSchema
  | MapSchema
  | NullSchema

interface Described {
  readonly description?: string
  readonly examples?: readonly unknown[]
}

/** A schema that accepts any JSON value. */
interface AnySchema extends Described {
  readonly type?: undefined
  readonly anyOf?: undefined
}

/** A schema that accepts values of several schemas, such as a string or null. */
interface UnionSchema extends Described {
  readonly type?: undefined
  /** The alternatives. They cannot be unions themselves, because their type would be infinite. */
  readonly anyOf: readonly PlainSchema[]
}

interface StringSchema extends Described {
  readonly type: 'string'
  readonly enum?: readonly string[]
  readonly default?: string
  readonly minLength?: number
  readonly maxLength?: number
  /** `id` is a format of Weft: see `idProblem`. */
  readonly format?: 'id' | 'date-time' | 'byte'
}

interface NumberSchema extends Described {
  readonly type: 'number' | 'integer'
  readonly default?: number
  readonly minimum?: number
  readonly maximum?: number
}

interface BooleanSchema extends Described {
  readonly type: 'boolean'
  readonly default?: boolean
}

interface NullSchema extends Described {
  readonly type: 'null'
}

interface ArraySchema extends Described {
  readonly type: 'array'
  readonly items: Schema
  readonly minItems?: number
  readonly maxItems?: number
}

export interface ObjectSchema extends Described {
  readonly type: 'object'
  readonly properties: { readonly [name: string]: Schema }
  readonly required?: readonly string[]
  /**
   * If present, the caller chooses the names of unlisted members. If absent, unlisted members are unknown:
   * see `checkMembers`.
   */
  readonly additionalProperties?: AnySchema
  /**
   * If present, the server keeps unlisted members up to a limit: see `openMembers`. These names are unknown members
   * all the same, because only responses have them.
   */
  readonly 'x-reserved'?: readonly string[]
}

/** An object whose keys are ids. It has no prototype, so that every id can be a key. */
export interface MapSchema extends Described {
  readonly type: 'object'
  readonly properties?: undefined
  readonly additionalProperties: Schema
}

/** Returns whether an object of the schema must have the member. */
export const isRequired = (schema: ObjectSchema | MapSchema, name: string): boolean =>
  schema.properties !== undefined && schema.required?.includes(name) === true

/** Returns whether a schema accepts null. A schema without type and alternatives accepts every value. */
export function acceptsNull(schema: Schema): boolean {
  if (schema.type !== undefined) return schema.type === 'null'
  return schema.anyOf === undefined || schema.anyOf.some(({ type }) => type === 'null')
}

/** The type of the values that a schema accepts. */
export type FromSchema<S> = S extends { readonly enum: readonly (infer V)[] }
  ? V
  : S extends { readonly type: 'string' }
    ? string
    : S extends { readonly type: 'number' | 'integer' }
      ? number
      : S extends { readonly type: 'boolean' }
        ? boolean
        : S extends { readonly type: 'null' }
          ? null
          : S extends { readonly type: 'array'; readonly items: infer I }
            ? readonly FromSchema<I>[]
            : S extends { readonly type: 'object'; readonly properties: infer P }
              ? FromMembers<P, RequiredOf<S>>
              : FromOthers<S>

type FromOthers<S> = S extends { readonly type: 'object'; readonly additionalProperties: infer V }
  ? { readonly [id: string]: FromSchema<V> }
  : S extends { readonly anyOf: readonly (infer U)[] }
    ? FromSchema<U>
    : unknown

type RequiredOf<S> = S extends { readonly required: readonly (infer R)[] } ? R : never

type FromMembers<P, R> = { readonly [K in keyof P as K extends R ? K : never]: FromSchema<P[K]> } & {
  readonly [K in keyof P as K extends R ? never : K]?: FromSchema<P[K]>
}

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

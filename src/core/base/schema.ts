/**
 * The part of JSON Schema (2020-12) that describes operations. One object, which `json` builds, serves as the
 * validator, as the type of the handler's argument and as the OpenAPI description. The functions at the end build the
 * schemas of other JSON, which needs more keywords and no description.
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

export interface Described {
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

type DescribedMembers = ObjectSchema['properties']
type Facts<S> = Omit<S, 'type' | 'description'>

/* oxlint-disable typescript/no-unnecessary-type-parameters, typescript/no-generated-empty-object-type -- the inferred result types use the parameters, and an object may have no optional members */

/** Adds a description and facts. `NoInfer`: the place where a schema stands must not change its type. */
const described = <const Base extends object, More extends object>(
  base: Base,
  description: string | undefined,
  facts: More | undefined,
) =>
  ({ ...base, ...(description !== undefined && { description }), ...facts }) as NoInfer<Base> &
    Described &
    NoInfer<More>

/** Builds the schemas of operations. `facts` are further members of the schema. */
export const json = {
  text: <const More extends Facts<StringSchema> = object>(description?: string, facts?: More) =>
    described({ type: 'string' }, description, facts),
  id: <const More extends Facts<StringSchema> = object>(description?: string, facts?: More) =>
    described({ type: 'string', format: 'id' }, description, facts),
  /** Bytes as base64. */
  bytes: <const More extends Facts<StringSchema> = object>(description?: string, facts?: More) =>
    described({ type: 'string', format: 'byte' }, description, facts),
  /** A time as ISO 8601. */
  time: <const More extends Facts<StringSchema> = object>(description?: string, facts?: More) =>
    described({ type: 'string', format: 'date-time' }, description, facts),
  /** One of several texts. */
  choice: <const Value extends string, const More extends Facts<StringSchema> = object>(
    values: readonly Value[],
    description?: string,
    facts?: More,
  ) => described({ type: 'string', enum: values }, description, facts),
  integer: <const More extends Facts<NumberSchema> = object>(description?: string, facts?: More) =>
    described({ type: 'integer' }, description, facts),
  number: <const More extends Facts<NumberSchema> = object>(description?: string, facts?: More) =>
    described({ type: 'number' }, description, facts),
  boolean: <const More extends Facts<BooleanSchema> = object>(description?: string, facts?: More) =>
    described({ type: 'boolean' }, description, facts),
  /** A boolean that is false by default. */
  flag: (description: string) => described({ type: 'boolean', default: false }, description, {}),
  list: <const Item extends Schema, const More extends Omit<ArraySchema, 'type' | 'items'> = object>(
    items: Item,
    facts?: More,
  ) => described({ type: 'array', items }, undefined, facts),
  /** An object whose keys are ids. */
  map: <const Value extends Schema, const More extends Described = object>(values: Value, facts?: More) =>
    described({ type: 'object', additionalProperties: values }, undefined, facts),
  object: <
    const Required extends DescribedMembers,
    const Optional extends DescribedMembers = Record<never, never>,
    const More extends Omit<ObjectSchema, 'type' | 'properties' | 'required'> = object,
  >(
    required: Required,
    optional?: Optional,
    facts?: More,
  ) => {
    const names = Object.keys(required) as (keyof Required & string)[]
    const properties = { ...required, ...optional } as Required & Optional
    return described({ type: 'object', required: names, properties }, undefined, facts)
  },
  orNull: <const Value extends PlainSchema>(schema: Value, description?: string) =>
    described({ anyOf: [schema, { type: 'null' }] }, description, {}),
}

declare const valueType: unique symbol

/** A JSON Schema (2020-12). Its members are not checked here: `matchesSchema` rejects unknown keywords. */
interface JsonSchema {
  readonly [keyword: string]: unknown
}

/** A JSON Schema of values of the type `T`, as the functions of this file build it. */
export interface SchemaOf<T> extends JsonSchema {
  /** Exists for the compiler only, which compares the schema of a record with its type. */
  readonly [valueType]: T
}

/** The type of the values that a schema accepts. */
export type TypeOf<S> = S extends SchemaOf<infer T> ? T : never

/** Schemas of the members of an object, by their names. */
export type MemberSchemas = Readonly<Record<string, SchemaOf<unknown>>>
type MemberValues<M> = { readonly [Name in keyof M]: TypeOf<M[Name]> }
/** Without optional members, `O` is `never`. */
type OptionalValues<O> = [O] extends [never] ? unknown : Partial<MemberValues<O>>

const schemaOf = <T>(schema: JsonSchema): SchemaOf<T> => schema as SchemaOf<T>

export const string = schemaOf<string>({ type: 'string' })
/** A finite number. JSON can contain numbers that are too large, which become Infinity. */
export const number = schemaOf<number>({ type: 'number' })
export const boolean = schemaOf<boolean>({ type: 'boolean' })
export const unknown = schemaOf<unknown>({})

export const pattern = ({ source }: RegExp): SchemaOf<string> => schemaOf({ type: 'string', pattern: source })

export const integer = (minimum: number, maximum = Number.MAX_SAFE_INTEGER): SchemaOf<number> =>
  schemaOf({ type: 'integer', minimum, maximum })

export const atLeast = (minimum: number): SchemaOf<number> => schemaOf({ type: 'number', minimum })

export const literal = <const V extends string | number | boolean>(value: V): SchemaOf<V> =>
  schemaOf({ const: value })

export const choice = <const V extends string | number>(values: readonly V[]): SchemaOf<V> =>
  schemaOf({ enum: values })

export function orNull<T>(schema: SchemaOf<T>): SchemaOf<T | null> {
  if (Array.isArray(schema.enum)) return schemaOf({ enum: [...schema.enum, null] })
  if (typeof schema.type === 'string') return schemaOf({ ...schema, type: [schema.type, 'null'] })
  return anyOf([schema, schemaOf<null>({ type: 'null' })])
}

export const array = <T>(items: SchemaOf<T>): SchemaOf<readonly T[]> => schemaOf({ type: 'array', items })

/** Returns the schema of an array with at least these items. */
export const tuple = <const S extends readonly SchemaOf<unknown>[]>(items: S): SchemaOf<MemberValues<S>> =>
  schemaOf({ type: 'array', prefixItems: items, minItems: items.length })

/** Returns the schema of an array with exactly these items. */
export const exactTuple = <const S extends readonly SchemaOf<unknown>[]>(
  items: S,
): SchemaOf<MemberValues<S>> => schemaOf({ ...tuple(items), maxItems: items.length })

/** Returns the schema of an object. It accepts further members, because a newer version may have added them. */
export const object = <const R extends MemberSchemas, const O extends MemberSchemas = never>(
  required: R,
  optional?: O,
): SchemaOf<MemberValues<R> & OptionalValues<O>> =>
  schemaOf({ type: 'object', properties: { ...required, ...optional }, required: Object.keys(required) })

/** Returns the schema of an object with exactly these members. */
export const exactObject = <const R extends MemberSchemas, const O extends MemberSchemas = never>(
  required: R,
  optional?: O,
): SchemaOf<MemberValues<R> & OptionalValues<O>> =>
  schemaOf({ ...object(required, optional), additionalProperties: false })

/** Returns the schema of an object whose members all match one schema. */
export const map = <T>(values: SchemaOf<T>): SchemaOf<Readonly<Record<string, T>>> =>
  schemaOf({ type: 'object', additionalProperties: values })

export const anyOf = <const S extends readonly SchemaOf<unknown>[]>(
  schemas: S,
): SchemaOf<TypeOf<S[number]>> => schemaOf({ anyOf: schemas })

/** Returns the schema of an object of one of several kinds. The member `tag` is a literal of each kind. */
export const variant = <const S extends readonly SchemaOf<object>[]>(
  tag: string,
  kinds: S,
): SchemaOf<TypeOf<S[number]>> =>
  schemaOf({ type: 'object', discriminator: { propertyName: tag }, oneOf: kinds })

/**
 * Returns a schema whose values have a narrower type than it checks, such as names that a newer version may
 * have added.
 */
export const trusted = <T>(schema: SchemaOf<unknown>): SchemaOf<T> => schema as SchemaOf<T>

/** Returns a schema whose values must also pass a check that JSON Schema cannot express. */
export const checked = <T>(schema: SchemaOf<T>, check: (value: T) => boolean): SchemaOf<T> =>
  schemaOf({ allOf: [schema, { check }] })

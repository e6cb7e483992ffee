/**
 * The part of JSON Schema (2020-12) that operations are described with. One object, written `as const`, is the
 * validator, the type of the handler's argument and the OpenAPI description.
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

/** Any JSON value. */
interface AnySchema extends Described {
  readonly type?: undefined
  readonly anyOf?: undefined
}

/** A value that fits one of several, such as a string or null. */
interface UnionSchema extends Described {
  readonly type?: undefined
  /** No unions themselves: the type of such would have no end. */
  readonly anyOf: readonly PlainSchema[]
}

interface StringSchema extends Described {
  readonly type: 'string'
  readonly enum?: readonly string[]
  readonly default?: string
  readonly minLength?: number
  readonly maxLength?: number
  /** `id` is ours: see `idProblem`. */
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
  /** Members that are not listed are ignored. */
  readonly properties: { readonly [name: string]: Schema }
  readonly required?: readonly string[]
}

/** An object keyed by ids. Made without a prototype, so that every id can be a key. */
export interface MapSchema extends Described {
  readonly type: 'object'
  readonly properties?: undefined
  readonly additionalProperties: Schema
}

/** The type of the values a schema accepts. */
export type From<S> = S extends { readonly enum: readonly (infer V)[] }
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
            ? readonly From<I>[]
            : S extends { readonly type: 'object'; readonly properties: infer P }
              ? FromMembers<P, RequiredOf<S>>
              : FromOthers<S>

type FromOthers<S> = S extends { readonly type: 'object'; readonly additionalProperties: infer V }
  ? { readonly [id: string]: From<V> }
  : S extends { readonly anyOf: readonly (infer U)[] }
    ? From<U>
    : unknown

type RequiredOf<S> = S extends { readonly required: readonly (infer R)[] } ? R : never

type FromMembers<P, R> = { readonly [K in keyof P as K extends R ? K : never]: From<P[K]> } & {
  readonly [K in keyof P as K extends R ? never : K]?: From<P[K]>
}

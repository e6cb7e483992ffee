/**
 * The part of JSON Schema (2020-12) that operations are described with. One object, written `as const`, is the
 * validator, the type of the handler's argument and the OpenAPI description.
 */
export type Schema =
  | AnySchema
  | StringSchema
  | NumberSchema
  | BooleanSchema
  | ArraySchema
  | ObjectSchema
  | NullSchema

interface Described {
  readonly description?: string
  readonly examples?: readonly unknown[]
}

/** Any JSON value. */
interface AnySchema extends Described {
  readonly type?: undefined
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
              : unknown

type RequiredOf<S> = S extends { readonly required: readonly (infer R)[] } ? R : never

type FromMembers<P, R> = { readonly [K in keyof P as K extends R ? K : never]: From<P[K]> } & {
  readonly [K in keyof P as K extends R ? never : K]?: From<P[K]>
}

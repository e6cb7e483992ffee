import type { AuthLevel } from '../../core/access/credentials/authenticator.ts'
import type { Status } from '../../core/base/error-codes.ts'
import type { Schema } from '../../core/base/schema.ts'
import type { DocumentedError } from '../operation.ts'

/** A parameter of a request that is not a call of an operation. */
export interface ParameterDescription {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly description: string
  /** Schema of the value, and a regular expression that a text must match. */
  readonly schema: Schema & { readonly pattern?: string }
  readonly required?: true
}

/** The requests with one method, for the OpenAPI document. */
export interface MethodDescription {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  /** Tag of the operations that belong to the requests. */
  readonly tag: string
  /** The credentials of a level of operations, or `user` for the token of a user. */
  readonly security: AuthLevel | 'user'
  readonly parameters: readonly ParameterDescription[]
  /** Description of the binary body; undefined if there is none. */
  readonly body?: string
  /** Type of the text body, and schema and example of its first line; undefined if the body has no lines. */
  readonly lines?: { readonly type: string; readonly schema: Schema; readonly example: unknown }
  /** Type, schema and example of the response. */
  readonly answer: { readonly type: string; readonly schema: Schema; readonly example: unknown }
  /** Statuses of the errors that operations also have. */
  readonly commonErrors: readonly Status[]
  readonly errors: readonly DocumentedError[]
}

/** Statuses of the errors of streams. */
export const streamErrors: readonly Status[] = [
  'INVALID_ARGUMENT',
  'UNAUTHENTICATED',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'INTERNAL',
  'UNAVAILABLE',
]

/** A path whose requests are not calls of operations, for the OpenAPI document. */
export interface PathDescription {
  /** The path, with the names of its parameters in braces. */
  readonly path: string
  readonly methods: Readonly<Partial<Record<'get' | 'post', MethodDescription>>>
}

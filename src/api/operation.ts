import type { Caller } from '../access/credentials.ts'
import type { Status } from '../errors.ts'
import type { From, ObjectSchema, Schema } from './schema.ts'
import type { Services } from './services.ts'

/** Whose credentials an operation asks for: an API key and its auth token. */
export type AuthLevel = 'key'

export interface Context {
  readonly caller: Caller
  readonly services: Services
}

export interface Answer<Data> {
  readonly message: string
  readonly data: Data
}

/** An error beyond those that every operation can answer. */
export interface PossibleError {
  readonly status: Status
  /** Completes "when …". */
  readonly when: string
}

/** One REST operation: everything there is to say about it in one object. */
interface Definition<Request extends ObjectSchema, Response extends Schema> {
  readonly path: `/v${1 | 2}/${string}`
  readonly auth: AuthLevel
  readonly summary: string
  readonly description: string
  /** Schema of `data` in the request. */
  readonly request: Request
  /** Schema of `result.data` in the answer. */
  readonly response: Response
  readonly errors: readonly PossibleError[]
  /** Gets checked data. What it throws and is no ApiError is our fault: logged, and answered as INTERNAL. */
  readonly handler: (data: From<Request>, context: Context) => Promise<Answer<From<Response>>>
}

/** An operation of any schema, as the router and the documentation see it. */
export interface Operation extends Omit<Definition<ObjectSchema, Schema>, 'handler'> {
  /** `data` must have passed the request schema. */
  run(data: unknown, context: Context): Promise<Answer<unknown>>
}

export function operation<const Request extends ObjectSchema, const Response extends Schema>(
  definition: Definition<Request, Response>,
): Operation {
  const { handler, ...described } = definition
  return { ...described, run: (data, context) => handler(data as From<Request>, context) }
}

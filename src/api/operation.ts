import { type AnyCaller, type AuthLevel, type Callers, isCallerAt } from '../access/credentials.ts'
import type { Status } from '../errors.ts'
import type { CallIds } from './call-ids.ts'
import type { From, ObjectSchema, Schema } from './schema.ts'
import type { Services } from './services.ts'

/** What a handler gets beside the data. Its caller has shown what the operation's level asks for. */
export interface Context<Level extends AuthLevel = 'key'> {
  readonly caller: Callers[Level]
  readonly services: Services
  readonly ids: CallIds
}

export interface Answer<Data> {
  readonly message: string
  readonly data: Data
  /** Of a listing: where it goes on; absent at its end. */
  readonly pageToken?: string
}

/** An error beyond those that every operation can answer. */
export interface PossibleError {
  readonly status: Status
  /** Completes "when …". */
  readonly when: string
}

/**
 * What a call does to what is kept. `reads`: nothing. `repeatable`: made again with the same data it leaves the same, and
 * succeeds for the same items, though it may say that less was to be done. `adds`: that holds as long as the ids that it
 * makes (`Context.ids`) are the same again. Both are made again, with `idempotency-key`, when nobody knows how they ended.
 * `once`: made again it does something more, or refuses what it has done; it never is.
 */
export type Effect = 'reads' | 'repeatable' | 'adds' | 'once'

/**
 * When a call is recorded in the audit log. `admin`: always, unless nothing is: what administrates, deletes, or answers a
 * secret or all that is kept of a user. `change`: only where all that changes something is. `read`: never.
 */
export type Audited = 'admin' | 'change' | 'read'

/** One REST operation: everything there is to say about it in one object. */
interface Definition<Level extends AuthLevel, Request extends ObjectSchema, Response extends Schema | null> {
  readonly path: `/v${1 | 2}/${string}`
  /** Whose credentials it asks for. */
  readonly auth: Level
  readonly effect: Effect
  readonly audited: Audited
  /** Members of the answer that hold ids of what was made, for the audit log. */
  readonly makes?: readonly string[]
  readonly summary: string
  readonly description: string
  /** Schema of `data` in the request. */
  readonly request: Request
  /** Schema of `result.data` in the answer; null: there is no such member. */
  readonly response: Response
  readonly errors: readonly PossibleError[]
  /** Gets checked data. What it throws and is no ApiError is our fault: logged, and answered as INTERNAL. */
  readonly handler: (data: From<Request>, context: Context<Level>) => Promise<Answer<DataOf<Response>>>
}

type DataOf<Response> = Response extends Schema ? From<Response> : undefined

/** What `result` of an answer is: the whole envelope, or the data alone. */
export type Envelope = 'full' | 'bare'

/** An operation of any schema, as the router and the documentation see it. */
export interface Operation extends Omit<Definition<AuthLevel, ObjectSchema, Schema | null>, 'handler'> {
  readonly envelope: Envelope
  /** `data` must have passed the request schema. @throws TypeError for a caller of another level */
  run(
    data: unknown,
    context: { readonly caller: AnyCaller; readonly services: Services; readonly ids: CallIds },
  ): Promise<Answer<unknown>>
}

export function operation<
  const Level extends AuthLevel,
  const Request extends ObjectSchema,
  const Response extends Schema | null,
>(definition: Definition<Level, Request, Response>): Operation {
  const { handler, ...described } = definition
  return {
    ...described,
    envelope: 'full',
    async run(data, { caller, ...context }) {
      if (!isCallerAt(caller, definition.auth)) throw new TypeError('the caller is of another level')
      return handler(data as From<Request>, { caller, ...context })
    },
  }
}

/** An operation whose `result` is what the handler answers, without status and message: an exception. */
export function bareOperation<
  const Level extends AuthLevel,
  const Request extends ObjectSchema,
  const Response extends Schema,
>(
  definition: Omit<Definition<Level, Request, Response>, 'handler'> & {
    readonly handler: (data: From<Request>, context: Context<Level>) => Promise<DataOf<Response>>
  },
): Operation {
  const { handler } = definition
  const full = operation<Level, Request, Response>({
    ...definition,
    handler: async (data, context) => ({ message: '', data: await handler(data, context) }),
  })
  return { ...full, envelope: 'bare' }
}

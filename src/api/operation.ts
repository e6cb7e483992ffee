import {
  type AnyCaller,
  type AuthLevel,
  type CallerByLevel,
  hasAuthLevel,
} from '../access/credentials/authenticator.ts'
import type { ApiError, ErrorCode, Status } from '../errors.ts'
import type { EncodedJson, StreamedArray } from '../model/json-pieces.ts'
import type { ApiServices } from './api-services.ts'
import type { FromSchema, ObjectSchema, Schema } from './schema.ts'
import type { SeededIds } from './seeded-ids.ts'
import type { ValidationIssue } from './validator.ts'

/** Context of a handler, in addition to the data. The caller has the credentials that the operation requires. */
export interface OperationContext<Level extends AuthLevel = 'key'> {
  readonly caller: CallerByLevel[Level]
  readonly services: ApiServices
  readonly ids: SeededIds
  /** The storage limit that the workspace has reached; null, also unless the operation `grows` as `content`. */
  readonly full: ApiError | null
}

export interface OperationResult<Data> {
  readonly message: string
  readonly data: Data
  /** Only for listings: token of the next page; absent on the last page. */
  readonly pageToken?: string
  /** One sentence for each part of the request that was accepted and has no effect; absent if there is none. */
  readonly warnings?: readonly string[]
}

/** `warnings` of a response. */
export const warningsOf = (warnings: readonly string[]): Pick<OperationResult<unknown>, 'warnings'> =>
  warnings.length === 0 ? {} : { warnings }

/** An error beyond the errors that every operation can return. */
export interface DocumentedError {
  readonly status: Status
  /** The usual code. If absent, it is the code that most errors of the status have. */
  readonly code?: ErrorCode
  /** Completes "when …". */
  readonly when: string
}

/**
 * Effect of a call on stored data. `reads`: none. `repeatable`: a repeated call with the same data leaves the same
 * state, and succeeds for the same items, but may report fewer changes. `adds`: the same, if the ids that it creates
 * (`OperationContext.ids`) are the same again. Both run again with the same `idempotency-key` after an unknown outcome.
 * `once`: not idempotent; never retried automatically.
 */
export type Effect = 'reads' | 'repeatable' | 'adds' | 'once'

/**
 * When the audit log records a call. `admin`: always, unless the log is off; for administration, deletion, and access
 * to secrets or to all data of a user. `change`: only if the log records all changes. `read`: never.
 */
export type AuditPolicy = 'admin' | 'change' | 'read'

/** The reason in the result of an entry that failed. */
export interface EntryFailure {
  readonly message: string
  readonly details: { readonly code: ErrorCode; readonly issues: readonly ValidationIssue[] }
}

/** The entries of a request whose response has a result for each of them. */
export interface Batch {
  /** Members of `data` that are lists of entries, each with the member of an entry that is its id; null: entries are ids. */
  readonly items: Readonly<Record<string, string | null>>
  /** Checks rules of an entry beyond its schema. @throws ApiError INVALID_ARGUMENT @param pointer JSON pointer of the entry */
  readonly check?: (entry: never, pointer: string) => void
  /** The result of an entry that does not fit. @param data members of the request */
  readonly rejected: (id: string, failure: EntryFailure, data: ReadonlyMap<string, unknown>) => object
}

/** One REST operation with its complete description. */
interface Definition<Level extends AuthLevel, Request extends ObjectSchema, Response extends Schema | null> {
  readonly path: `/v${1 | 2}/${string}`
  /** Level of the required credentials. */
  readonly auth: Level
  readonly effect: Effect
  /** It rejects unknown members although it only reads: to ignore one could widen what the response permits. */
  readonly strict?: true
  readonly audited: AuditPolicy
  /**
   * Whether a call may add to what the workspace stores. `records`: it is rejected when the workspace is full. `content`:
   * then the handler accepts it only if it deletes.
   */
  readonly grows?: 'records' | 'content'
  /** Present if the specification has a result for each entry: entries that do not fit do not stop the others. */
  readonly batch?: Batch
  /** Whether a response may have `warnings`. */
  readonly warns?: true
  /** Members of the response with ids of created items, for the audit log. */
  readonly makes?: readonly string[]
  readonly summary: string
  readonly description: string
  /** Schema of `data` in the request. */
  readonly request: Request
  /** Schema of `result.data` in the response; null: no such member. */
  readonly response: Response
  readonly errors: readonly DocumentedError[]
  /**
   * Gets validated data. Any other error than ApiError is a fault of the server: logged, and returned as INTERNAL.
   */
  readonly handler: (
    data: FromSchema<Request>,
    context: OperationContext<Level>,
  ) => Promise<OperationResult<DataOf<Response>>>
}

type DataOf<Response> = Response extends Schema ? Sendable<FromSchema<Response>> : undefined

/** A value of a response; some parts are encoded already, or are encoded during sending. */
type Sendable<T> = T | EncodedJson | SendableItems<T>

type SendableItems<T> = T extends readonly (infer Item)[]
  ? StreamedArray | readonly Sendable<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: Sendable<T[Name]> }
    : never

/** Shape of `result` in a response: the whole envelope, or only the data. */
export type ResponseShape = 'full' | 'bare'

/** An operation of any schema, as used by the router and the documentation. */
export interface Operation extends Omit<Definition<AuthLevel, ObjectSchema, Schema | null>, 'handler'> {
  readonly envelope: ResponseShape
  /** `data` must have passed the request schema. @throws TypeError for a caller of another level */
  run(
    data: unknown,
    context: Omit<OperationContext, 'caller'> & { readonly caller: AnyCaller },
  ): Promise<OperationResult<unknown>>
}

export function defineOperation<
  const Level extends AuthLevel,
  const Request extends ObjectSchema,
  const Response extends Schema | null,
>(definition: Definition<Level, Request, Response>): Operation {
  const { handler, ...described } = definition
  return {
    ...described,
    envelope: 'full',
    async run(data, { caller, ...context }) {
      if (!hasAuthLevel(caller, definition.auth)) throw new TypeError('the caller is of another level')
      return handler(data as FromSchema<Request>, { caller, ...context })
    },
  }
}

/** An exception: an operation whose `result` is the value of the handler, without status and message. */
export function defineBareOperation<
  const Level extends AuthLevel,
  const Request extends ObjectSchema,
  const Response extends Schema,
>(
  definition: Omit<Definition<Level, Request, Response>, 'handler'> & {
    readonly handler: (
      data: FromSchema<Request>,
      context: OperationContext<Level>,
    ) => Promise<DataOf<Response>>
  },
): Operation {
  const { handler } = definition
  const full = defineOperation<Level, Request, Response>({
    ...definition,
    handler: async (data, context) => ({ message: '', data: await handler(data, context) }),
  })
  return { ...full, envelope: 'bare' }
}

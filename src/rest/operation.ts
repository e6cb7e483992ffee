import type { RequiredRight } from '../core/access/agents/agent-access.ts'
import {
  type AnyCaller,
  type AuthLevel,
  type CallerByLevel,
  hasAuthLevel,
  type TenantCaller,
} from '../core/access/credentials/authenticator.ts'
import type { ApiError, ErrorCode } from '../core/base/errors.ts'
import type { FromSchema, ObjectSchema, Schema } from '../core/base/schema.ts'
import type { EncodedJson, StreamedArray } from '../core/model/json-pieces.ts'
import type { CreatedContent } from '../core/rooms/editor-content.ts'
import type { SeededIds } from './seeded-ids.ts'
import type { Services } from './services.ts'
import type { ValidationIssue } from './validator.ts'

/**
 * Context of a handler, in addition to the data. The caller has the credentials that the operation requires.
 */
export interface OperationContext<Level extends AuthLevel = 'key'>
  extends CallContext<CallerByLevel[Level]> {}

/** Context of an operation that is also open to agents. */
export type TenantContext = CallContext<TenantCaller>

interface CallContext<Caller> {
  readonly caller: Caller
  readonly services: Services
  readonly ids: SeededIds
  /** The text of the body, which contains `data`. */
  readonly text: string
  /** Counts further calls of the caller, for work that is worth more than one call. Later calls then wait. */
  readonly charge: (calls: number) => void
  /**
   * The error of the storage limit that the workspace has reached; null if it has not reached the limit.
   * Always null unless the operation has `grows: 'grants'` or `grows: 'content'`.
   */
  readonly full: ApiError | null
}

export interface OperationResult<Data> {
  readonly message: string
  readonly data: Data
  /** Token of the next page of a listing; absent on the last page, and in other operations. */
  readonly pageToken?: string
  /**
   * Sentences about parts of the request that were accepted but have no effect, or may be lost later, one for
   * each part. Absent if there are none.
   */
  readonly warnings?: readonly string[]
  /** What the call has created. Present if and only if the operation has `creates`. */
  readonly created?: CreatedContent | CreatedLists
}

/** Ids of the missing parents that a call with create flags has created; no member if there are none. */
export interface CreatedLists {
  readonly organizations?: readonly string[]
  readonly documents?: readonly string[]
  readonly folders?: readonly string[]
}

/** Returns the member `warnings` of a response; no member if there are no warnings. */
export const warningsOf = (warnings: readonly string[]): Pick<OperationResult<unknown>, 'warnings'> =>
  warnings.length === 0 ? {} : { warnings }

/** An error of an operation, in addition to the errors that every operation can return. */
export interface DocumentedError {
  readonly code: ErrorCode
  /** Completes the sentence "when …". */
  readonly when: string
}

/**
 * Effect of a call on stored data.
 * - `reads`: none.
 * - `repeatable`: a repeated call with the same data leads to the same state and succeeds for the same items,
 * but may report fewer changes. It runs again with the same `idempotency-key` after an unknown outcome.
 * - `adds`: like `repeatable`, provided that the ids that the call creates (`OperationContext.ids`) are the
 * same again.
 * - `once`: not idempotent; never retried automatically.
 */
export type Effect = 'reads' | 'repeatable' | 'adds' | 'once'

/**
 * When the audit log records a call.
 * - `admin`: always, unless the log is off. For administration, deletion, and access to secrets or to all
 * data of a user.
 * - `change`: only if the log records all changes.
 * - `read`: never.
 */
type AuditPolicy = 'admin' | 'change' | 'read'

/** The reason why an entry failed, as the result of the entry contains it. */
interface EntryFailure {
  readonly message: string
  readonly details: { readonly code: ErrorCode; readonly issues: readonly ValidationIssue[] }
}

/** The entries of a request whose response has a result for each entry. */
export interface Batch {
  /**
   * Names of the members of `data` that are lists of entries. The value is the name of the member that
   * contains the id of an entry; null: the entries are ids themselves.
   */
  readonly items: Readonly<Record<string, string | null>>
  /**
   * Checks rules of an entry that the schema does not contain.
   * @param pointer JSON pointer of the entry
   * @throws ApiError INVALID_ARGUMENT
   */
  readonly check?: (entry: never, pointer: string) => void
  /**
   * Returns the result of an invalid entry.
   * @param data members of the request
   */
  readonly rejected: (id: string, failure: EntryFailure, data: ReadonlyMap<string, unknown>) => object
}

/** How agents may call an operation. */
export interface AgentRule {
  /**
   * The right that an agent needs on the document of the call, and on its editor if the request names one. `each`: the
   * call names no document, and the handler leaves out the documents on which the agent has no role.
   */
  readonly role: RequiredRight | 'each'
  /**
   * Members that contain the id of the user of the call. The server sets them to the id of the agent, and rejects any
   * other id. A path with `*` stands for all elements of a list: `comments.*.userId`.
   */
  readonly ids?: readonly string[]
  /**
   * Members that contain the user of the call as an object, with paths as in `ids`. The server sets the id and the name,
   * and removes the email address.
   */
  readonly users?: readonly string[]
  /** The member with data about the change. The server adds the model, and the user for whom the agent acts. */
  readonly meta?: string
  /** Members that agents must not use, with paths as in `ids`. */
  readonly without?: readonly string[]
}

/** One REST operation with its complete description. */
export interface OperationDefinition<
  Level extends AuthLevel,
  Request extends ObjectSchema,
  Response extends Schema | null,
> {
  readonly path: `/v${1 | 2}/${string}`
  /** Level of the required credentials. */
  readonly auth: Level
  /** How agents may call the operation with their tokens; absent: agents must not call it. */
  readonly agents?: AgentRule
  readonly effect: Effect
  /**
   * True if the operation rejects unknown members although it only reads. If the operation ignored a
   * misspelled filter, the response could contain more than intended.
   */
  readonly strict?: true
  /** Returns the form that the data must have instead of the unknown member at `path`; null if it is not known. */
  readonly unknownHint?: (data: object, path: string) => string | null
  readonly audited: AuditPolicy
  /**
   * `owner`: the handler uses open editors, the presence or the clients of one document, which the members
   * `organizationId` and `documentId` name. The node that owns the document runs the handler. Absent: any node.
   */
  readonly runsAt?: 'owner'
  /** True if a call may wait for events. Its duration then says nothing about the server. */
  readonly waits?: true
  /**
   * Set if a call may add to the stored bytes of the workspace. If the workspace is full, a call with `records` or
   * `editors` is rejected, and a handler with `grants` or `content` accepts only what adds nothing. The size of a call
   * counts for `records` and `grants`. The engine counts the content of editors when it stores it.
   */
  readonly grows?: 'records' | 'editors' | 'grants' | 'content'
  /**
   * Set if the response has a result for each entry, as the specification requires. Invalid entries then do
   * not prevent the execution of the other entries.
   */
  readonly batch?: Batch
  /** Whether a response may have `warnings`. */
  readonly warns?: true
  /** Whether responses have `created`. */
  readonly creates?: true
  /** True if `result` of a response is only the data, without status and message. Such operations are exceptions. */
  readonly bare?: true
  /** Names of the response members that contain ids of created items, for the audit log. */
  readonly makes?: readonly string[]
  readonly summary: string
  readonly description: string
  /** Schema of `data` in the request. */
  readonly request: Request
  /** Schema of `result.data` in the response; null: the response has no such member. */
  readonly response: Response
  /** Default: none. */
  readonly errors?: readonly DocumentedError[]
  /**
   * Executes a call with validated data. An error that is not an ApiError is a fault of the server: it is
   * logged, and the caller gets INTERNAL.
   */
  readonly handler: (
    data: FromSchema<Request>,
    context: OperationContext<Level>,
  ) => Promise<OperationResult<DataOf<Response>>>
}

type DataOf<Response> = Response extends Schema ? Sendable<FromSchema<Response>> : undefined

/** A value of a response. Some of its parts are already encoded, or are encoded while they are sent. */
type Sendable<T> = T | EncodedJson | SendableItems<T>

type SendableItems<T> = T extends readonly (infer Item)[]
  ? StreamedArray | readonly Sendable<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: Sendable<T[Name]> }
    : never

/** An operation with any schemas. The router and the documentation use this type. */
export interface Operation
  extends Omit<OperationDefinition<AuthLevel, ObjectSchema, Schema | null>, 'errors' | 'handler'> {
  readonly errors: readonly DocumentedError[]
  /**
   * Executes a call.
   * @param data data that is valid according to the request schema
   * @throws TypeError for a caller of another level
   */
  run(data: unknown, context: CallContext<AnyCaller>): Promise<OperationResult<unknown>>
}

/** An operation of whose response the compiler knows the schema. */
export interface TypedOperation<Response extends Schema | null> extends Operation {
  readonly response: Response
}

export function defineOperation<
  const Level extends AuthLevel,
  const Request extends ObjectSchema,
  const Response extends Schema | null,
>(definition: OperationDefinition<Level, Request, Response>): TypedOperation<Response> {
  const { handler, ...described } = definition
  return {
    errors: [],
    ...described,
    async run(data, { caller, ...context }) {
      if (!hasAuthLevel(caller, definition.auth))
        throw new TypeError('the caller does not have the auth level of this operation')
      return handler(data as FromSchema<Request>, { caller, ...context })
    },
  }
}

/** Defines an operation that agents may call in addition to backends. */
export function defineAgentOperation<
  const Request extends ObjectSchema,
  const Response extends Schema | null,
>({
  handler,
  ...described
}: Omit<OperationDefinition<'key', Request, Response>, 'auth' | 'agents' | 'handler'> & {
  readonly agents: AgentRule
  readonly handler: (
    data: FromSchema<Request>,
    context: TenantContext,
  ) => Promise<OperationResult<DataOf<Response>>>
}): TypedOperation<Response> {
  return {
    errors: [],
    ...described,
    auth: 'key',
    async run(data, { caller, ...context }) {
      if (caller.level !== 'key' && caller.level !== 'agent')
        throw new TypeError('the caller is neither a backend nor an agent')
      return handler(data as FromSchema<Request>, { caller, ...context })
    },
  }
}

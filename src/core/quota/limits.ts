import { ApiError } from '../base/errors.ts'
import { environmentOf, type OptionKey, optionKeys } from '../config/config.ts'

/**
 * Scope of a limit. The limit applies separately to each object of this kind: to each address, each
 * workspace, and so on.
 */
export type LimitScope =
  | 'server'
  | 'address'
  | 'workspace'
  | 'apiKey'
  | 'agent'
  | 'connection'
  | 'document'
  | 'call'

/**
 * All limits whose violations are counted and logged, with their scopes. A limit that an option sets has the
 * name of the option; the other limits are fixed. The list must be complete, because the metric has one
 * series for each limit.
 */
export const limitScopes = {
  maxConnections: 'server',
  maxConnectionsPerAddress: 'address',
  maxConnectionsPerWorkspace: 'workspace',
  maxUnauthenticatedPerAddress: 'address',
  /** Number of connections that are not websockets. */
  httpConnectionsPerAddress: 'address',
  connectsPerAddress: 'address',
  authTimeoutSeconds: 'connection',
  maxDocumentsPerWorkspace: 'workspace',
  newDocumentsPerWorkspace: 'workspace',
  maxStoredBytesPerWorkspace: 'workspace',
  receiveBytesPerWorkspace: 'workspace',
  callsPerAddress: 'address',
  callsPerKey: 'apiKey',
  callsPerAgent: 'agent',
  /** Calls per second of a workspace for which the operator has set this limit. */
  callsPerWorkspace: 'workspace',
  workspaceReadsPerMinute: 'workspace',
  bodyBytesPerKey: 'apiKey',
  maxBodyBytes: 'call',
  maxWebhookContentBytes: 'call',
  maxResponseBytes: 'call',
  /** UTF-16 units of existing content that a change compares with new content. */
  comparedCharacters: 'call',
  maxMessageBytes: 'connection',
  maxDocumentBytes: 'document',
  sendBufferBytes: 'connection',
  /** Memory of the request bodies of one workspace, in bytes. */
  bodyMemoryPerWorkspace: 'workspace',
  /** Memory of all request bodies, in bytes. */
  bodyMemoryTotal: 'server',
  /**
   * Number of connections of any kind. The limit is derived from the number of files that the process may
   * open.
   */
  openFiles: 'server',
  /** Number of calls with an `idempotency-key` whose responses are stored. */
  idempotentCalls: 'apiKey',
  /** Number of calls and streams that wait for events of one change feed, on one node. */
  feedReadersPerKey: 'apiKey',
  /** Bytes of the content of a stream. */
  streamBytes: 'call',
  /** Seconds from the opening of a stream to its end. */
  streamSeconds: 'call',
  /** Number of open streams on one node. */
  streamsPerKey: 'apiKey',
  streamsPerAgent: 'agent',
  /** Number of virtual users of one document. A virtual user is a user whom a backend shows as present. */
  virtualUsersPerDocument: 'document',
  /** Number of virtual users of all documents. */
  virtualUsersTotal: 'server',
  /** Number of rejected connections whose clients have not received the reason yet. */
  pendingRejections: 'server',
  /** Bytes that a client sends while it is being rejected. */
  unauthenticatedBytes: 'connection',
  /** Bytes of an incomplete message before authentication. */
  incompleteMessageBytes: 'connection',
  /** Memory of incomplete messages, in bytes. */
  incompleteMemoryPerAddress: 'address',
  incompleteMemoryPerWorkspace: 'workspace',
  incompleteMemoryTotal: 'server',
  /** Memory of bytes that were sent on websockets and in responses, and that clients have not read yet. */
  unreadMemoryPerAddress: 'address',
  unreadMemoryPerWorkspace: 'workspace',
  unreadMemoryTotal: 'server',
  /** Seconds within which a client must finish a message, and must read the bytes sent to it. */
  transferTimeoutSeconds: 'connection',
  /** Memory of updates whose dependencies are missing. */
  pendingUpdateMemoryPerWorkspace: 'workspace',
  pendingUpdateMemoryTotal: 'server',
  /** Memory of updates that wait because their document is locked. */
  queuedUpdateMemoryPerWorkspace: 'workspace',
  queuedUpdateMemoryTotal: 'server',
  /** Memory of the documents that threads process. */
  threadMemoryPerWorkspace: 'workspace',
  threadMemoryTotal: 'server',
  /** Number of rejected tokens on one multiplexed websocket. */
  rejectedTokens: 'connection',
  /** Bytes of updates that are accepted and not durable yet. */
  uncommittedBytes: 'server',
  /** Steps that Yjs needs to read a document with the received update. */
  integrationSteps: 'document',
  /** Milliseconds of each second that the event loop spends on expensive edits. */
  integrationMsPerSecond: 'workspace',
  /** Number of jobs for large content that wait for a thread. */
  threadQueueLength: 'server',
  /** Number of jobs of one workspace for large content that wait for a thread. */
  threadQueuePerWorkspace: 'workspace',
  /** Maximum seconds that the work of one call takes on a thread. */
  threadJobSeconds: 'call',
  /** Seconds of thread time for jobs that were stopped at their deadline, or that ended their thread. */
  threadOverrunSeconds: 'workspace',
} as const satisfies Record<string, LimitScope>

export type LimitName = keyof typeof limitScopes

export const limitNames = Object.keys(limitScopes) as LimitName[]

/** Details of an error that reports an exceeded limit. */
interface LimitDetails extends Record<string, unknown> {
  readonly limit: LimitName
  readonly value: number
  readonly scope: LimitScope
}

export const limitDetails = (limit: LimitName, value: number): LimitDetails => ({
  limit,
  value,
  scope: limitScopes[limit],
})

interface ExhaustedOptions {
  /** Describes the problem, such as which quantity is too large. */
  readonly problem: string
  /** Describes the remedy, such as `try again after 5 s`. */
  readonly remedy: string
  /** Seconds after which the caller should retry: a whole number, at least 1. */
  readonly retryAfterSeconds: number
  /** Option that raises the limit. Default: the option with the same name as the limit, if there is one. */
  readonly option?: OptionKey
}

/**
 * Creates the error RESOURCE_EXHAUSTED for a call that exceeds a limit at the moment. The message consists of
 * the problem, the limit with its value, the remedy, the time to wait, and the option that raises the limit.
 */
export function exhausted(limit: LimitName, value: number, options: ExhaustedOptions): ApiError {
  const { problem, remedy, retryAfterSeconds, option = optionKeys.find((key) => key === limit) } = options
  const raise = option === undefined ? '' : `, or have the operator raise ${environmentOf(option)}`
  const named = problem.includes(limit) ? problem : `${problem} (limit ${limit}: ${value})`
  const waits = /\bafter 1 minute\b|\bafter \d+ s\b/.test(remedy)
    ? ''
    : `, try again after ${retryAfterSeconds} s`
  const details = limitDetails(limit, value)
  const message = `${named}; ${remedy}${waits}${raise}`
  return new ApiError('limit/exceeded', message, { details, retryAfterSeconds })
}

/** Returns the limit that an error reports; null if the error is not about a limit. */
export function limitOf(error: unknown): LimitName | null {
  const name = error instanceof ApiError ? error.details?.limit : undefined
  return typeof name === 'string' && Object.hasOwn(limitScopes, name) ? (name as LimitName) : null
}

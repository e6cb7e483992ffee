import { environmentOf, type OptionKey, optionKeys } from '../config.ts'
import { ApiError } from '../errors.ts'

/** Scope of a limit. Each object of this kind (each address, each workspace, …) has its own count. */
export type LimitScope = 'server' | 'address' | 'workspace' | 'apiKey' | 'connection' | 'document' | 'call'

/**
 * Every limit whose hits are counted and logged, with its scope. A limit that an option sets has the name of
 * the option; the other limits are fixed. The list is closed, because the metric has one series for each
 * limit.
 */
export const limitScopes = {
  maxConnections: 'server',
  maxConnectionsPerAddress: 'address',
  maxConnectionsPerWorkspace: 'workspace',
  maxUnauthenticatedPerAddress: 'address',
  /** Connections that are not websockets. */
  httpConnectionsPerAddress: 'address',
  connectsPerAddress: 'address',
  authTimeoutSeconds: 'connection',
  maxDocumentsPerWorkspace: 'workspace',
  newDocumentsPerWorkspace: 'workspace',
  maxStoredBytesPerWorkspace: 'workspace',
  receiveBytesPerWorkspace: 'workspace',
  callsPerAddress: 'address',
  callsPerKey: 'apiKey',
  workspaceReadsPerMinute: 'workspace',
  bodyBytesPerKey: 'apiKey',
  maxBodyBytes: 'call',
  maxResponseBytes: 'call',
  /** UTF-16 units of existing content that a change compares with new content. */
  comparedCharacters: 'call',
  maxMessageBytes: 'connection',
  maxDocumentBytes: 'document',
  sendBufferBytes: 'connection',
  /** Memory of request bodies of one workspace, in bytes. */
  bodyMemoryPerWorkspace: 'workspace',
  /** Memory of request bodies in total, in bytes. */
  bodyMemoryTotal: 'server',
  /** Connections of any kind. The limit is derived from the number of files that the process may open. */
  openFiles: 'server',
  /** Calls with an `idempotency-key` whose responses are stored. */
  idempotentCalls: 'apiKey',
  /** Virtual users of one document: users whom a backend shows as present. */
  virtualUsersPerDocument: 'document',
  /** Virtual users of all documents. */
  virtualUsersTotal: 'server',
  /** Rejected connections to which the reason has not been sent yet. */
  pendingRejections: 'server',
  /** Bytes that a client sends while it is being rejected. */
  unauthenticatedBytes: 'connection',
  /** Bytes of an incomplete message before authentication. */
  incompleteMessageBytes: 'connection',
  /** Memory of incomplete messages. */
  incompleteMemoryPerAddress: 'address',
  incompleteMemoryPerWorkspace: 'workspace',
  incompleteMemoryTotal: 'server',
  /** Memory of sent bytes that clients have not read yet, on websockets and in responses. */
  unreadMemoryPerAddress: 'address',
  unreadMemoryPerWorkspace: 'workspace',
  unreadMemoryTotal: 'server',
  /** Time in which a client must finish a message, and read the sent bytes. */
  transferTimeoutSeconds: 'connection',
  /** Memory of updates whose dependencies are missing. */
  pendingUpdateMemoryPerWorkspace: 'workspace',
  pendingUpdateMemoryTotal: 'server',
  /** Memory of updates that wait because their document must not change at the moment. */
  queuedUpdateMemoryPerWorkspace: 'workspace',
  queuedUpdateMemoryTotal: 'server',
  /** Memory of documents that are on a thread or wait for a thread. */
  threadMemoryPerWorkspace: 'workspace',
  threadMemoryTotal: 'server',
  /** Number of rejected tokens on one multiplexed websocket. */
  rejectedTokens: 'connection',
  /** Bytes that are accepted and not yet durable. */
  uncommittedBytes: 'server',
  /** Steps that Yjs needs to read a document, including the received update. */
  integrationSteps: 'document',
  /** Milliseconds per second that the event loop spends on expensive edits. */
  integrationMsPerSecond: 'workspace',
  /** Number of large contents that wait for a thread. */
  threadQueueLength: 'server',
  /** Number of large contents of one workspace that wait for a thread. */
  threadQueuePerWorkspace: 'workspace',
  /** Maximum time on a thread for the work of one call. */
  threadJobSeconds: 'call',
  /** Thread time of work that was ended at its deadline, or that ended its thread. */
  threadOverrunSeconds: 'workspace',
} as const satisfies Record<string, LimitScope>

export type LimitName = keyof typeof limitScopes

export const limitNames = Object.keys(limitScopes) as LimitName[]

/** Details of an error that reports an exceeded limit. */
export interface LimitDetails extends Record<string, unknown> {
  readonly limit: LimitName
  readonly value: number
  readonly scope: LimitScope
}

export const limitDetails = (limit: LimitName, value: number): LimitDetails => ({
  limit,
  value,
  scope: limitScopes[limit],
})

export interface ExhaustedOptions {
  /** Describes the problem, such as which quantity is too large. */
  readonly problem: string
  /** Describes the remedy, such as `try again after 5 s`. */
  readonly remedy: string
  /** Whole number of seconds, at least 1. */
  readonly retryAfterSeconds: number
  /** Option that raises the limit. Default: the option with the same name as the limit, if there is one. */
  readonly option?: OptionKey
}

/**
 * Creates the error for a call that currently exceeds a limit. The message consists of the problem, the
 * remedy, and the option that raises the limit.
 */
export function exhausted(limit: LimitName, value: number, options: ExhaustedOptions): ApiError {
  const { problem, remedy, retryAfterSeconds, option = optionKeys.find((key) => key === limit) } = options
  const raise = option === undefined ? '' : `, or have the operator raise ${environmentOf(option)}`
  const details = limitDetails(limit, value)
  return new ApiError('limit/exceeded', `${problem}; ${remedy}${raise}`, { details, retryAfterSeconds })
}

/** Returns the limit that an error reports; null if the error is not about a limit. */
export function limitOf(error: unknown): LimitName | null {
  const name = error instanceof ApiError ? error.details?.limit : undefined
  return typeof name === 'string' && Object.hasOwn(limitScopes, name) ? (name as LimitName) : null
}

import { environmentOf, type OptionKey, optionKeys } from '../config.ts'
import { ApiError } from '../errors.ts'

/** Scope of a limit: each of these has its own count. */
export type LimitScope = 'server' | 'address' | 'workspace' | 'apiKey' | 'connection' | 'document' | 'call'

/**
 * Every limit whose hits are counted and logged, with its scope. Each one is named like its option; the last
 * ones are fixed. The list is closed: the metric has one series for each.
 */
export const limitScopes = {
  maxConnections: 'server',
  maxConnectionsPerAddress: 'address',
  maxConnectionsPerWorkspace: 'workspace',
  maxUnauthenticatedPerAddress: 'address',
  maxHttpConnectionsPerAddress: 'address',
  connectsPerAddressPerSecond: 'address',
  authTimeoutSeconds: 'connection',
  maxDocumentsPerWorkspace: 'workspace',
  newDocumentsPerWorkspacePerSecond: 'workspace',
  maxStoredBytesPerWorkspace: 'workspace',
  receiveBytesPerWorkspacePerSecond: 'workspace',
  callsPerAddressPerSecond: 'address',
  callsPerKeyPerSecond: 'apiKey',
  workspaceReadsPerMinute: 'workspace',
  bodyBytesPerKeyPerSecond: 'apiKey',
  maxBodyBytes: 'call',
  maxResponseBytes: 'call',
  /** UTF-16 units of content as text that a change compares with new content. */
  comparedCharacters: 'call',
  maxMessageBytes: 'connection',
  maxDocumentBytes: 'document',
  sendBufferBytes: 'connection',
  /** Bytes of request bodies of a workspace that are in memory. */
  bodyMemoryPerWorkspace: 'workspace',
  /** The same, in total. */
  bodyMemoryTotal: 'server',
  /** Connections of any kind for which the process has files. */
  openFiles: 'server',
  /** Calls with an `idempotency-key` whose responses are stored. */
  idempotentCalls: 'apiKey',
  /** Users of a document whom a backend shows as present. */
  virtualUsersPerDocument: 'document',
  /** The same, in total. */
  virtualUsersTotal: 'server',
  /** Rejected connections that wait for the reason to be sent. */
  pendingRejections: 'server',
  /** Bytes of a client that is being rejected. */
  unauthenticatedBytes: 'connection',
  /** Bytes of an incomplete message before authentication. */
  incompleteMessageBytes: 'connection',
  /** Memory of incomplete messages. */
  incompleteMemoryPerAddress: 'address',
  incompleteMemoryPerWorkspace: 'workspace',
  incompleteMemoryTotal: 'server',
  /** Memory of bytes that were sent to websockets, or as responses, and that their clients have not read. */
  unreadMemoryPerAddress: 'address',
  unreadMemoryPerWorkspace: 'workspace',
  unreadMemoryTotal: 'server',
  /** Time to finish a message, and to read the sent bytes. */
  transferTimeoutSeconds: 'connection',
  /** Memory of updates whose dependencies are missing. */
  pendingUpdateMemoryPerWorkspace: 'workspace',
  pendingUpdateMemoryTotal: 'server',
  /** Memory of updates that wait until their document may change. */
  queuedUpdateMemoryPerWorkspace: 'workspace',
  queuedUpdateMemoryTotal: 'server',
  /** Memory of documents that threads work on, or that wait for one. */
  threadMemoryPerWorkspace: 'workspace',
  threadMemoryTotal: 'server',
  /** Tokens that were rejected on a multiplexed websocket. */
  rejectedTokens: 'connection',
  /** Bytes that are accepted and not yet durable. */
  uncommittedBytes: 'server',
  /** Steps of Yjs to read a document, including the received update. */
  integrationSteps: 'document',
  /** Milliseconds of the event loop that expensive edits take, per second. */
  integrationMsPerSecond: 'workspace',
  /** Large contents that wait for a thread. */
  threadQueueLength: 'server',
  /** The part of them that one workspace may have. */
  threadQueuePerWorkspace: 'workspace',
  /** Time for the work of one call on a thread. */
  threadJobSeconds: 'call',
  /** Time of work that was ended, or that ended its thread. */
  threadOverrunSeconds: 'workspace',
} as const satisfies Record<string, LimitScope>

export type LimitName = keyof typeof limitScopes

export const limitNames = Object.keys(limitScopes) as LimitName[]

/** Details of an error about a limit. */
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
  /** The problem: the quantity that is too large. */
  readonly problem: string
  /** The remedy, such as `try again after 5 s`. */
  readonly remedy: string
  /** A whole number, at least 1. */
  readonly retryAfterSeconds: number
  /** The option that raises the limit; default: the option of the same name, if any. */
  readonly option?: OptionKey
}

/**
 * The error for a call that exceeds a limit at the moment. Its message is the problem, the remedy, and the
 * option.
 */
export function exhausted(limit: LimitName, value: number, options: ExhaustedOptions): ApiError {
  const { problem, remedy, retryAfterSeconds, option = optionKeys.find((key) => key === limit) } = options
  const raise = option === undefined ? '' : `, or have the operator raise ${environmentOf(option)}`
  const details = limitDetails(limit, value)
  return new ApiError('limit/exceeded', `${problem}; ${remedy}${raise}`, { details, retryAfterSeconds })
}

/** Returns the limit of an error; null without one. */
export function limitOf(error: unknown): LimitName | null {
  const name = error instanceof ApiError ? error.details?.limit : undefined
  return typeof name === 'string' && Object.hasOwn(limitScopes, name) ? (name as LimitName) : null
}

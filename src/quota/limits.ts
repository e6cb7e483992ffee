import { ApiError } from '../errors.ts'

/** Whose a limit is: each of these has it for itself. */
export type LimitScope = 'server' | 'address' | 'workspace' | 'apiKey' | 'connection' | 'document' | 'call'

/**
 * Every limit whose acting is counted and logged, and whose it is. Each is named as its option; the last ones are
 * fixed. The list is closed: the metric has one series for each.
 */
export const limitScopes = {
  maxConnections: 'server',
  maxConnectionsPerAddress: 'address',
  maxConnectionsPerWorkspace: 'workspace',
  maxPendingPerAddress: 'address',
  maxHttpConnectionsPerAddress: 'address',
  connectsPerAddressPerSecond: 'address',
  authTimeoutSeconds: 'connection',
  maxDocumentsPerWorkspace: 'workspace',
  receiveBytesPerSecond: 'workspace',
  callsPerAddressPerSecond: 'address',
  rateLimitPerSecond: 'apiKey',
  rateLimitWorkspaceGetPerMinute: 'workspace',
  bodyBytesPerSecond: 'apiKey',
  maxBodyBytes: 'call',
  maxMessageBytes: 'connection',
  maxDocumentBytes: 'document',
  sendBufferBytes: 'connection',
  /** Bytes of bodies of a workspace that are in memory. */
  bodyBytesAtOnce: 'workspace',
  /** The same, in all. */
  bodyBytesInAll: 'server',
  /** Connections of any kind for which the process has files. */
  openFiles: 'server',
  /** Calls with an `idempotency-key` that are remembered. */
  idempotentCalls: 'apiKey',
  /** Users of a document whom a backend shows as present. */
  guestsPerDocument: 'document',
  /** The same, in all. */
  guestsInAll: 'server',
  /** Refused connections that are being told why. */
  pendingRefusals: 'server',
  /** Bytes of a client that is being refused. */
  unauthenticatedBytes: 'connection',
  /** The same of a message that is not complete. */
  unfinishedBytes: 'connection',
  /** Tokens that were refused on a websocket of many documents. */
  refusedTokens: 'connection',
  /** Bytes on their way to the disk. */
  pendingBytes: 'server',
  /** Large contents that wait for a thread. */
  threadQueue: 'server',
} as const satisfies Record<string, LimitScope>

export type LimitName = keyof typeof limitScopes

export const limitNames = Object.keys(limitScopes) as LimitName[]

/** What `error.details` says about a limit that has acted. */
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

/** The answer to a call for which there is no room now; `retryAfterSeconds` is a whole number, at least 1. */
export const exhausted = (
  limit: LimitName,
  value: number,
  message: string,
  retryAfterSeconds: number,
): ApiError =>
  new ApiError('RESOURCE_EXHAUSTED', message, { details: limitDetails(limit, value), retryAfterSeconds })

/** The limit that an error tells of; null when it tells of none. */
export function limitOf(error: unknown): LimitName | null {
  const name = error instanceof ApiError ? error.details?.limit : undefined
  return typeof name === 'string' && Object.hasOwn(limitScopes, name) ? (name as LimitName) : null
}

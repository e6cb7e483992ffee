/** The action of the provider for each problem. */
export const problemActions = {
  /** The network failed, the server is not reachable, or it did not answer. */
  'connection-lost': 'retry',
  /** The server restarts, or asks the client to reconnect. */
  'server-restart': 'retry',
  /** A limit is exceeded, or the store of the server is not available. */
  'try-again-later': 'retry',
  /** The stored document is damaged, or the server failed. */
  'server-error': 'retry',
  /** The backend did not return a token. */
  'token-unavailable': 'retry',
  /** The token has expired or was revoked. The provider gets a new one at once. */
  'token-expired': 'new-token',
  /** The server rejected a token that the backend had just returned. */
  'token-rejected': 'stop',
  /** The backend refuses to give this user a token. */
  'token-denied': 'stop',
  /** An id is invalid, or the server does not support this client. */
  'invalid-request': 'stop',
  /** The permission of the user has ended, or an administrator closed the connection. */
  forbidden: 'stop',
  /** The document does not exist, was deleted, or is not visible to the user. */
  'not-found': 'stop',
  /** A change or the document is larger than the server accepts. */
  'too-large': 'stop',
  /** The document was deleted and created again. The offline copy belongs to the deleted one. */
  'document-replaced': 'stop',
  /** The user may not write, but the document has changes of the user. */
  'read-only': 'wait',
  /** The document has a newer schema than this client, which can only view it: load the new version of the application. */
  'schema-outdated': 'wait',
} as const

export type ProblemCode = keyof typeof problemActions

/**
 * Why the provider is not connected, or why the server does not accept the changes. With `retry`, the provider tries
 * again by itself. With `new-token`, it first gets a new token. With `stop`, it is closed until `connect` is called.
 * With `wait`, it is connected. It keeps the changes, and sends them when the user may write.
 */
export type ProviderProblem = {
  [Code in ProblemCode]: {
    readonly code: Code
    readonly action: (typeof problemActions)[Code]
    /** Text for developers, in English. */
    readonly message: string
    /** Close code of the server; null if the server did not close the connection. */
    readonly closeCode: number | null
  }
}[ProblemCode]

export const problem = (
  code: ProblemCode,
  message: string,
  closeCode: number | null = null,
): ProviderProblem => ({ code, action: problemActions[code], message, closeCode }) as ProviderProblem

const closes: Readonly<Record<number, ProblemCode>> = {
  1011: 'server-error',
  1012: 'server-restart',
  1013: 'try-again-later',
  4400: 'invalid-request',
  4401: 'token-expired',
  4403: 'forbidden',
  4404: 'not-found',
  4413: 'too-large',
}

/** Returns the problem for a close code. Unknown codes are failures of the network. */
export const problemOfClose = (closeCode: number, reason: string): ProviderProblem =>
  problem(
    closes[closeCode] ?? 'connection-lost',
    reason || 'the connection to the server was lost',
    closeCode,
  )

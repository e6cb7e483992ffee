/** The entry point `weft-server/provider`. */

export { DocumentProvider } from './document-provider.ts'
export type { BrowserStorage, StoredCopy } from './offline-copy.ts'
export type { PresentUser, UserFields } from './present-users.ts'
export { type ProblemCode, type ProviderProblem, problemActions } from './provider-problem.ts'
export type {
  ProviderEvents,
  ProviderOptions,
  ProviderSettings,
  ProviderStatus,
} from './provider-types.ts'
export type { DocumentRole, RealtimeMessage } from './sync-connection.ts'
export { TokenDeniedError } from './token-cache.ts'

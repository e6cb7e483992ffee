/** The entry point `weft-server/provider`. */

export { DocumentProvider } from './provider/document-provider.ts'
export type { BrowserStorage, StoredCopy } from './provider/offline-copy.ts'
export type { PresentUser, UserFields } from './provider/present-users.ts'
export { type ProblemCode, type ProviderProblem, problemActions } from './provider/provider-problem.ts'
export type {
  ProviderEvents,
  ProviderOptions,
  ProviderSettings,
  ProviderStatus,
} from './provider/provider-types.ts'
export type { DocumentRole, RealtimeMessage } from './provider/sync-connection.ts'
export { TokenDeniedError } from './provider/token-cache.ts'

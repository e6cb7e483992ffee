/** The server as a library: `import { createServer } from 'weft-server'`. */
export type * from './api/codes.ts'
export type { CallOptions, ListMethod } from './api/methods.ts'
export type * from './api/operation-types.ts'
export {
  dataOf,
  type FailedCall,
  type FailureDetails,
  type Result,
  type SucceededCall,
  WeftError,
  type WeftFailure,
} from './api/result.ts'
export type {
  AuthorizeDecision,
  AuthorizeFunction,
  AuthorizeRequest,
  CallbackEditor,
  CallbackOptions,
  LoadedContent,
  LoadFunction,
  LoadRequest,
  StoreFunction,
  StoreRequest,
} from './server/callback-options.ts'
export {
  createServer,
  type ServerOptions,
  type WeftCredentials,
  type WeftEvent,
  type WeftEventName,
  type WeftServer,
} from './server/create-server.ts'
export type { LogMethod, WeftLog } from './server/log-option.ts'
export type { OptionValues } from './server/option-values.ts'

/** The server as a library: `import { createServer } from 'weft-server'`. */

import type { ServerOptions, WeftServer } from './create-server.ts'

export * from '../../client/api/index.ts'
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
} from './callback-options.ts'
export type {
  ServerOptions,
  WeftCredentials,
  WeftServer,
} from './create-server.ts'
export type { LogMethod, WeftLog } from './log-option.ts'
export { type FastifyRequestLike, type NodeHandler, nodeHandler } from './node-handler.ts'
export type { OptionValues } from './option-values.ts'
export { readClientOptions } from './read-client-options.ts'

/**
 * Opens the store, creates missing credentials, and starts a server in this process. Several servers can run in one
 * process, each with its own data directory or in memory.
 * @throws an error with a message for the operator if an option is invalid or the store cannot be opened
 */
export async function createServer(options: ServerOptions = {}): Promise<WeftServer> {
  // A program that imports only other functions does not load the server, and with it Yjs.
  const { openWeftServer } = await import('./create-server.ts')
  return openWeftServer(options)
}

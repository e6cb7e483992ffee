import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { WeftApi } from '../../client/api/operation-types.ts'
import type { WeftEvent, WeftEventName } from '../../client/api/weft-event.ts'
import { ConfigError } from '../../core/base/errors.ts'
import { withoutTrailing } from '../../core/base/text.ts'
import { localUrlAt } from '../../core/config/public-url.ts'
import { configOfValues } from '../../core/config/read-config.ts'
import { openServer } from '../server.ts'
import { type CallbackOptions, toCallbackFunctions } from './callback-options.ts'
import { createInProcessApi } from './in-process-api.ts'
import { logOf, type WeftLog } from './log-option.ts'
import type { OptionValues } from './option-values.ts'

/** Options of a server: the option table, and values that only a program can have. */
export interface ServerOptions extends OptionValues, CallbackOptions {
  /**
   * Path below which an HTTP server of the application serves Weft, such as `/weft`. `handle` and `handleUpgrade`
   * then expect this path in front of the paths of Weft. Default: none.
   */
  readonly basePath?: string
  /** A logger, such as one of pino; false: no log. Default: standard output. */
  readonly log?: WeftLog | false
}

/** The credentials that a backend needs, and the secret that signs realtime tokens. */
export interface WeftCredentials {
  readonly workspaceId: string
  readonly workspaceAuthToken: string
  readonly apiKey: string
  readonly authToken: string
  readonly jwtSecret: string
}

/** A server in this process. Its store is open from its creation to `close`. */
export interface WeftServer {
  /** Credentials of the first API key, which are created at the first start. */
  readonly credentials: WeftCredentials
  /**
   * The operations of REST, which run in this process with `credentials`: `api.crdt.update(data)`. Validation,
   * limits, audit and idempotency are those of REST.
   */
  readonly api: WeftApi
  /** URL at which clients reach the server: `publicUrl`, or the one of `listen`; null if there is none. */
  readonly url: string | null
  /**
   * Listens on a port of its own. Not needed if the HTTP server of the application calls `handle`.
   * @throws an error with a message for the operator if the port or the host cannot be used
   */
  listen(options?: { readonly port?: number; readonly host?: string }): Promise<{
    readonly url: string
    readonly port: number
  }>
  /**
   * Middleware of Express, which answers all requests below its path: `app.use('/collab', weft.router)`. Does not need
   * `basePath`, and never calls `next`.
   */
  readonly router: (request: IncomingMessage, response: ServerResponse) => void
  /**
   * Answers a request of another HTTP server of the application, such as one of `node:http` or Fastify. Can be passed on
   * without its object.
   */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void
  /**
   * Handles an upgrade of an HTTP server of the application. Returns false, and does nothing, if its path is not
   * one of Weft.
   */
  readonly handleUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => boolean
  /** Adds a listener of events. Returns the function that removes it. */
  on<Name extends WeftEventName>(name: Name, listener: (event: WeftEvent<Name>) => unknown): () => void
  /**
   * Stops the server: clients reconnect, and accepted changes become durable. Takes at most `shutdownSeconds`. A
   * repeated call has no effect.
   */
  close(): Promise<void>
}

/**
 * Opens the store, creates missing credentials, and starts a server in this process.
 * @throws an error with a message for the operator if an option is invalid or the store cannot be opened
 */
export async function openWeftServer(options: ServerOptions): Promise<WeftServer> {
  const { basePath = '', log, authorize, load, store, ...values } = options
  checkBasePath(basePath)
  const functions = toCallbackFunctions({
    ...(authorize !== undefined && { authorize }),
    ...(load !== undefined && { load }),
    ...(store !== undefined && { store }),
  })
  const config = configOfValues(values)
  const server = await openServer(config, logOf(log, config), { functions })
  server.begin()
  const publicUrl = config.publicUrl === null ? null : withoutTrailing('/', config.publicUrl)
  let localUrl: string | null = null
  return {
    credentials: server.credentials,
    api: createInProcessApi(server.handle, server.credentials),
    get url() {
      return publicUrl ?? localUrl
    },
    async listen({ port = config.port, host = config.host } = {}) {
      const bound = await server.listen(port, host)
      localUrl = localUrlAt(host, bound)
      return { url: publicUrl ?? localUrl, port: bound }
    },
    router: server.handle,
    handle: below(basePath, server.handle),
    handleUpgrade: (request, socket, head) => {
      const { url } = request
      if (enter(request, basePath) && server.handleUpgrade(request, socket, head)) return true
      if (url !== undefined) request.url = url
      return false
    },
    on: (name, listener) => server.listeners.on(name, (event) => listener(event as WeftEvent<typeof name>)),
    close: () => server.close(),
  }
}

/** @throws ConfigError */
function checkBasePath(basePath: string): void {
  if (basePath !== '' && !/^(\/[^/?#\s]+)+$/.test(basePath))
    throw new ConfigError(
      `the option "basePath" is ${JSON.stringify(basePath)}; expected a path such as "/weft", without a slash at its end`,
    )
}

/** Answers requests below a path. Requests elsewhere get the answer for an unknown path. */
const below =
  (basePath: string, handle: RequestListener): RequestListener =>
  (request, response) => {
    // No path of Weft begins like this.
    if (!enter(request, basePath)) request.url = `/-${request.url ?? ''}`
    handle(request, response)
  }

/**
 * Removes the path in front of the paths of Weft from the URL of a request. Frameworks such as Express keep the
 * whole URL in `originalUrl`. Returns false, and changes nothing, if the URL does not begin with the path.
 */
function enter(request: IncomingMessage & { originalUrl?: unknown }, basePath: string): boolean {
  if (basePath === '') return true
  const { originalUrl, url = '' } = request
  const whole = typeof originalUrl === 'string' ? originalUrl : url
  if (!whole.startsWith(basePath) || !/^[/?]|^$/.test(whole.slice(basePath.length))) return false
  const rest = whole.slice(basePath.length)
  request.url = rest.startsWith('/') ? rest : `/${rest}`
  return true
}

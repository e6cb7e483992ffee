import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SignJWT } from 'jose'
import { codesOf } from '../../../src/build/package-api/operation-codes.ts'
import { operationList } from '../../../src/capabilities/list.ts'
import type { TokenGrant } from '../../../src/core/access/identity.ts'
import { createLog, type Log } from '../../../src/core/base/log.ts'
import type { Config } from '../../../src/core/config/config.ts'
import { unlimited } from '../../../src/core/config/option-parsers.ts'
import { readConfig } from '../../../src/core/config/read-config.ts'
import type { ServerCredentials } from '../../../src/core/directory/tenants/credentials-file.ts'
import { requireUnlocked } from '../../../src/core/store/level/files/level-errors.ts'
import { type RunningServer, type ServerOverrides, startServer } from '../../../src/server/server.ts'
import { eventually } from '../clients/clients.ts'
import { requireTestBuild } from './test-build.ts'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** Parsed body of the response. */
  readonly body: Envelope
}

export interface Envelope {
  readonly result?: {
    readonly status: string
    readonly message: string
    readonly data?: unknown
    readonly warnings?: readonly string[]
  }
  readonly error?: {
    readonly status: string
    readonly message: string
    readonly details?: {
      readonly code?: string
      readonly issues?: readonly { readonly path: string; readonly message: string }[]
    }
  }
}

/** Returns `result.data` of a response. Throws if the response is not successful. */
export function dataOf({ body }: Answer): unknown {
  if (body.result === undefined) throw new Error(`no result: ${body.error?.message}`)
  return body.result.data
}

export interface TokenOptions {
  readonly name?: string
  readonly email?: string
  readonly isAdmin?: boolean
  readonly resources?: readonly (Omit<TokenGrant, 'organizationId'> & { readonly organizationId?: string })[]
  readonly expiresInSeconds?: number
}

/** The members of a server that are needed to call it. */
export interface Reachable {
  readonly url: string
  readonly credentials: Pick<ServerCredentials, 'apiKey' | 'authToken'>
}

export interface TestServer {
  /** HTTP URL of the server, such as `http://127.0.0.1:54321`. */
  readonly url: string
  /** Websocket URL of the server, such as `ws://127.0.0.1:54321`. */
  readonly wsUrl: string
  readonly port: number
  readonly config: Config
  readonly credentials: ServerCredentials
  readonly server: RunningServer
  /**
   * Calls an operation with the credentials of the API key. If the value of a header is '', the header is
   * omitted.
   */
  readonly post: (path: string, data: unknown, headers?: Readonly<Record<string, string>>) => Promise<Answer>
  /** Creates a realtime token with `/v2/auth/generate_token`, and returns it. */
  readonly token: (userId: string, options?: TokenOptions) => Promise<string>
  /** Stops the server. Also removes its data directory, unless the test has chosen the directory. */
  readonly stop: () => Promise<void>
}

/**
 * Starts a server on a free port of the loopback address. By default, it uses the engine `memory` and has no
 * rate limits.
 */
export async function startTestServer(
  overrides: Partial<Config> = {},
  { log, ...given }: ServerOverrides & { readonly log?: Log } = {},
): Promise<TestServer> {
  requireTestBuild()
  const data = overrides.dataDir ?? (await mkdtemp(join(tmpdir(), 'weft-test-')))
  const config: Config = {
    ...readConfig({ flags: {}, environment: {}, file: null }).config,
    port: 0,
    host: '127.0.0.1',
    engine: 'memory',
    logLevel: 'silent',
    shutdownSeconds: 2,
    callsPerKey: unlimited,
    callsPerAddress: unlimited,
    connectsPerAddress: unlimited,
    newDocumentsPerWorkspace: unlimited,
    ...overrides,
    dataDir: data,
  }
  const server = await startServer(config, log ?? createLog(config.logLevel), given)
  const stop = async () => {
    await server.close()
    // Waits until the store is closed. On a busy machine, this can take longer than `shutdownSeconds`.
    if (config.engine === 'level') await eventually(() => isUnlocked(join(data, 'store')))
    if (overrides.dataDir === undefined) await rm(data, { recursive: true, force: true, maxRetries: 20 })
  }
  return { ...reach(server), config, server, stop }
}

/** Returns whether no process has the store in `directory` open. */
const isUnlocked = (directory: string): Promise<boolean> =>
  requireUnlocked(directory).then(
    () => true,
    () => false,
  )

function reach({ port, credentials }: RunningServer): Omit<TestServer, 'config' | 'server' | 'stop'> {
  const url = `http://127.0.0.1:${port}`
  const own = { 'x-service-api-key': credentials.apiKey, 'x-service-auth-token': credentials.authToken }
  const post: TestServer['post'] = async (path, data, headers = {}) => {
    const all = { 'content-type': 'application/json', ...own, ...headers }
    const response = await fetch(url + path, {
      method: 'POST',
      headers: Object.entries(all).filter(([, value]) => value !== ''),
      body: JSON.stringify({ data }),
    })
    const body = (await response.json()) as Envelope
    checkCode(path, body.error?.details?.code)
    return { status: response.status, headers: response.headers, body }
  }
  const token: TestServer['token'] = (userId, options = {}) => makeToken(post, userId, options)
  return { url, wsUrl: url.replace('http', 'ws'), port, credentials, post, token }
}

const codesByPath = new Map<string, readonly string[]>(
  operationList.map((operation) => [operation.path, codesOf(operation)]),
)

/** Throws if an operation does not document the code of its error. */
function checkCode(path: string, code: string | undefined): void {
  if (code !== undefined && codesByPath.get(path)?.includes(code) === false)
    throw new Error(`${path} does not document the code ${code}`)
}

/** Returns the value of the first metric whose name and labels start with `name`; NaN if there is none. */
export async function metric({ url }: TestServer, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const line = text.split('\n').find((each) => each.startsWith(name))
  return Number(line?.split(' ').at(-1) ?? Number.NaN)
}

/** Returns a token that is valid for less time than `/v2/auth/generate_token` permits. */
export function shortToken(
  { credentials }: Pick<TestServer, 'credentials'>,
  userId: string,
  seconds: number,
): Promise<string> {
  const { workspaceId, apiKey, jwtSecret } = credentials
  return new SignJWT({ ws: workspaceId, key: apiKey, name: userId })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer('weft')
    .setSubject(userId)
    .setIssuedAt()
    .setExpirationTime(Math.floor(Date.now() / 1000) + seconds)
    .sign(new TextEncoder().encode(jwtSecret))
}

async function makeToken(post: TestServer['post'], userId: string, options: TokenOptions): Promise<string> {
  const {
    name = userId,
    email = `${userId}@example.com`,
    isAdmin = false,
    resources,
    expiresInSeconds,
  } = options
  const answer = await post('/v2/auth/generate_token', {
    userId,
    userProperties: { name, email, isAdmin },
    ...(resources !== undefined && { permissions: { resources } }),
    ...(expiresInSeconds !== undefined && { expiresInSeconds }),
  })
  return (dataOf(answer) as { token: string }).token
}

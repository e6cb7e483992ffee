import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { endWithThis } from '../../src/cli/bench/ending.ts'
import { freePort, ready, temporaryDirectory } from '../../src/cli/bench/processes.ts'
import { benchCredentials } from '../../src/cli/bench/weft-spec.ts'

export { freePort, ready, temporaryDirectory }

const root = join(import.meta.dirname, '..', '..')

/** Values that another process needs to call an operation of the server. */
export interface BenchCall {
  readonly url: string
  readonly method: 'POST'
  readonly headers: Readonly<Record<string, string>>
}

export interface BenchServer {
  readonly url: string
  readonly call: BenchCall
  /** Start of a websocket URL. To complete it, append `organization/document/editor?token=` and a token. */
  readonly syncUrl: string
  readonly process: ChildProcess
  /** Creates a token. @param userId id of its user; the default is `bench` */
  token(userId?: string): Promise<string>
  post(
    path: string,
    data: unknown,
  ): Promise<{ status: number; body: { result?: { data?: unknown }; error?: unknown } }>
  kill(): Promise<void>
}

/** Options that switch off the rate limits, so that one caller can call as often as possible. */
export const unlimitedCalls = {
  WEFT_CALLS_PER_KEY: '0',
  WEFT_NEW_DOCUMENTS_PER_WORKSPACE: '0',
  WEFT_CALLS_PER_ADDRESS: '0',
} as const

/** Options of Node that `npm start` uses. */
export const nodeOptions: readonly string[] = npmStart().match(/--\S+=\S+/g) ?? []

function npmStart(): string {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: { start: string }
  }
  return scripts.start
}

/**
 * Directory for CPU profiles of Weft. If it is set, Weft is stopped instead of killed, because Node writes
 * the profile only when the process stops.
 */
const profiles = process.env.BENCH_PROFILES
const profiling = profiles === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profiles}`]

/** Starts the built Weft in a separate process, with its data in the directory `data`. Writes are durable. */
export async function startWeft(data: string, options: Record<string, string> = {}): Promise<BenchServer> {
  const port = await freePort()
  const env = { ...process.env, ...benchCredentials, WEFT_LOG_LEVEL: 'warn', ...options }
  const args = [
    ...nodeOptions,
    'dist/main.js',
    'serve',
    '--port',
    String(port),
    '--host',
    '127.0.0.1',
    '--data-dir',
    data,
  ]
  const child = spawn(process.execPath, [...profiling, ...args], {
    cwd: root,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  endWithThis(child)
  const url = `http://127.0.0.1:${port}`
  await ready(url, child)
  const call = { url, method: 'POST', headers } as const
  const post = (path: string, body: unknown) => postTo(call, path, body)
  return {
    url,
    call,
    syncUrl: `ws://127.0.0.1:${port}/sync/`,
    process: child,
    post,
    token: async (userId = 'bench') => {
      const user = { userId, userProperties: { name: 'Bench', email: 'bench@example.com' } }
      const { body } = await post('/v2/auth/generate_token', user)
      return (body.result as { data: { token: string } }).data.token
    },
    kill: () => kill(child),
  }
}

export interface RunningScript {
  readonly port: number
  readonly pid: number
  readonly kill: () => Promise<void>
}

/** Starts a script of `bench/support`. The script gets a port as its argument, and listens on it. */
export async function startScript(script: string): Promise<RunningScript> {
  const port = await freePort()
  const child = spawn(process.execPath, ['--import', 'tsx', join('bench', 'support', script), String(port)], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  endWithThis(child)
  await ready(`http://127.0.0.1:${port}`, child)
  return { port, pid: child.pid as number, kill: () => kill(child) }
}

/** Headers that all calls have. */
export const headers = {
  'content-type': 'application/json',
  'x-service-api-key': benchCredentials.WEFT_API_KEY,
  'x-service-auth-token': benchCredentials.WEFT_AUTH_TOKEN,
}

async function postTo({ url, ...request }: BenchCall, path: string, data: unknown) {
  const response = await fetch(url + path, { ...request, body: JSON.stringify({ data }) })
  return {
    status: response.status,
    body: (await response.json()) as { result?: { data?: unknown }; error?: unknown },
  }
}

/**
 * Makes a call that is not part of a measurement.
 * @throws Error if the status is not 200
 */
export async function done(server: Pick<BenchServer, 'post'>, path: string, data: object): Promise<void> {
  const { status, body } = await server.post(path, data)
  if (status !== 200) throw new Error(`${path}: ${JSON.stringify(body.error)}`)
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill(profiles === undefined ? 'SIGKILL' : 'SIGTERM')
  await once(child, 'exit')
}

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { programs } from '../../../src/build/bundles.ts'
import { endWithThis } from '../../../src/cli/bench/ending.ts'
import { builtFile } from '../../../src/core/base/package-file.ts'
import type { fixedValues } from '../../../src/core/config/config.ts'
import { inheritedEnvironment } from './environment.ts'

const root = join(import.meta.dirname, '../../..')
const main = fileURLToPath(builtFile('main.js'))

const environment = {
  WEFT_WORKSPACE_ID: 'test',
  WEFT_WORKSPACE_AUTH_TOKEN: 'test-workspace-token',
  WEFT_API_KEY: 'test-key',
  WEFT_AUTH_TOKEN: 'test-auth-token-1234',
  WEFT_LOG_LEVEL: 'error',
}

interface PostAnswer {
  readonly status: number
  readonly data: unknown
  /** Token of the next page of a list; undefined if there is none. */
  readonly pageToken: string | undefined
  /** Details of an error; undefined if there are none. */
  readonly details: unknown
  readonly replayed: boolean
}

export interface ServerProcess {
  readonly url: string
  readonly credentials: { readonly apiKey: string; readonly authToken: string }
  readonly wsUrl: string
  readonly child: ChildProcess
  post(path: string, data: unknown, headers?: Readonly<Record<string, string>>): Promise<PostAnswer>
  token(): Promise<string>
  /**
   * Sends a signal to the server. Resolves when the server has ended, with its exit code, or with null if a
   * signal killed it.
   */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null>
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

/** Returns a command that limits the number of open files for the command that follows it. */
const withOpenFiles = (files: number): string[] => ['sh', '-c', `ulimit -n ${files}; exec "$@"`, 'sh']

/**
 * Starts the built server in a separate process, as users do. It ends with this process.
 * @param atPort port of the server; by default a free port
 * @param openFiles limit of open files; by default the limit of this process
 * @param logTo file descriptor for the log; by default, the log is discarded
 * @param program path of the program of another version; by default, the build of this version
 */
export async function startProcess(
  data: string,
  options: Record<string, string> = {},
  atPort?: number,
  openFiles?: number,
  logTo?: number,
  program = main,
): Promise<ServerProcess> {
  if (!existsSync(program)) throw new Error(`${program} is missing: run \`npm run build\` first`)
  const port = atPort ?? (await freePort())
  const [command, ...before] =
    openFiles === undefined ? [process.execPath] : [...withOpenFiles(openFiles), process.execPath]
  const args = [program, 'serve', '--host', '127.0.0.1', '--port', String(port), '--data-dir', data]
  const env = { ...inheritedEnvironment(), ...environment, ...options }
  const child = spawn(command ?? process.execPath, [...before, ...args], {
    cwd: root,
    env,
    stdio: ['ignore', logTo ?? 'ignore', 'inherit'],
  })
  endWithThis(child)
  const url = `http://127.0.0.1:${port}`
  await ready(url, child)
  const post: ServerProcess['post'] = (path, body, headers) => postTo(url + path, body, headers)
  return {
    url,
    wsUrl: url.replace('http', 'ws'),
    credentials: { apiKey: environment.WEFT_API_KEY, authToken: environment.WEFT_AUTH_TOKEN },
    child,
    post,
    token: () => token(post),
    end: (signal) => end(child, signal),
  }
}

/** Starts the server in a process as `startProcess` does, with other values than the fixed ones. */
export const startProcessWith = async (
  values: Partial<typeof fixedValues>,
  data: string,
  options: Record<string, string> = {},
): Promise<ServerProcess> => {
  const changed = { ...options, FIXED_VALUES: JSON.stringify(values) }
  return startProcess(data, changed, undefined, undefined, undefined, await programWithValues())
}

let program: Promise<string> | undefined

/** Builds the program once in each worker. Started from its sources, a server would take ten times as long. */
function programWithValues(): Promise<string> {
  program ??= (async () => {
    const name = 'main-with-values'
    // The libraries of the server are found from here.
    const folder = join(root, `node_modules/.cache/weft-${name}-${process.pid}`)
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
    const entryPoints = { [name]: join(import.meta.dirname, `${name}.ts`) }
    await build({ ...programs(`${relative(root, dirname(main))}/`), entryPoints, outdir: folder })
    return join(folder, `${name}.js`)
  })()
  return program
}

async function ready(url: string, child: ChildProcess): Promise<void> {
  // Only finds a server that hangs: a busy machine may need many seconds.
  const deadline = Date.now() + 90_000
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`)
    const response = await fetch(`${url}/readyz`).catch(() => null)
    if (response?.ok === true) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error('the server did not become ready')
}

/** Headers of calls, with the credentials of the API key. */
export const headers = {
  'content-type': 'application/json',
  // Uses a new connection for each call, because a later process may get the port of a killed one.
  connection: 'close',
  'x-service-api-key': environment.WEFT_API_KEY,
  'x-service-auth-token': environment.WEFT_AUTH_TOKEN,
}

async function postTo(
  url: string,
  data: unknown,
  more: Readonly<Record<string, string>> = {},
): Promise<PostAnswer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...headers, ...more },
    body: JSON.stringify({ data }),
  })
  const { result, error } = (await response.json()) as {
    result?: { data?: unknown; pageToken?: string }
    error?: { details?: unknown }
  }
  return {
    status: response.status,
    data: result?.data,
    pageToken: result?.pageToken,
    details: error?.details,
    replayed: response.headers.has('idempotent-replayed'),
  }
}

async function token(post: ServerProcess['post']): Promise<string> {
  const user = { userId: 'ada', userProperties: { name: 'Ada', email: 'ada@example.com' } }
  return ((await post('/v2/auth/generate_token', user)).data as { token: string }).token
}

async function end(child: ChildProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  const exited = once(child, 'exit') as Promise<[number | null]>
  child.kill(signal)
  return (await exited)[0]
}

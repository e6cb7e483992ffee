import { randomBytes } from 'node:crypto'
import { type ClientProtocol, type ProtocolName, protocols } from './client-protocol.ts'
import { freePort, isListening, startCommand } from './processes.ts'

/** Place of a document, in the form that the stock clients take. */
export interface ClientTarget {
  readonly server: string
  readonly name: string
  readonly token: string | undefined
}

/** A server that is being measured. */
export interface Running {
  /** Process of the server; null if the load generator has not started it. */
  readonly pid: number | null
  readonly protocol: ProtocolName
  readonly dialect: ClientProtocol
  /** Whether the server answers a client that asks for a document. A relay does not. */
  readonly answers: boolean
  address(document: string): ClientTarget
  /** Returns the websocket URL of a document. */
  url(document: string): string
  /** Stops the server and waits until it has ended. Does nothing to a server that was already running. */
  stop(): Promise<void>
  kill(): Promise<void>
}

export interface Contender {
  readonly name: string
  /** Whether the server stores documents. */
  readonly keeps: boolean
  /** Whether `start` starts a process, which has CPU time and memory, and can be stopped. */
  readonly isOurs: boolean
  /** Starts the server, or returns the one that runs. @param data empty directory that only this server uses */
  start(data: string): Promise<Running>
}

/** Description of a server. Unlike a contender, it can be sent to another process. */
export interface ServerSpec {
  readonly name: string
  readonly version?: string
  readonly protocol: ProtocolName
  /** Websocket URL to which clients connect. `{port}` is a free port, if `start` is given. */
  readonly url: string
  /** Name of a document, with `{name}` for the name that the load generator chooses. */
  readonly document: string
  readonly token?: string | undefined
  /** Command that starts the server: for a shell, or a program with its arguments. It may contain `{port}` and `{data}`. */
  readonly start?: string | readonly string[] | undefined
  readonly folder?: string
  readonly environment?: Readonly<Record<string, string>>
  /** Request to the started server whose response has the token. */
  readonly login?: {
    readonly path: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
  }
  /** False for a relay, which stores nothing and answers nothing. */
  readonly keeps: boolean
}

export function contenderOf(spec: ServerSpec): Contender {
  const { name, keeps, start } = spec
  // A server with data of its own keeps the documents of earlier runs, so each run has new ones.
  const isEmpty = String(start).includes('{data}')
  const prefix = isEmpty ? '' : `weft-bench-${randomBytes(4).toString('hex')}-`
  return {
    name,
    keeps,
    isOurs: start !== undefined,
    start: async (data) =>
      start === undefined ? runningAt(spec, prefix, null) : await started(spec, start, prefix, data),
  }
}

/** Time in ms in which a server must accept connections. */
const startMs = 30_000

async function started(
  spec: ServerSpec,
  command: string | readonly string[],
  prefix: string,
  data: string,
): Promise<Running> {
  const port = String(await freePort())
  const filled = (text: string): string => text.replaceAll('{port}', port).replaceAll('{data}', data)
  const child = startCommand(
    typeof command === 'string' ? filled(command) : command.map(filled),
    spec.folder,
    spec.environment,
  )
  const url = filled(spec.url)
  const { hostname, port: listening, origin } = new URL(url.replace(/^ws/, 'http'))
  const deadline = performance.now() + startMs
  while (!(await isListening(hostname, Number(listening || 80)))) {
    if (!child.isAlive()) throw new Error(`the command has ended: ${String(command)}`)
    if (performance.now() > deadline) throw new Error(`nothing listens at ${url} after ${startMs / 1000} s`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  const token = spec.login === undefined ? spec.token : await tokenFrom(origin, spec.login)
  return runningAt({ ...spec, url, token }, prefix, child)
}

async function tokenFrom(origin: string, { path, headers, body }: NonNullable<ServerSpec['login']>) {
  const response = await fetch(origin + path, { method: 'POST', headers, body })
  const { result } = (await response.json()) as { result?: { data?: { token?: string } } }
  if (result?.data?.token === undefined) throw new Error(`${path}: ${response.status}`)
  return result.data.token
}

function runningAt(
  { url, document: template, protocol, token, keeps }: ServerSpec,
  prefix: string,
  child: ReturnType<typeof startCommand> | null,
): Running {
  const nameOf = (document: string): string => template.replaceAll('{name}', prefix + document)
  const [server = '', query] = url.split('?')
  const address = (document: string) => ({ server: server.replace(/\/$/, ''), name: nameOf(document), token })
  return {
    pid: child?.pid ?? null,
    protocol,
    dialect: protocols[protocol](nameOf, token),
    answers: keeps,
    address,
    url: (document) => {
      const path = protocol === 'hocuspocus' ? server : `${address(document).server}/${nameOf(document)}`
      const parameters = new URLSearchParams(query)
      if (token !== undefined && protocol !== 'hocuspocus') parameters.set('token', token)
      return parameters.size === 0 ? path : `${path}?${parameters.toString()}`
    },
    stop: async () => child?.end('SIGTERM'),
    kill: async () => child?.end('SIGKILL'),
  }
}

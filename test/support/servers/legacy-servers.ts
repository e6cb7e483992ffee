import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { createRequire } from 'node:module'
import { type AddressInfo, connect } from 'node:net'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { WebSocket, WebSocketServer } from 'ws'
import { freePort, headers } from './process.ts'

/** A server of another vendor that runs in a separate process. It has a directory for its data. */
export interface OldServerProcess {
  readonly port: number
  readonly url: string
  end(signal?: 'SIGKILL' | 'SIGTERM'): Promise<void>
}

const peers = join(import.meta.dirname, '../../..', 'bench', 'peers')
/** Path of the Node that runs Hocuspocus, because its SQLite needs a certain version of Node. */
export const peersNode = join(peers, 'node_modules', 'node', 'bin', 'node')

/** Starts the server of y-websocket 1.5.4 with y-leveldb. */
export async function startYWebsocket(directory: string, atPort?: number): Promise<OldServerProcess> {
  const port = atPort ?? (await freePort())
  const packageFile = createRequire(import.meta.url).resolve('y-websocket-1/package.json')
  const script = join(dirname(packageFile), 'bin', 'server.js')
  return started(process.execPath, [script], port, { PORT: String(port), YPERSISTENCE: directory })
}

/** Starts Hocuspocus 4.7 with SQLite. */
export async function startHocuspocus(directory: string, atPort?: number): Promise<OldServerProcess> {
  const port = atPort ?? (await freePort())
  return started(peersNode, [join(peers, 'hocuspocus.mjs'), String(port), directory], port, {})
}

const guarded = `
  import { Server } from '@hocuspocus/server'
  await new Server({
    port: Number(process.env.PORT), address: '127.0.0.1', quiet: true,
    async onAuthenticate({ token }) { if (token !== 'sesame') throw new Error('no') },
  }).listen()`

/** Starts a Hocuspocus that stores nothing, and accepts only clients with the token `sesame`. */
export async function startGuardedHocuspocus(): Promise<OldServerProcess> {
  const port = await freePort()
  return started(peersNode, ['--input-type=module', '-e', guarded], port, { PORT: String(port) })
}

async function started(
  node: string,
  args: readonly string[],
  port: number,
  environment: Readonly<Record<string, string>>,
): Promise<OldServerProcess> {
  const env = { PATH: process.env.PATH, HOST: '127.0.0.1', ...environment }
  const child = spawn(node, args, { env, cwd: peers, stdio: ['ignore', 'ignore', 'inherit'] })
  await listens(port, child)
  const end = async (signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill(signal)
    await exited
  }
  return { port, url: `ws://127.0.0.1:${port}`, end }
}

async function listens(port: number, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 1000; tries++) {
    if (child.exitCode !== null) throw new Error(`the old server ended with ${child.exitCode}`)
    const socket = connect(port, '127.0.0.1')
    const outcome = await Promise.race([
      once(socket, 'connect').then(() => 'open'),
      once(socket, 'error').then(() => 'refused'),
    ]).catch(() => 'refused')
    socket.destroy()
    if (outcome === 'open') return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error('the old server does not listen')
}

/** A simulated old server. A test determines which messages it sends. */
export interface ScriptedServer {
  readonly url: string
  close(): void
}

/**
 * Starts a simulated old server.
 * @param comes called for each new client, with the path and the query of its URL
 */
export async function startScripted(
  comes: (client: WebSocket, asked: string) => void,
): Promise<ScriptedServer> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false })
  server.on('connection', (client, request) => comes(client, request.url ?? ''))
  await once(server, 'listening')
  const close = (): void => {
    for (const client of server.clients) client.terminate()
    server.close()
  }
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}

/** A proxy in front of a server. It records all messages that clients send. */
export interface Recorder {
  readonly url: string
  readonly said: readonly Buffer[]
  /** Path and query of the URL of each websocket. */
  readonly asked: readonly string[]
  close(): void
}

/**
 * Starts a recording proxy in front of a server.
 * @param loses returns whether the proxy drops a message of a client
 */
export async function startRecorder(
  target: string,
  loses: (message: Buffer) => boolean = () => false,
): Promise<Recorder> {
  const said: Buffer[] = []
  const asked: string[] = []
  const http = createServer((request, response) => {
    forwarded(target, request).then(
      ({ status, body }) => response.writeHead(status).end(body),
      () => response.destroy(),
    )
  })
  const server = new WebSocketServer({ server: http, perMessageDeflate: false })
  server.on('connection', (client, request) => {
    asked.push(request.url ?? '')
    const onward = new WebSocket(target + (request.url ?? ''), { perMessageDeflate: false })
    const opened = once(onward, 'open').catch(() => client.terminate())
    client.on('message', (data: Buffer) => {
      said.push(data)
      if (loses(data)) return
      void opened.then(() => onward.readyState === WebSocket.OPEN && onward.send(data))
    })
    onward.on('message', (data: Buffer) => client.send(data))
    onward.on('error', () => client.terminate())
    onward.on('close', () => client.terminate())
    client.on('close', () => onward.terminate())
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  const close = (): void => {
    for (const client of server.clients) client.terminate()
    http.close()
    http.closeAllConnections()
  }
  return { url: `ws://127.0.0.1:${(http.address() as AddressInfo).port}`, said, asked, close }
}

async function forwarded(target: string, request: IncomingMessage) {
  const response = await fetch(target.replace('ws', 'http') + (request.url ?? ''), {
    method: 'POST',
    headers: { ...headers },
    body: await text(request),
  })
  return { status: response.status, body: await response.text() }
}

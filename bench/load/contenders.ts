import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type ClientProtocol, yWebsocketMessages } from '../../src/cli/bench/client-protocol.ts'
import type { Contender, Running } from '../../src/cli/bench/contender.ts'
import { hocuspocusMessages } from '../../src/cli/bench/dialects.ts'
import { endWithThis } from '../../src/cli/bench/ending.ts'
import { freePort, headers, ready, startWeft, unlimitedCalls } from '../support/server.ts'
import type { CalledServer } from './calling.ts'

/** A node of Weft, with its REST API. */
export interface RunningWeft extends Running {
  readonly rest: CalledServer
}

const bench = join(import.meta.dirname, '..')
const peersNode = join(bench, 'peers', 'node_modules', 'node', 'bin', 'node')

/** Time in seconds in which a server must stop. Afterwards it is killed. */
const stopSeconds = 30

async function startProcess(
  args: readonly string[],
  data: string,
  program = process.execPath,
): Promise<ChildProcess & { port: number }> {
  const port = await freePort()
  const child = spawn(program, [...args, String(port), data], {
    cwd: bench,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  endWithThis(child)
  await ready(`http://127.0.0.1:${port}`, child)
  return Object.assign(child, { port })
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill(signal)
  const late = setTimeout(() => child.kill('SIGKILL'), stopSeconds * 1000)
  await once(child, 'exit')
  clearTimeout(late)
}

const runningOf = (
  child: ChildProcess,
  dialect: ClientProtocol,
  url: (document: string) => string,
): Running => ({
  pid: child.pid as number,
  dialect,
  url,
  stop: () => end(child, 'SIGTERM'),
  kill: () => end(child, 'SIGKILL'),
})

const relay = (name: string, script: string): Contender => ({
  name,
  keeps: false,
  start: async (data) => {
    const child = await startProcess(['--import', 'tsx', join('support', script)], data)
    return runningOf(child, yWebsocketMessages, (document) => `ws://127.0.0.1:${child.port}/${document}`)
  },
})

const peer = (name: string, script: string, dialect: ClientProtocol): Contender => ({
  name,
  keeps: true,
  start: async (data) => {
    const child = await startProcess([join('peers', script)], data, peersNode)
    return runningOf(child, dialect, (document) => `ws://127.0.0.1:${child.port}/${document}`)
  },
})

/**
 * Options that switch off the limits per address, workspace and API key, because all connections and calls
 * here have the same ones.
 */
const oneAddress = {
  ...unlimitedCalls,
  WEFT_CONNECTS_PER_ADDRESS: '0',
  WEFT_MAX_CONNECTIONS_PER_ADDRESS: '20000',
  WEFT_RECEIVE_BYTES_PER_WORKSPACE: '0',
}

/** Returns the contender for Weft. @param options options of Weft in addition to the default ones */
export const weft = (
  name = 'weft',
  options: Readonly<Record<string, string>> = {},
): Omit<Contender, 'start'> & { start(data: string): Promise<RunningWeft> } => ({
  name,
  keeps: true,
  start: async (data) => {
    const server = await startWeft(data, { ...oneAddress, ...options })
    const token = await server.token()
    const url = (document: string): string => `${server.syncUrl}bench/${document}/main?token=${token}`
    const running = runningOf(server.process, yWebsocketMessages, url)
    return { ...running, kill: () => server.kill(), rest: { url: server.url, headers, pid: running.pid } }
  },
})

const relays: readonly Contender[] = [
  relay('relay', 'relay.ts'),
  relay('batching relay', 'batching-relay.ts'),
  relay('syncing relay', 'syncing-relay.ts'),
]

/** Returns the other servers, if they are installed. */
const peers = (): readonly Contender[] =>
  existsSync(peersNode)
    ? [
        peer('Hocuspocus', 'hocuspocus.mjs', hocuspocusMessages),
        peer('@y/websocket-server', 'y-websocket-server.mjs', yWebsocketMessages),
      ]
    : []

/** Returns all contenders. The others are compared with the first one. */
export const contenders = (): readonly Contender[] => [...relays, weft(), ...peers()]

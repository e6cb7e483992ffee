import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { atEnd, endWithThis } from '../../../src/cli/bench/ending.ts'
import { Inspector, inspectable } from '../../support/servers/inspector.ts'
import { freePort, type ServerProcess, startProcess } from '../../support/servers/process.ts'
import { memoryOf, type ProcessMemory } from './memory.ts'

/** The built server in its own process, which can be inspected. */
export interface SoakServer extends ServerProcess, ProcessMemory {
  readonly inspector: Inspector
  /** Returns the value of the first series whose name starts with `name`; 0 if there is none. */
  metric(name: string): Promise<number>
  stop(): Promise<void>
}

/**
 * No rate limits: all clients have one address and one workspace, and are faster than the same number of real clients.
 */
const options = {
  WEFT_CALLS_PER_KEY: '0',
  WEFT_NEW_DOCUMENTS_PER_WORKSPACE: '0',
  WEFT_CALLS_PER_ADDRESS: '0',
  WEFT_CONNECTS_PER_ADDRESS: '0',
  WEFT_RECEIVE_BYTES_PER_WORKSPACE: '0',
  WEFT_BODY_BYTES_PER_KEY: '0',
}

/** An own directory, removed when the process ends. */
export function dataDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'weft-soak-'))
  atEnd(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }))
  return directory
}

/** Starts a server that ends with this process. */
export async function startLasting(
  data: string,
  more: Record<string, string> = {},
  port?: number,
): Promise<ServerProcess> {
  const server = await startProcess(data, { ...options, ...more }, port)
  endWithThis(server.child)
  return server
}

/** Starts a server with its default limits that ends with this process. */
export async function startAsIs(data: string, port: number): Promise<ServerProcess> {
  const server = await startProcess(data, {}, port)
  endWithThis(server.child)
  return server
}

export async function startInspected(more: Record<string, string> = {}): Promise<SoakServer> {
  const port = await freePort()
  const data = dataDirectory()
  const server = await startLasting(data, { NODE_OPTIONS: inspectable(port), ...more })
  const inspector = await Inspector.connect(port)
  return {
    ...server,
    inspector,
    ...memoryOf(server.child),
    metric: (name) => metricOf(server.url, name),
    async stop() {
      inspector.close()
      await server.end('SIGKILL')
      rmSync(data, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

async function metricOf(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`, { headers: { connection: 'close' } })).text()
  const line = text.split('\n').find((each) => each.startsWith(`${name} `) || each.startsWith(`${name}{`))
  return Number(line?.split(' ').at(-1) ?? 0)
}

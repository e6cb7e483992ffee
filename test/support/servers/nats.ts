import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { endWithThis } from '../../../bench/support/ending.ts'
import { pathOf } from '../needs.ts'
import { freePort } from './process.ts'

/** A nats-server on a port of the loopback address. `remove` ends it and deletes its files. */
export interface NatsServer {
  readonly url: string
  readonly port: number
  readonly pid: number
  /** Directory with the files of the server. */
  readonly directory: string
  /** Ends the server abruptly, as a failure would. */
  kill(): Promise<void>
  /** Starts the server again on the same port after `kill`. */
  start(): Promise<void>
  remove(): Promise<void>
}

export interface NatsOptions {
  /** Additional lines for the configuration of the server. */
  readonly configuration?: string
  /** Files to write into the directory of the configuration. */
  readonly files?: readonly { readonly name: string; readonly text: string }[]
}

/** Starts a nats-server. @throws Error if it is not installed */
export async function startNats(options: NatsOptions = {}): Promise<NatsServer> {
  return startAt(await freePort(), options)
}

/** Starts nats-servers that form one cluster. Each server forwards messages to all others. */
export async function startNatsCluster(count: number): Promise<readonly NatsServer[]> {
  const routes = await Promise.all(Array.from({ length: count }, freePort))
  const urls = routes.map((port) => `nats://127.0.0.1:${port}`)
  return Promise.all(
    routes.map(async (port, index) => {
      const others = urls.filter((_, other) => other !== index).join(', ')
      const cluster = `cluster { name: test, listen: "127.0.0.1:${port}", routes: [${others}] }`
      return startAt(await freePort(), { configuration: `server_name: test-${index + 1}\n${cluster}` })
    }),
  )
}

async function startAt(port: number, { configuration = '', files = [] }: NatsOptions): Promise<NatsServer> {
  const program = pathOf('nats-server')
  const directory = mkdtempSync(join(tmpdir(), 'weft-nats-'))
  const file = join(directory, 'server.conf')
  for (const { name, text } of files) writeFileSync(join(directory, name), text)
  writeFileSync(file, `listen: "127.0.0.1:${port}"\n${configuration}\n`)
  let child: ChildProcess | null = null
  const start = async () => {
    child = spawn(program, ['-c', file], { cwd: directory, stdio: 'ignore' })
    endWithThis(child)
    await answers(port, child)
  }
  const kill = async () => {
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
  await start()
  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    directory,
    get pid() {
      return child?.pid ?? 0
    },
    kill,
    start,
    remove: async () => {
      await kill()
      rmSync(directory, { recursive: true, force: true, maxRetries: 20 })
    },
  }
}

/**
 * Waits until a nats-server sends its greeting.
 * @throws Error if the server ends before
 */
async function answers(port: number, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + 20_000
  for (;;) {
    const socket = createConnection(port, '127.0.0.1')
    const greeting = await Promise.race([once(socket, 'data'), once(socket, 'close')]).catch(() => [])
    socket.destroy()
    if (greeting[0] instanceof Buffer) return
    if (child.exitCode !== null)
      throw new Error(`nats-server does not start: it ended with ${child.exitCode}`)
    if (Date.now() > deadline) throw new Error('nats-server does not answer')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

import { mkdirSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { endWithThis } from '../../../src/cli/bench/ending.ts'
import type { CuttingProxy, Direction } from '../../support/faults/connection-cutting-proxy.ts'
import { freePort, headers, type ServerProcess, startProcess } from '../../support/servers/process.ts'
import type { Answer, Envelope } from '../../support/servers/server.ts'

/** A call that takes longer counts as failed. */
const callMs = 20_000
/** Longer than a server needs to drain. */
const endMs = 60_000

interface ClusterNodeOptions {
  readonly name: string
  /** The directory of its data, and of its log in the file `log`. */
  readonly data: string
  readonly options: Readonly<Record<string, string>>
  /** The proxies between the node and the databases. */
  readonly databases: readonly CuttingProxy[]
}

/** A Weft process of a cluster at a fixed address. */
export class ClusterNode {
  readonly name: string
  /** Whether a load balancer would send clients to the node. */
  state: 'serving' | 'away' = 'away'
  /** Path of the program that the next start runs; by default, the build of this version. */
  program: string | undefined
  readonly #data: string
  readonly #port: number
  #options: Readonly<Record<string, string>>
  readonly #databases: readonly CuttingProxy[]
  readonly #log: number
  #process: ServerProcess | null = null
  #starts = 0

  private constructor({ name, data, databases, options }: ClusterNodeOptions, port: number) {
    this.name = name
    this.#data = data
    this.#port = port
    this.#options = options
    this.#databases = databases
    mkdirSync(data, { recursive: true })
    this.#log = openSync(join(data, 'log'), 'a')
  }

  /** Creates the node without starting it. */
  static async of(options: ClusterNodeOptions): Promise<ClusterNode> {
    return new ClusterNode(options, await freePort())
  }

  /** Returns the lines of its log. */
  get logLines(): readonly string[] {
    return readFileSync(join(this.#data, 'log'), 'utf8').split('\n')
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  get wsUrl(): string {
    return `ws://127.0.0.1:${this.#port}`
  }

  /** True if it has not ended since its start. */
  get runs(): boolean {
    const child = this.#process?.child
    return child !== undefined && child.exitCode === null && child.signalCode === null
  }

  /** Resolves when it is ready. */
  async start(): Promise<void> {
    const { program } = this
    this.#starts += 1
    // The name of the connections distinguishes the processes of a node.
    const session = this.#starts === 1 ? this.name : `${this.name}.${this.#starts}`
    const url = `${this.#options.WEFT_POSTGRES_URL}?application_name=${session}`
    const options = { ...this.#options, WEFT_NODE_NAME: this.name, WEFT_POSTGRES_URL: url }
    this.#process = await startProcess(this.#data, options, this.#port, undefined, this.#log, program)
    endWithThis(this.#process.child)
    this.state = 'serving'
    // Later starts find the workspace in the store. Calls may have changed its credentials meanwhile.
    const { WEFT_BOOTSTRAP: _, ...later } = this.#options
    this.#options = later
  }

  async kill(): Promise<void> {
    this.state = 'away'
    await this.#process?.end('SIGKILL')
  }

  /** Stops it like a rolling restart. Resolves with the exit code. */
  async stop(): Promise<number | null> {
    this.state = 'away'
    const timer = setTimeout(() => void this.kill(), endMs)
    const code = await this.#process?.end('SIGTERM')
    clearTimeout(timer)
    return code ?? null
  }

  pause(): void {
    this.state = 'away'
    this.#process?.child.kill('SIGSTOP')
  }

  resume(): void {
    this.#process?.child.kill('SIGCONT')
    this.state = 'serving'
  }

  /** Keeps back all bytes between the node and the databases in one direction, or both, until `reconnect`. */
  partition(direction: Direction): void {
    for (const database of this.#databases) database.pause(direction)
  }

  reconnect(): void {
    for (const database of this.#databases) database.resume()
  }

  async isReady(): Promise<boolean> {
    const signal = AbortSignal.timeout(callMs)
    return (
      (await fetch(`${this.url}/readyz`, { headers: { connection: 'close' }, signal }).catch(() => null))
        ?.ok === true
    )
  }

  /** Calls an operation with the credentials of the API key. A header with the value '' is omitted. */
  async post(path: string, data: unknown, more: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const response = await fetch(this.url + path, {
      method: 'POST',
      headers: Object.entries({ ...headers, ...more }).filter(([, value]) => value !== ''),
      body: JSON.stringify({ data }),
      signal: AbortSignal.timeout(callMs),
    })
    return { status: response.status, headers: response.headers, body: (await response.json()) as Envelope }
  }
}

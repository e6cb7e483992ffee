import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { endWithThis } from '../../../src/cli/bench/ending.ts'
import { findBinaries } from '../postgres-binaries.ts'
import { freePort } from './process.ts'

const found = findBinaries()

export type Row = Readonly<Record<string, unknown>>

/** Creates a directory to which the user of PostgreSQL can write. */
export function postgresDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'weft-postgres-'))
  const { user } = binaries()
  if (user !== null) chownSync(directory, user.uid, user.gid)
  return directory
}

let empty: string | undefined

/** Creates an empty database cluster. Its user `weft` needs no password. */
export function initialize(data: string): void {
  empty ??= initialized()
  asPostgres('cp', ['-a', empty, data])
}

/** Creates the cluster that this process copies, because `initdb` takes more than twice the time of a copy. */
function initialized(): string {
  const directory = postgresDirectory()
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  const data = join(directory, 'data')
  const making = ['-D', data, '-U', 'weft', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']
  asPostgres(join(binaries().folder, 'initdb'), making)
  return data
}

/** Runs a program as the user as which PostgreSQL runs. */
export function asPostgres(command: string, args: readonly string[]): void {
  execFileSync(command, args, { ...binaries().user, cwd: '/', stdio: 'pipe' })
}

/** Settings with minimal resources, because a machine may run many servers at the same time. */
const settings = ['shared_buffers=32MB', 'max_connections=60', 'listen_addresses=127.0.0.1', 'fsync=off']
const triesMax = 20

/**
 * The processes of one PostgreSQL server. The server has its own port on the loopback address, which stays
 * the same.
 */
export class PostgresProcess {
  readonly port: number
  readonly #data: string
  readonly #settings: readonly string[]
  #child: ChildProcess | null = null

  private constructor(data: string, port: number, more: readonly string[]) {
    this.#data = data
    this.port = port
    this.#settings = [...settings, `unix_socket_directories=${join(data, '..')}`, ...more]
  }

  /**
   * Creates the object, but does not start the server.
   * @param more additional settings, such as `work_mem=1MB`
   */
  static async of(data: string, more: readonly string[] = []): Promise<PostgresProcess> {
    return new PostgresProcess(data, await freePort(), more)
  }

  get url(): string {
    return `postgres://weft@127.0.0.1:${this.port}/postgres`
  }

  /** Process id of the main process; 0 before the start. */
  get pid(): number {
    return this.#child?.pid ?? 0
  }

  get runs(): boolean {
    return this.#child?.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Starts the server. Resolves when the server accepts connections. */
  async start(): Promise<void> {
    const { folder, user } = binaries()
    const flags = this.#settings.flatMap((setting) => ['-c', setting])
    const args = ['-D', this.#data, '-p', String(this.port), ...flags]
    // Retries the start. A killed process may still use its shared memory for a moment, and no server can
    // start there in this time.
    for (let tries = 1; ; tries++) {
      const child = spawn(join(folder, 'postgres'), args, { ...user, cwd: '/', stdio: 'ignore' })
      // Its child processes end when they notice that it has ended.
      endWithThis(child)
      this.#child = child
      if (await answers(this.url, child)) return
      if (tries === triesMax) throw new Error(`PostgreSQL does not start: it ended with ${child.exitCode}`)
    }
  }

  /** Kills all processes of the server at the same time, like a power loss. */
  async kill(): Promise<void> {
    if (!this.runs) return
    const exited = once(this.#child as ChildProcess, 'exit')
    this.killAtOnce()
    await exited
  }

  /** Kills all processes of the server, but does not wait until they have ended. */
  killAtOnce(): void {
    if (!this.runs) return
    // Pauses the processes first, because a paused main process starts no more child processes. Such
    // processes would continue to run after it.
    this.pause()
    for (const pid of childrenOf(this.pid)) signal(pid, 'SIGKILL')
    signal(this.pid, 'SIGKILL')
  }

  /** Pauses all processes of the server until `resume` is called. */
  pause(): void {
    signal(this.pid, 'SIGSTOP')
    for (const pid of childrenOf(this.pid)) signal(pid, 'SIGSTOP')
  }

  resume(): void {
    for (const pid of childrenOf(this.pid)) signal(pid, 'SIGCONT')
    signal(this.pid, 'SIGCONT')
  }

  /** Runs an SQL statement. */
  sql(text: string): Promise<readonly Row[]> {
    return withClient(this.url, async (client) => (await client.query<Row>(text)).rows)
  }
}

/** Calls `use` with a connection to the database. Closes the connection afterwards. */
export async function withClient<Result>(
  url: string,
  use: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = new Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}

function binaries() {
  if (typeof found === 'string') throw new Error(found)
  return found
}

/** Returns the ids of the child processes of a process. */
function childrenOf(pid: number): readonly number[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).split('\n')
  const pairs = lines.map((line) => line.trim().split(/\s+/).map(Number))
  return pairs.filter(([, parent]) => parent === pid).map(([child]) => child as number)
}

/** Sends a signal to a process. Does nothing if the process has ended. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // The process has already ended.
  }
}

/** Waits until the server accepts connections. Returns false if the server ends before. */
async function answers(url: string, child: ChildProcess): Promise<boolean> {
  const deadline = Date.now() + 20_000
  while (child.exitCode === null) {
    try {
      await withClient(url, (client) => client.query('select 1'))
      return true
    } catch (error) {
      if (Date.now() > deadline) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return false
}

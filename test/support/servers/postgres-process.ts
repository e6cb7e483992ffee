import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { findBinaries } from './postgres-binaries.ts'
import { freePort } from './process.ts'

const found = findBinaries()

/** Why there can be no PostgreSQL here; null: there can. Where everything is asked for, it is required. */
export const noPostgres: string | null = typeof found === 'string' ? found : null
if (noPostgres !== null) {
  if (process.env.WEFT_TEST_ALL === '1') throw new Error(noPostgres)
  process.stderr.write(`tests over PostgreSQL are left out: ${noPostgres}\n`)
}

export type Row = Readonly<Record<string, unknown>>

/** A directory that PostgreSQL may use. */
export function postgresDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'weft-postgres-'))
  const { user } = binaries()
  if (user !== null) chownSync(directory, user.uid, user.gid)
  return directory
}

/** Makes an empty database of the user `weft`, who needs no password. */
export function initialize(data: string): void {
  const { folder, user } = binaries()
  const making = ['-D', data, '-U', 'weft', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']
  execFileSync(join(folder, 'initdb'), making, { ...user, cwd: join(data, '..'), stdio: 'pipe' })
}

/** Runs a program as the user that PostgreSQL runs as. */
export function asPostgres(command: string, args: readonly string[]): void {
  execFileSync(command, args, { ...binaries().user, cwd: '/', stdio: 'pipe' })
}

/** What a test of the engine needs, and no more: many servers may be on one machine. */
const settings = ['shared_buffers=32MB', 'max_connections=60', 'listen_addresses=127.0.0.1', 'fsync=off']
const triesMax = 20

/** The processes of one PostgreSQL on a loopback port of its own, which it keeps. */
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

  /** Not started yet. @param more settings, such as `work_mem=1MB` */
  static async of(data: string, more: readonly string[] = []): Promise<PostgresProcess> {
    return new PostgresProcess(data, await freePort(), more)
  }

  get url(): string {
    return `postgres://weft@127.0.0.1:${this.port}/postgres`
  }

  /** The process that started all others; 0 before. */
  get pid(): number {
    return this.#child?.pid ?? 0
  }

  get runs(): boolean {
    return this.#child?.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Resolves when it serves. */
  async start(): Promise<void> {
    const { folder, user } = binaries()
    const flags = this.#settings.flatMap((setting) => ['-c', setting])
    const args = ['-D', this.#data, '-p', String(this.port), ...flags]
    // What has been killed may hold its memory for a moment, in which nothing else is started there.
    for (let tries = 1; ; tries++) {
      const child = spawn(join(folder, 'postgres'), args, { ...user, cwd: '/', stdio: 'ignore' })
      this.#child = child
      if (await answers(this.url, child)) return
      if (tries === triesMax) throw new Error(`PostgreSQL does not start: it ended with ${child.exitCode}`)
    }
  }

  /** Ends all its processes at once, as a loss of power would. */
  async kill(): Promise<void> {
    if (!this.runs) return
    const exited = once(this.#child as ChildProcess, 'exit')
    this.killAtOnce()
    await exited
  }

  /** As `kill`, without waiting for its end. */
  killAtOnce(): void {
    if (!this.runs) return
    // Stopped, it makes no more of them meanwhile. They would go on for a moment without it.
    this.pause()
    for (const pid of childrenOf(this.pid)) signal(pid, 'SIGKILL')
    signal(this.pid, 'SIGKILL')
  }

  /** None of its processes does anything more, until `resume`. */
  pause(): void {
    signal(this.pid, 'SIGSTOP')
    for (const pid of childrenOf(this.pid)) signal(pid, 'SIGSTOP')
  }

  resume(): void {
    for (const pid of childrenOf(this.pid)) signal(pid, 'SIGCONT')
    signal(this.pid, 'SIGCONT')
  }

  /** Runs a statement. */
  sql(text: string): Promise<readonly Row[]> {
    return withClient(this.url, async (client) => (await client.query<Row>(text)).rows)
  }
}

/** Has `use` do something with a connection. */
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

/** The processes that a process has started. */
function childrenOf(pid: number): readonly number[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).split('\n')
  const pairs = lines.map((line) => line.trim().split(/\s+/).map(Number))
  return pairs.filter(([, parent]) => parent === pid).map(([child]) => child as number)
}

/** Sends it, unless the process has ended. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended by itself.
  }
}

/** Waits until it serves; false when it ends instead. */
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

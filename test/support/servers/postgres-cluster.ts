import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from 'pg'
import {
  asPostgres,
  initialize,
  PostgresProcess,
  postgresDirectory,
  type Row,
  withClient,
} from './postgres-process.ts'

interface Member {
  readonly name: string
  readonly data: string
  readonly server: PostgresProcess
}

/** Returns settings with which a commit is acknowledged when it is on the disks of two servers. */
const replication = (names: readonly string[]): readonly string[] => [
  `synchronous_standby_names=${names.length === 1 ? '' : `ANY 1 (${names.join(', ')})`}`,
  'synchronous_commit=on',
  'wal_level=replica',
  'wal_keep_size=512MB',
  'hot_standby=on',
  // The interval is short, because a standby gets no notice of a new primary and must retry to find it.
  'wal_retrieve_retry_interval=200ms',
  'wal_receiver_timeout=5s',
  'wal_sender_timeout=5s',
]

/**
 * A PostgreSQL cluster with a primary and standbys. Each acknowledged commit is on the disk of at least one
 * standby. Like Patroni, the cluster can promote a standby and make the other ones follow it.
 */
export class PostgresCluster {
  readonly #directory: string
  readonly #members: readonly Member[]
  #primary: Member

  private constructor(directory: string, members: readonly [Member, ...Member[]]) {
    this.#directory = directory
    this.#members = members
    this.#primary = members[0]
  }

  static async start(standbys = 2): Promise<PostgresCluster> {
    const directory = postgresDirectory()
    const members: Member[] = []
    const names = Array.from({ length: standbys + 1 }, (_, index) => `pg_${index + 1}`)
    for (const name of names) {
      const data = join(directory, name, 'data')
      asPostgres('mkdir', ['-p', join(directory, name)])
      const server = await PostgresProcess.of(data, [...replication(names), `cluster_name=${name}`])
      members.push({ name, data, server })
    }
    const cluster = new PostgresCluster(directory, members as [Member, ...Member[]])
    initialize(cluster.#primary.data)
    await cluster.#primary.server.start()
    for (const member of cluster.standbys()) await cluster.#join(member)
    return cluster
  }

  /** URL that contains the addresses of all servers. It is valid for any choice of the primary. */
  get url(): string {
    const hosts = this.ports.map((port) => `127.0.0.1:${port}`)
    return `postgres://weft@${hosts.join(',')}/postgres`
  }

  /** The ports of all servers. */
  get ports(): readonly number[] {
    return this.#members.map(({ server }) => server.port)
  }

  get primary(): PostgresProcess {
    return this.#primary.server
  }

  standbys(): readonly Member[] {
    return this.#members.filter((each) => each !== this.#primary)
  }

  /** Runs an SQL statement on the primary. */
  sql(text: string): Promise<readonly Row[]> {
    return this.primary.sql(text)
  }

  /**
   * Stops the primary permanently (`gone`) or pauses it (`silent`). The standby with the longest log becomes
   * the primary, and the other standbys follow it. Resolves when the new primary accepts commits.
   */
  async failOver(how: 'gone' | 'silent' = 'gone'): Promise<void> {
    const former = this.#primary
    if (how === 'silent') former.server.pause()
    else await former.server.kill()
    const standbys = await Promise.all(
      this.standbys().map(async (member) => ({ member, received: await receivedBy(member) })),
    )
    const [next] = standbys.sort((a, b) => Number(b.received - a.received))
    if (next === undefined) throw new Error('there is no standby')
    this.#primary = next.member
    await this.#primary.server.sql('select pg_promote(true)')
    for (const member of this.standbys()) if (member !== former) await this.#follow(member)
  }

  /** Starts each stopped server again. It becomes a standby with a copy of the primary's data. */
  async repair(): Promise<void> {
    for (const member of this.standbys()) if (!member.server.runs) await this.#join(member)
  }

  /**
   * Starts the stopped former primary with its old data, so that it acts as a primary. Returns a function
   * that ends it.
   */
  async startFormer(): Promise<() => Promise<void>> {
    const former = this.standbys().filter(({ server }) => !server.runs)
    for (const { server } of former) await server.start()
    return async () => {
      for (const { server } of former) await server.kill()
    }
  }

  /** Kills all servers. Does not wait until they have ended. */
  killAtOnce(): void {
    for (const { server } of this.#members) server.killAtOnce()
  }

  async remove(): Promise<void> {
    for (const { server } of this.#members) await server.kill()
    rmSync(this.#directory, { recursive: true, force: true, maxRetries: 20 })
  }

  /**
   * Starts a server as a standby with a copy of the primary's data. Resolves when the standby receives the
   * log.
   */
  async #join(member: Member): Promise<void> {
    rmSync(member.data, { recursive: true, force: true, maxRetries: 20 })
    await withClient(this.primary.url, (client) => this.#copy(client, member))
    await member.server.start()
    await this.#streaming(member)
  }

  /**
   * Copies the data of the primary in the same way as `pg_basebackup`. The PostgreSQL package that the tests
   * use does not have this program.
   */
  async #copy(client: Client, { name, data }: Member): Promise<void> {
    await client.query(`select pg_backup_start('${name}', true)`)
    asPostgres('sh', ['-c', copyScript, 'sh', this.#primary.data, data])
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
    this.#write(data, 'backup_label', rows[0]?.labelfile ?? '')
    this.#write(data, 'standby.signal', '')
    this.#write(data, 'postgresql.auto.conf', `primary_conninfo = '${this.#conninfo(name)}'\n`)
  }

  #write(data: string, file: string, text: string): void {
    const path = join(data, file)
    writeFileSync(path, text)
    chmodSync(path, 0o666)
  }

  #conninfo(name: string): string {
    return `host=127.0.0.1 port=${this.primary.port} user=weft application_name=${name} connect_timeout=2`
  }

  async #follow(member: Member): Promise<void> {
    await withClient(member.server.url, async (client) => {
      await client.query(`alter system set primary_conninfo = '${this.#conninfo(member.name)}'`)
      await client.query('select pg_reload_conf()')
    })
    await this.#streaming(member)
  }

  async #streaming({ name }: Member): Promise<void> {
    const deadline = Date.now() + 30_000
    const ask = `select 1 from pg_stat_replication where application_name = '${name}' and state = 'streaming'`
    while ((await this.sql(ask)).length === 0) {
      if (Date.now() > deadline) throw new Error(`${name} does not follow the primary`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

/**
 * Shell script that copies the data. The data contains no symbolic links. Files may disappear during the
 * copy, which the documentation of PostgreSQL allows.
 */
const copyScript = `
mkdir -m 700 "$2" && cd "$1" &&
{ tar -cf - --exclude=./postmaster.pid --exclude=./postmaster.opts --exclude='./pg_wal/*' --exclude='./pg_replslot/*' . || true; } 2>/dev/null |
tar -xf - -C "$2" && mkdir -p "$2/pg_wal/archive_status" "$2/pg_wal/summaries"`

/** Returns the position up to which a standby has received the log, in bytes. */
async function receivedBy({ server }: Member): Promise<bigint> {
  const [row] = await server.sql(
    `select (greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) - '0/0')::text as bytes`,
  )
  return BigInt(String(row?.bytes ?? '0'))
}

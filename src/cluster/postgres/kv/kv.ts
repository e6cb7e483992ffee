import type { Key, Kv, KvCommit, KvEntry, KvRange } from '../../../core/store/engine.ts'
import { decodeKey, encodeKey, keyRange } from '../../../core/store/key-encoding.ts'
import type { OpenCalls } from '../../../core/store/open-calls.ts'
import type { PostgresDatabase } from '../connection/database.ts'
import { statement } from '../connection/database-session.ts'
import type { PendingBytes } from '../connection/pending-bytes.ts'
import { type KvCommitQueue, PendingCommit } from './kv-commits.ts'
import type { ValueReads } from './value-reads.ts'

const noSpace = Buffer.alloc(0)

const scan = (order: 'asc' | 'desc') =>
  statement<{ readonly key: Buffer; readonly value: Buffer }>(
    `scan-${order}`,
    `select key, value from kv where part = $1 and key >= $2 and key < $3 order by key ${order} limit $4`,
  )
const forwards = scan('asc')
const backwards = scan('desc')

export class PostgresKv implements Kv {
  readonly #gate: OpenCalls
  readonly #database: PostgresDatabase
  readonly #pending: PendingBytes
  readonly #commits: KvCommitQueue
  readonly #values: ValueReads

  constructor(dependencies: {
    gate: OpenCalls
    database: PostgresDatabase
    pending: PendingBytes
    commits: KvCommitQueue
    values: ValueReads
  }) {
    this.#gate = dependencies.gate
    this.#database = dependencies.database
    this.#pending = dependencies.pending
    this.#commits = dependencies.commits
    this.#values = dependencies.values
  }

  get(part: Key, keys: readonly Key[]): Promise<readonly (Uint8Array | null)[]> {
    return this.#gate.run(async () => {
      return this.#values.read({ part: encodeKey(part), keys: keys.map(encodeKey) })
    })
  }

  scan(part: Key, range: KvRange): Promise<readonly KvEntry[]> {
    return this.#gate.run(async () => {
      const { gte, lt } = keyRange(noSpace, range)
      const values = [encodeKey(part), gte, lt, range.limit]
      const ordered = range.reverse === true ? backwards : forwards
      const stored = await this.#database.read((session) => session.rows(ordered, values))
      return stored.map(({ key, value }) => ({ key: decodeKey(key), value }))
    })
  }

  /**
   * Writes a commit. Ignores `pace`, because all commits of one tick are written in one transaction anyway.
   */
  commit(part: Key, commit: KvCommit): Promise<boolean> {
    return this.#gate.run(async () => {
      const call = new PendingCommit(encodeKey(part), commit)
      return this.#pending.during(call.bytes, () => {
        this.#commits.add(call)
        return call.ended
      })
    })
  }
}

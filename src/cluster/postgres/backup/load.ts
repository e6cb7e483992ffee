import { asBuffer } from '../../../core/base/bytes.ts'
import type { StoredPage } from '../../../core/store/engine.ts'
import { decodeKey, decodeNumber, splitKey } from '../../../core/store/key-encoding.ts'
import { attributionNumber, baseSnapshot, oldestSnapshot } from '../../../core/store/log-state.ts'
import { decodeJob } from '../../../core/store/pairs/job-records.ts'
import { keyspaces } from '../../../core/store/pairs/keyspaces.ts'
import {
  checkChecksum,
  decodeHead,
  decodeSnapshot,
  decodeUpdates,
} from '../../../core/store/pairs/record-codec.ts'
import { packAuthor } from '../../../core/store/stored-author.ts'
import { DamagedRecordError } from '../../../core/store/stored-record.ts'
import { upsertBlob } from '../blobs.ts'
import { bytesArray, packBytes } from '../connection/arrays.ts'
import type { PostgresDatabase } from '../connection/database.ts'
import { statement } from '../connection/database-session.ts'
import type { Write } from '../connection/sql-transaction.ts'
import { insertJobs, moveToDeadLetters } from '../jobs/job-rows.ts'
import { entryCrc, type NewEntry, newSnapshots } from '../log/document-change-set.ts'
import { type DocumentRow, headValues, makeHeads, moveHeads, readHeads, rowOf } from '../log/document-rows.ts'
import { insertEntries } from '../log/entry-rows.ts'
import { upsertSnapshot } from '../log/snapshot-rows.ts'

/** Maximum number of damaged records that a load names. */
const damagedNamesMax = 100
/** Bytes at the end of the key of an update or a snapshot: the end of the document's key, and a number. */
const numberedBytes = 9

const insertValues = statement(
  'load-values',
  `insert into kv select u.part, u.key, substr($3::bytea, u.start, u.size)
   from unnest($1::bytea[], $2::bytea[], $4::int[], $5::int[]) as u(part, key, start, size)`,
)
const readEmptyLogs = statement<{ key: Buffer }>(
  'empty-logs',
  `select key from document where state = 'live' and head = 0 order by key limit ${damagedNamesMax}`,
)

export interface LoadedPairs {
  readonly records: number
  /** Names of damaged records, which were left out; at most `damagedNamesMax`. */
  readonly damaged: readonly string[]
}

type Pair = StoredPage[number]
type SendStatements = Parameters<Write>[0]

/** A decoded pair. `key` is the key of the record without the byte of its kind. */
interface DecodedPair<T> {
  readonly key: Buffer
  readonly value: T
}

/**
 * Writes the pairs of a backup into the empty tables of a schema. The pairs must have the layout that all engines
 * share, and the order of their keys. Damaged records are left out and named, so that one of them does not prevent
 * the restore of all others.
 * @throws StoreUnavailableError
 */
export async function loadPairs(
  database: PostgresDatabase,
  pages: AsyncIterable<StoredPage>,
): Promise<LoadedPairs> {
  const loader = new PairLoader(database)
  for await (const page of pages) await loader.load(page)
  return loader.end()
}

class PairLoader {
  readonly #database: PostgresDatabase
  readonly #damaged: string[] = []
  #records = 0
  /** The last loaded entry. Some appends of LevelDB contain the last entries of the append before them. */
  #last = { document: '', seq: 0 }

  constructor(database: PostgresDatabase) {
    this.#database = database
  }

  async load(page: StoredPage): Promise<void> {
    this.#records += page.length
    for (const pairs of byKind(page)) {
      const writes = await this.#writesOf(pairs)
      if (writes.length === 0) continue
      await this.#database.write({
        ask: async () => undefined,
        act: (_, write) => {
          for (const send of writes) write(send)
        },
      })
    }
  }

  async end(): Promise<LoadedPairs> {
    const empty = await this.#database.read((session) => session.rows(readEmptyLogs, []))
    for (const { key } of empty) this.#report(`document ${JSON.stringify(decodeKey(key))}`)
    return { records: this.#records, damaged: this.#damaged }
  }

  async #writesOf(pairs: readonly Pair[]): Promise<readonly SendStatements[]> {
    const kind = pairs[0]?.[0][0]
    if (kind === keyspaces.blobs[0]) return this.#blobs(pairs)
    if (kind === keyspaces.heads[0]) return this.#heads(pairs)
    if (kind === keyspaces.kv[0]) return this.#values(pairs)
    if (kind === keyspaces.jobs[0]) return this.#jobs(pairs)
    if (kind === keyspaces.deadLetters[0]) return this.#deadLetters(pairs)
    if (kind === keyspaces.snapshots[0]) return this.#snapshots(pairs)
    if (kind === keyspaces.updates[0]) return this.#updates(pairs)
    // The format is already checked, and PostgreSQL has its own index of due times.
    return []
  }

  #blobs(pairs: readonly Pair[]): readonly SendStatements[] {
    return this.#decoded(pairs, checkChecksum).map(({ key, value }) => upsertBlob(key, value))
  }

  #heads(pairs: readonly Pair[]): readonly SendStatements[] {
    const rows = this.#decoded(pairs, decodeHead).map(({ key, value }) => {
      const { id, changed } = rowOf(undefined)
      const standing = value.state === 'live' ? { ...value, head: baseSnapshot(value.marks).seq } : value
      return [key, { id, isStored: false, standing, changed }] as const
    })
    return rows.length === 0 ? [] : [(session) => session.rows(makeHeads, headValues(rows))]
  }

  #values(pairs: readonly Pair[]): readonly SendStatements[] {
    const found = this.#decoded(pairs, checkChecksum).map(({ key, value }) => {
      const name = splitKey(key)[1]
      return { part: key.subarray(0, key.length - name.length - 1), name, value }
    })
    if (found.length === 0) return []
    const { bytes, starts, sizes } = packBytes(found.map(({ value }) => value))
    const keys = [found.map(({ part }) => part), found.map(({ name }) => name)].map(bytesArray)
    return [(session) => session.rows(insertValues, [...keys, bytes, starts, sizes])]
  }

  #jobs(pairs: readonly Pair[]): readonly SendStatements[] {
    const jobs = this.#decoded(pairs, decodeJob).map(({ key, value: record }) => {
      const [queue = '', id = ''] = decodeKey(key)
      return { queue, id, record }
    })
    const writes: SendStatements[] = []
    insertJobs(jobs, (send) => writes.push(send))
    return writes
  }

  #deadLetters(pairs: readonly Pair[]): readonly SendStatements[] {
    const writes: SendStatements[] = []
    for (const { key, value } of this.#decoded(pairs, decodeJob)) {
      const [queue = '', id = ''] = decodeKey(key)
      moveToDeadLetters({ queue, id }, value, (send) => writes.push(send))
    }
    return writes
  }

  async #snapshots(pairs: readonly Pair[]): Promise<readonly SendStatements[]> {
    const found = this.#decoded(pairs, decodeSnapshot)
    const heads = await this.#headsOf(found)
    const writes: SendStatements[] = []
    for (const { key, value } of found) {
      const { head, number } = this.#headOf(heads, key)
      if (head?.standing.state !== 'live') continue
      const { epoch, marks } = head.standing
      const base = baseSnapshot(marks).seq
      // The record of the authors contains the number of the snapshot to which they belong. It is empty without authors.
      const isPart =
        number === attributionNumber
          ? value.seq === base && value.bytes.length > 0
          : marks.some(({ seq }) => seq === number)
      if (!isPart) continue
      const of = { key: documentKeyOf(key), doc: head.id, epoch }
      for (const row of newSnapshots(of, number, value.bytes)) writes.push(upsertSnapshot(row))
      if (number === base && base > 0) head.changed = value.changed
    }
    return [...writes, ...this.#moved(heads)]
  }

  async #updates(pairs: readonly Pair[]): Promise<readonly SendStatements[]> {
    const found = this.#decoded(pairs, decodeUpdates)
    const heads = await this.#headsOf(found)
    const entries: NewEntry[] = []
    for (const { key, value } of found) {
      const { head } = this.#headOf(heads, key)
      if (head?.standing.state !== 'live') continue
      const { epoch, marks } = head.standing
      const document = documentKeyOf(key)
      const name = document.toString('latin1')
      const after = this.#last.document === name ? this.#last.seq : oldestSnapshot(marks).seq
      for (const { seq, at, bytes, ...author } of value) {
        if (seq <= after) continue
        const entry = { epoch, seq, at, by: Buffer.from(packAuthor(author)), bytes }
        entries.push({ ...entry, doc: head.id, crc: entryCrc(document, entry) })
        this.#last = { document: name, seq }
        if (seq < head.standing.head) continue
        head.standing = { ...head.standing, head: seq }
        head.changed = { at, by: author.by }
      }
    }
    return entries.length === 0 ? [] : [insertEntries(entries), ...this.#moved(heads)]
  }

  /** Returns the pairs with their decoded values, without damaged records. */
  #decoded<T>(pairs: readonly Pair[], decode: (key: Buffer, value: Buffer) => T): readonly DecodedPair<T>[] {
    return pairs.flatMap(([stored, value]) => {
      const key = asBuffer(stored)
      try {
        return [{ key: key.subarray(1), value: decode(key, asBuffer(value)) }]
      } catch (error) {
        if (!(error instanceof DamagedRecordError || error instanceof RangeError)) throw error
        this.#report(nameOf(key))
        return []
      }
    })
  }

  #report(name: string): void {
    if (this.#damaged.length < damagedNamesMax) this.#damaged.push(name)
  }

  /** Reads the rows of the documents to which snapshots or updates belong. */
  async #headsOf(found: readonly DecodedPair<unknown>[]): Promise<ReadonlyMap<string, LoadedHead>> {
    const keys = new Map(found.map(({ key }) => [documentKeyOf(key).toString('latin1'), documentKeyOf(key)]))
    if (keys.size === 0) return new Map()
    const rows = await this.#database.read((session) =>
      session.rows(readHeads, [bytesArray([...keys.values()])]),
    )
    return new Map(rows.map((row) => [row.key.toString('latin1'), { key: row.key, ...rowOf(row) }]))
  }

  /** Returns the document of a snapshot or an update, and its number. Reports a record without a document. */
  #headOf(heads: ReadonlyMap<string, LoadedHead>, key: Buffer) {
    const head = heads.get(documentKeyOf(key).toString('latin1'))
    if (head?.standing.state !== 'live') this.#report(nameOf(Buffer.concat([keyspaces.updates, key])))
    return { head, number: decodeNumber(key, key.length - 8) }
  }

  #moved(heads: ReadonlyMap<string, LoadedHead>): readonly SendStatements[] {
    const rows = [...heads.values()].map((head) => [head.key, head] as const)
    return rows.length === 0 ? [] : [(session) => session.rows(moveHeads, headValues(rows))]
  }
}

/** The row of a document. Its end changes while its snapshots and entries are loaded. */
interface LoadedHead {
  readonly key: Buffer
  readonly id: string
  readonly isStored: boolean
  standing: DocumentRow['standing']
  changed: DocumentRow['changed']
}

/** Splits a page into runs of one kind. */
function byKind(page: StoredPage): readonly (readonly Pair[])[] {
  const kinds = new Map<number | undefined, Pair[]>()
  for (const pair of page) {
    const known = kinds.get(pair[0][0])
    if (known === undefined) kinds.set(pair[0][0], [pair])
    else known.push(pair)
  }
  return [...kinds.values()]
}

/** Returns the key of the document in the key of one of its snapshots or updates. */
const documentKeyOf = (key: Buffer): Buffer => key.subarray(0, key.length - numberedBytes)

/** Returns the name of a record for messages: its kind, and the segments of its key. */
function nameOf(key: Buffer): string {
  const text = key
    .subarray(1)
    .toString()
    .replaceAll(/[\u0000-\u001f\ufffd]+/g, ' ')
    .trim()
  return `record ${key.toString('latin1', 0, 1)} ${JSON.stringify(text)}`
}

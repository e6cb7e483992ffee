import { crc32 } from 'node:zlib'
import { asBuffer } from '../../core/base/bytes.ts'
import type { Blobs, Key } from '../../core/store/engine.ts'
import { decodeKey, encodeKey, keyRange } from '../../core/store/key-encoding.ts'
import type { OpenCalls } from '../../core/store/open-calls.ts'
import { DamagedRecordError, withRecordName } from '../../core/store/stored-record.ts'
import type { PostgresDatabase } from './connection/database.ts'
import { type DatabaseSession, statement } from './connection/database-session.ts'
import type { PendingBytes } from './connection/pending-bytes.ts'

const noSpace = Buffer.alloc(0)

const putBlob = statement(
  'put-blob',
  `insert into blob values ($1, $2, $3)
   on conflict (key) do update set crc = excluded.crc, bytes = excluded.bytes`,
)
const getBlob = statement<{ crc: number; bytes: Buffer }>(
  'get-blob',
  'select crc, bytes from blob where key = $1',
)
const deleteBlob = statement('delete-blob', 'delete from blob where key = $1')
const listBlobs = statement<{ key: Buffer }>(
  'list-blobs',
  'select key from blob where key >= $1 and key < $2 order by key limit $3',
)

/** Returns the checksum of a blob, which includes its key. */
export const blobCrc = (key: Buffer, bytes: Uint8Array): number => crc32(bytes, crc32(key))

/** Returns a function that writes a blob. `key` is encoded. */
export const upsertBlob =
  (key: Buffer, bytes: Uint8Array) =>
  (session: DatabaseSession): Promise<unknown> =>
    session.rows(putBlob, [key, blobCrc(key, bytes), asBuffer(bytes)])

export class PostgresBlobs implements Blobs {
  readonly #gate: OpenCalls
  readonly #database: PostgresDatabase
  readonly #pending: PendingBytes

  constructor({
    gate,
    database,
    pending,
  }: { gate: OpenCalls; database: PostgresDatabase; pending: PendingBytes }) {
    this.#gate = gate
    this.#database = database
    this.#pending = pending
  }

  put(key: Key, bytes: Uint8Array): Promise<void> {
    return this.#gate.run(async () => {
      const copy = new Uint8Array(bytes)
      const put = upsertBlob(encodeKey(key), copy)
      await this.#pending.during(copy.length, () => this.#write(put))
    })
  }

  get(key: Key): Promise<Uint8Array | null> {
    return this.#gate.run(() =>
      withRecordName('blob', key, async () => {
        const at = encodeKey(key)
        const [row] = await this.#database.read((session) => session.rows(getBlob, [at]))
        if (row === undefined) return null
        if (blobCrc(at, row.bytes) !== row.crc) throw new DamagedRecordError('a checksum is wrong')
        return row.bytes
      }),
    )
  }

  delete(key: Key): Promise<void> {
    return this.#gate.run(async () => this.#write((session) => session.rows(deleteBlob, [encodeKey(key)])))
  }

  list(prefix: Key, { after, limit }: { after?: Key; limit: number }): Promise<readonly Key[]> {
    return this.#gate.run(async () => {
      const { gte, lt } = keyRange(noSpace, { prefix, after })
      const found = await this.#database.read((session) => session.rows(listBlobs, [gte, lt, limit]))
      return found.map(({ key }) => decodeKey(key))
    })
  }

  #write(send: (session: DatabaseSession) => Promise<unknown>): Promise<void> {
    return this.#database.write({
      ask: async () => undefined,
      act: (_, write) => write(send),
    })
  }
}

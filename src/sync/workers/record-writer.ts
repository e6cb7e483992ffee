import type { Writable } from 'node:stream'
import { headerBytes, workerRecords } from './ipc-records.ts'

/** Bodies that are larger are not copied. */
const copiedBytesMax = 16_384

interface Entry {
  readonly kind: number
  readonly id: number
  /** Of those who share the body. */
  readonly ids: number[] | null
  readonly body: Uint8Array
}

/** Somebody who is written to: the number of the last entry that concerns it. */
export interface RecordTarget {
  readonly id: number
  lastEntry: number
}

const nothing = Buffer.alloc(0)

/** Gathers the records of one turn of the event loop, and writes them at its end in one call. */
export class RecordWriter {
  readonly #stream: Writable
  #entries: Entry[] = []
  #bytes = 0
  /** Number of the first of `#entries`. */
  #first = 1
  /** Numbers of the entries whose frames others may share. */
  #shared = new Map<Uint8Array, number>()

  constructor(stream: Writable) {
    this.#stream = stream
  }

  /** What the other end has not taken yet. */
  get waitingBytes(): number {
    return this.#bytes + this.#stream.writableLength
  }

  /** Calls `fn` once when what is waiting now is on its way. */
  whenDrained(fn: () => void): void {
    this.flush()
    this.#stream.write(nothing, () => fn())
  }

  /** Returns the number of the entry. */
  add(kind: number, id: number, body: Uint8Array = nothing): number {
    return this.#push({ kind, id, ids: null, body })
  }

  /** As `add`, in its order for `to`. */
  addTo(to: RecordTarget, kind: number, body?: Uint8Array): void {
    to.lastEntry = this.add(kind, to.id, body)
  }

  /**
   * Has `frames` written to one more: what many get in a turn goes over once. For each its own order holds: one joins
   * others only where nothing has been said to it since.
   */
  share(to: RecordTarget, frames: Uint8Array): void {
    const known = this.#shared.get(frames)
    if (known !== undefined && to.lastEntry < known) {
      this.#entries[known - this.#first]?.ids?.push(to.id)
      this.#bytes += 4
      to.lastEntry = known
      return
    }
    to.lastEntry = this.#push({ kind: workerRecords.share, id: 0, ids: [to.id], body: frames })
    this.#shared.set(frames, to.lastEntry)
  }

  flush(): void {
    const entries = this.#entries
    if (entries.length === 0) return
    this.#first += entries.length
    this.#entries = []
    this.#bytes = 0
    this.#shared.clear()
    this.#stream.cork()
    let begin = 0
    entries.forEach(({ body }, index) => {
      if (body.length <= copiedBytesMax && index < entries.length - 1) return
      this.#stream.write(packed(entries.slice(begin, index + 1)))
      if (body.length > copiedBytesMax) this.#stream.write(body)
      begin = index + 1
    })
    this.#stream.uncork()
  }

  #push(entry: Entry): number {
    if (this.#entries.length === 0) setImmediate(this.#flushLater)
    this.#bytes += headerBytes + entry.body.length
    return this.#first + this.#entries.push(entry) - 1
  }

  readonly #flushLater = (): void => this.flush()
}

const idsBytes = ({ ids }: Entry): number => (ids === null || ids.length === 1 ? 0 : ids.length * 4)
const copiedBytes = ({ body }: Entry): number => (body.length > copiedBytesMax ? 0 : body.length)

/** Entries as records; without the body of the last if it is large. */
function packed(entries: readonly Entry[]): Buffer {
  const bytes = entries.reduce((sum, entry) => sum + headerBytes + idsBytes(entry) + copiedBytes(entry), 0)
  const records = Buffer.allocUnsafe(bytes)
  let at = 0
  for (const entry of entries) {
    at = writeHead(records, at, entry)
    if (entry.body.length > copiedBytesMax) continue
    records.set(entry.body, at)
    at += entry.body.length
  }
  return records
}

function writeHead(records: Buffer, at: number, entry: Entry): number {
  const { kind, id, ids, body } = entry
  records.writeUInt32LE(idsBytes(entry) + body.length, at)
  if (ids === null || ids.length === 1) {
    records[at + 4] = ids === null ? kind : workerRecords.write
    records.writeUInt32LE(ids?.[0] ?? id, at + 5)
    return at + headerBytes
  }
  records[at + 4] = kind
  records.writeUInt32LE(ids.length, at + 5)
  let end = at + headerBytes
  for (const each of ids) end = records.writeUInt32LE(each, end)
  return end
}

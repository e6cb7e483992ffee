import { crc32 } from 'node:zlib'
import type { Key, LogEntry } from '../engine.ts'
import { absent, type Standing } from '../heads.ts'
import { type ByteRange, encodeKey, keptNames, keyName, rangeOf, writeNumber } from '../keys.ts'
import { baseOf } from '../marks.ts'
import { DamagedRecord } from '../named-damage.ts'
import { type Cell, Cells } from './cells.ts'
import type { Disk } from './disk.ts'
import type { Pair, Reads } from './reads.ts'
import { decodeHead, decodeUpdates } from './records.ts'
import { inSpace, spaces, under } from './spaces.ts'
import type { Store } from './store.ts'

/** Heads of documents kept in memory although nobody appends to them now: about 1 KB each. */
const idleHeadsMax = 4_000

/** Where everything of one document is stored. */
export class DocumentKeys {
  /** Updates are stored under this and the number of the first of them. */
  readonly updates: Buffer
  /** Where the checksums of updates start from. */
  readonly updatesCrc: number

  /** @param encoded as `encodeKey` makes it */
  constructor(encoded: Buffer) {
    const updates = under(spaces.updates, encoded)
    // Kept for long: a slice of the shared pool would keep 8 KB with it.
    this.updates = Buffer.allocUnsafeSlow(updates.length)
    this.updates.set(updates)
    this.updatesCrc = crc32(this.updates)
  }

  get head(): Buffer {
    return inSpace(spaces.heads, this.#encoded)
  }

  /** Everything that is stored of the document, but its head. */
  get ranges(): readonly ByteRange[] {
    return [rangeOf(this.updates), rangeOf(this.#snapshots)]
  }

  get #snapshots(): Buffer {
    return under(spaces.snapshots, this.#encoded)
  }

  get #encoded(): Buffer {
    return this.updates.subarray(spaces.updates.length, -1)
  }

  update(first: number): Buffer {
    return numberedKey(this.updates, first)
  }

  /** Of the snapshot that covers everything up to `seq`. */
  snapshot(seq: number): Buffer {
    return numberedKey(this.#snapshots, seq)
  }
}

function numberedKey(of: Buffer, number: number): Buffer {
  const key = Buffer.allocUnsafe(of.length + 8)
  key.set(of)
  writeNumber(key, number, of.length)
  return key
}

export type DocumentCell = Cell<Standing, DocumentKeys>

/** Where documents stand, appends on their way to the disk included. */
export class Documents {
  readonly #cells: Cells<Standing, DocumentKeys>

  constructor(disk: Disk) {
    this.#cells = new Cells((keys) => disk.read((store) => readStandingNow(store, keys)), idleHeadsMax)
  }

  pin(doc: Key): DocumentCell {
    return this.#cells.pin(nameOf(doc), () => keysOf(doc))
  }

  unpin(cell: DocumentCell): void {
    this.#cells.unpin(cell)
  }

  /** Runs `work` with the cell of a document, pinned as long. */
  async pinned<T>(doc: Key, work: (cell: DocumentCell) => Promise<T>): Promise<T> {
    const cell = this.pin(doc)
    try {
      return await work(cell)
    } finally {
      this.unpin(cell)
    }
  }

  set(cell: DocumentCell, standing: Standing): void {
    this.#cells.set(cell, standing)
  }

  /** Known without a read, and durable. */
  settled(doc: Key): Standing | undefined {
    return this.#cells.settled(keyName(doc))
  }

  forget(): void {
    this.#cells.forget()
  }
}

const nameOf = keptNames(keyName)

export const keysOf = (doc: Key): DocumentKeys => new DocumentKeys(encodeKey(doc))

/** As it is at one moment: a head and the last update belong together. @throws DamagedRecord */
export async function readStandingNow(store: Store, keys: DocumentKeys): Promise<Standing> {
  const moment = store.snapshot()
  try {
    return await readStanding(moment, keys)
  } finally {
    await moment.close()
  }
}

export const readStanding = async (reads: Reads, keys: DocumentKeys): Promise<Standing> =>
  (await readEnd(reads, keys, 1)).standing

/** Where a document stands, and its last updates behind the snapshot: all of them, or those of `appendsMax` appends. */
export interface LogEnd {
  readonly standing: Standing
  readonly updates: readonly LogEntry[]
}

/** Both are asked for at once: waiting for one after the other is most of what opening a document takes. */
export async function readEnd(reads: Reads, keys: DocumentKeys, appendsMax: number): Promise<LogEnd> {
  const [stored, appends] = await Promise.all([reads.get(keys.head), lastAppends(reads, keys, appendsMax)])
  const [newest, ...older] = appends
  const last = newest === undefined ? [] : decodeUpdates(...newest)
  const standing = standingOf(keys, stored, last.at(-1))
  if (standing.state !== 'live') return { standing, updates: [] }
  return { standing, updates: [...updatesAfter(baseOf(standing.marks).seq, older, last), ...last] }
}

function standingOf(keys: DocumentKeys, stored: Buffer | undefined, last: LogEntry | undefined): Standing {
  if (stored === undefined) {
    if (last !== undefined) throw new DamagedRecord('updates without a head')
    return absent
  }
  const head = decodeHead(keys.head, stored)
  if (head.state === 'deleted') return head
  const base = baseOf(head.marks).seq
  // A log is made by an append: without updates it has a snapshot.
  if (last === undefined && base === 0) throw new DamagedRecord('all updates are missing')
  return { ...head, head: Math.max(base, last?.seq ?? 0) }
}

/** What is behind `base` in the appends before `next`, the newest first. What is older is of no interest, and not read. */
function updatesAfter(
  base: number,
  appends: readonly Pair[],
  next: readonly LogEntry[],
): readonly LogEntry[] {
  const found: (readonly LogEntry[])[] = []
  let first = next[0]?.seq ?? 0
  for (const append of appends) {
    if (first <= base + 1) break
    const updates = decodeUpdates(...append)
    found.unshift(updates)
    first = updates[0]?.seq ?? 0
  }
  return found.flat()
}

/** The last appends that are still there, the newest first, as far as they come in one page. */
const lastAppends = (reads: Reads, keys: DocumentKeys, max: number): Promise<readonly Pair[]> =>
  reads.firstPage(rangeOf(keys.updates), { reverse: true, limit: max })

import type { Key, LogEntry } from '../../engine.ts'
import { cachedKeyNames, encodeKey, keyName, rangeOf } from '../../key-encoding.ts'
import { absentLog, baseSnapshot, type LogState } from '../../log-state.ts'
import { DocumentKeyspace } from '../../pairs/keyspaces.ts'
import { decodeHead, decodeUpdates } from '../../pairs/record-codec.ts'
import { DamagedRecordError } from '../../stored-record.ts'
import type { KeyValuePair, Reads } from '../store/reads.ts'
import type { ReopeningStore } from '../store/reopening-store.ts'
import type { Store } from '../store/store.ts'
import { type CacheEntry, WriteThroughCache } from '../store/write-through-cache.ts'

/**
 * Maximum number of heads that stay cached although they have no pending append. Each cached head takes about
 * 1 KB.
 */
const idleHeadsMax = 4_000

export type DocumentCacheEntry = CacheEntry<LogState, DocumentKeyspace>

/** Cache of the states of documents by `nameOfLog`, including appends that are not durable yet. */
export class DocumentHeads extends WriteThroughCache<LogState, DocumentKeyspace> {
  readonly #disk: ReopeningStore

  constructor(disk: ReopeningStore) {
    super((keys) => disk.read((store) => readLogStateNow(store, keys)), idleHeadsMax)
    this.#disk = disk
  }

  /**
   * Returns whether a document is known to have no log. Uses neither threads nor an iterator, so that clients can
   * connect to new documents at little cost. A log that has lost its head is not absent but damaged: it starts with
   * update 1, or has the record of authors that each compaction writes.
   */
  isAbsent(keys: DocumentKeyspace): boolean {
    return this.#isMissing(keys.head) && this.#isMissing(keys.update(1)) && this.#isMissing(keys.attribution)
  }

  #isMissing(key: Buffer): boolean {
    const found = this.#disk.readNow((store) => store.getNow([key])) ?? [null]
    return found[0] === undefined
  }

  pinDocument(doc: Key): DocumentCacheEntry {
    return this.pin(nameOfLog(doc), () => keysOf(doc))
  }

  /** Runs `work` with the cell of a document. Keeps the cell pinned until `work` ends. */
  async pinned<T>(doc: Key, work: (cell: DocumentCacheEntry) => Promise<T>): Promise<T> {
    const cell = this.pinDocument(doc)
    try {
      return await work(cell)
    } finally {
      this.unpin(cell)
    }
  }
}

export const nameOfLog = cachedKeyNames(keyName)

export const keysOf = (doc: Key): DocumentKeyspace => new DocumentKeyspace(encodeKey(doc))

/** Runs reads that belong together on one snapshot of the store. */
export async function atOneMoment<T>(store: Store, read: (reads: Reads) => Promise<T>): Promise<T> {
  const moment = store.snapshot()
  try {
    return await read(moment)
  } finally {
    await moment.close()
  }
}

/** Reads the state of a log: its head and its last update. @throws DamagedRecordError */
export const readLogStateNow = (store: Store, keys: DocumentKeyspace): Promise<LogState> =>
  atOneMoment(store, (reads) => readLogState(reads, keys))

export const readLogState = async (reads: Reads, keys: DocumentKeyspace): Promise<LogState> =>
  (await readLogEnd(reads, keys, 1)).standing

/**
 * State of a document, and its last updates. If the last `appendsMax` appends contain all updates after the
 * snapshot of the document, these are all updates after that snapshot; otherwise they are the updates of
 * these appends.
 */
export interface LogEnd {
  readonly standing: LogState
  readonly updates: readonly LogEntry[]
}

/**
 * Reads the end of a log. If threads read the head and the last appends, requests them in parallel. If they were
 * requested one after the other, these reads would take most of the time in which a document is opened.
 */
export async function readLogEnd(reads: Reads, keys: DocumentKeyspace, appendsMax: number): Promise<LogEnd> {
  const [head] = reads.getNow([keys.head]) ?? [reads.get(keys.head)]
  const [stored, appends] = await Promise.all([head, lastAppends(reads, keys, appendsMax)])
  if (stored === undefined && (appends.length > 0 || (await isCompacted(reads, keys))))
    throw new DamagedRecordError('the log has no head')
  const [newest, ...older] = appends
  const last = newest === undefined ? [] : decodeUpdates(...newest)
  const standing = standingOf(keys, stored, last.at(-1))
  if (standing.state !== 'live') return { standing, updates: [] }
  return { standing, updates: [...updatesAfter(baseSnapshot(standing.marks).seq, older, last), ...last] }
}

async function isCompacted(reads: Reads, { attribution }: DocumentKeyspace): Promise<boolean> {
  const [stored] = reads.getNow([attribution]) ?? [await reads.get(attribution)]
  return stored !== undefined
}

function standingOf(
  keys: DocumentKeyspace,
  stored: Buffer | undefined,
  last: LogEntry | undefined,
): LogState {
  if (stored === undefined) return absentLog
  const head = decodeHead(keys.head, stored)
  if (head.state === 'deleted') return head
  const base = baseSnapshot(head.marks).seq
  // Every log was created by an append. So a log without updates must have a snapshot.
  if (last === undefined && base === 0) throw new DamagedRecordError('all updates are missing')
  return { ...head, head: Math.max(base, last?.seq ?? 0) }
}

/**
 * Returns the updates after `base` and before the updates `next`. Stops at `base`, so that older
 * appends are not decoded.
 * @param appends the appends before `next`, newest first
 */
function updatesAfter(
  base: number,
  appends: readonly KeyValuePair[],
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

/** Returns the last stored appends, newest first: at most `max`, and at most as many as fit into one page. */
const lastAppends = (reads: Reads, keys: DocumentKeyspace, max: number): Promise<readonly KeyValuePair[]> =>
  reads.firstPage(rangeOf(keys.updates), { reverse: true, limit: max })

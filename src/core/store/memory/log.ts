import type { Clock } from '../../base/clock.ts'
import type {
  Appended,
  AppendOptions,
  AppendTo,
  DestroyOptions,
  DocumentLog,
  FenceStore,
  Key,
  LoadAtOptions,
  LoadedLog,
  LoadedVersion,
  LoadOptions,
  LogEntry,
  LogHead,
  LogUpdate,
} from '../engine.ts'
import { checkFence } from '../fences.ts'
import { checkJobs } from '../job-state.ts'
import { decodeKey, encodeKey, keyRange } from '../key-encoding.ts'
import {
  absentLog,
  baseSnapshot,
  canCompact,
  destroyedPerCallMax,
  droppedSnapshots,
  effectiveSince,
  headOf,
  type LiveLogState,
  type LogState,
  oldestSnapshot,
  rebuildStart,
  resolveAppend,
  snapshotsAfterCompaction,
} from '../log-state.ts'
import type { OpenCalls } from '../open-calls.ts'
import { SortedMap } from '../sorted-map.ts'
import { packAuthor, unpackAuthor } from '../stored-author.ts'
import type { MemoryQueue } from './queue.ts'

interface Document {
  standing: LogState
  /** Snapshots by the number of the last entry that they cover. */
  readonly snapshots: Map<number, Uint8Array>
  /** The attribution of the entries that the newest snapshot covers; null if it is unknown. */
  attribution: Uint8Array | null
  /** The entries after the oldest snapshot, up to and including `head`. */
  entries: LogEntry[]
  changed: { readonly at: number; readonly by: string }
}

const noSpace = Buffer.alloc(0)
const nothing: readonly LogEntry[] = []

export class MemoryLog implements DocumentLog {
  readonly #gate: OpenCalls
  readonly #queue: MemoryQueue
  readonly #clock: Clock
  readonly #fences: FenceStore
  readonly #documents = new SortedMap<Document>()

  constructor(gate: OpenCalls, queue: MemoryQueue, clock: Clock, fences: FenceStore) {
    this.#gate = gate
    this.#queue = queue
    this.#clock = clock
    this.#fences = fences
  }

  async append(
    doc: Key,
    to: AppendTo,
    updates: readonly LogUpdate[],
    options: AppendOptions = {},
  ): Promise<Appended> {
    this.#gate.pass()
    if (updates.length === 0) throw new RangeError('an append without updates')
    checkJobs(options.jobs ?? [])
    const key = encodeKey(doc)
    const document = this.#documents.get(key) ?? empty()
    checkFence(this.#fences, options)
    const { epoch, marks, head } = resolveAppend(document.standing, to, options)
    const { at = this.#clock.now() } = options
    for (const [index, update] of updates.entries()) {
      const author = unpackAuthor(packAuthor(update))
      document.entries.push({ seq: head + 1 + index, at, ...author, bytes: new Uint8Array(update.bytes) })
    }
    const last = head + updates.length
    document.standing = { state: 'live', epoch, marks, head: last }
    document.changed = { at, by: updates.at(-1)?.by ?? '' }
    this.#documents.set(key, document)
    this.#queue.enqueue(options.jobs ?? [])
    return { epoch, first: head + 1, last }
  }

  async load(doc: Key, options: LoadOptions = {}): Promise<LoadedLog> {
    this.#gate.pass()
    const document = this.#documents.get(encodeKey(doc)) ?? empty()
    return document.standing.state === 'live'
      ? loaded(document, document.standing, options)
      : document.standing
  }

  async loadAt(
    doc: Key,
    epoch: number,
    seq: number,
    { after, bytesMax }: LoadAtOptions = {},
  ): Promise<LoadedVersion | null> {
    this.#gate.pass()
    const document = this.#documents.get(encodeKey(doc)) ?? empty()
    const { standing, snapshots } = document
    const base = rebuildStart(standing, { epoch, seq, after })
    if (standing.state !== 'live' || base === null) return null
    const snapshot = after === undefined ? (snapshots.get(base) ?? null) : null
    return { snapshot, base, ...page(entriesAfter(document, standing, base, seq), bytesMax) }
  }

  async heads(docs: readonly Key[]): Promise<readonly (LogHead | null)[]> {
    this.#gate.pass()
    return docs.map((doc) => {
      const standing = this.#documents.get(encodeKey(doc))?.standing
      return standing === undefined ? null : headOf(standing)
    })
  }

  async list(prefix: Key, { after, limit }: { after?: Key; limit: number }): Promise<readonly Key[]> {
    this.#gate.pass()
    const keys: Key[] = []
    for (const [key, { standing }] of this.#documents.range(keyRange(noSpace, { prefix, after }))) {
      if (keys.length >= limit) break
      if (standing.state === 'live') keys.push(decodeKey(key))
    }
    return keys
  }

  async compact(
    doc: Key,
    epoch: number,
    expectBase: number,
    upTo: number,
    snapshot: Uint8Array,
    keepSince: number,
    attribution: Uint8Array | null = null,
    forget?: string,
  ): Promise<boolean> {
    this.#gate.pass()
    const document = this.#documents.get(encodeKey(doc)) ?? empty()
    const { standing, snapshots } = document
    if (!canCompact(standing, { epoch, expectBase, upTo, keepSince })) return false
    const marks = snapshotsAfterCompaction(standing.marks, { seq: upTo, at: this.#clock.now() }, keepSince)
    for (const { seq } of droppedSnapshots(standing.marks, marks)) snapshots.delete(seq)
    snapshots.set(upTo, new Uint8Array(snapshot))
    document.attribution = attribution && new Uint8Array(attribution)
    if (document.changed.by === forget && standing.head === upTo)
      document.changed = { ...document.changed, by: '' }
    document.entries = entriesAfter(document, standing, oldestSnapshot(marks).seq)
    document.standing = { ...standing, marks }
    return true
  }

  async destroy(doc: Key): Promise<void> {
    this.#gate.pass()
    this.#destroy(doc)
  }

  async destroyPrefix(prefix: Key, { after, confirm }: DestroyOptions = {}): Promise<Key | null> {
    const docs = await this.list(prefix, { ...(after && { after }), limit: destroyedPerCallMax })
    const heads = await this.heads(docs)
    await confirm?.()
    for (const [index, doc] of docs.entries()) this.#destroy(doc, heads[index]?.epoch)
    return docs.length < destroyedPerCallMax ? null : (docs.at(-1) ?? null)
  }

  storedBytes(prefixes: readonly Key[]): number {
    let sum = 0
    for (const prefix of prefixes)
      for (const [, { entries, snapshots, attribution }] of this.#documents.range(
        keyRange(noSpace, { prefix }),
      )) {
        for (const { bytes } of entries) sum += bytes.length
        for (const bytes of snapshots.values()) sum += bytes.length
        sum += attribution?.length ?? 0
      }
    return sum
  }

  /**
   * Deletes a document.
   * @param only the expected epoch: if the document has another epoch, nothing is deleted
   */
  #destroy(doc: Key, only?: number): void {
    const document = this.#documents.get(encodeKey(doc))
    if (document?.standing.state !== 'live') return
    const { epoch } = document.standing
    if (only !== undefined && only !== epoch) return
    Object.assign(document, empty(), { standing: { state: 'deleted', epoch } })
  }
}

const empty = (): Document => ({
  standing: absentLog,
  snapshots: new Map(),
  attribution: null,
  entries: [],
  changed: { at: 0, by: '' },
})

function loaded(document: Document, log: LiveLogState, options: LoadOptions): LoadedLog {
  const { epoch, head, marks } = log
  const { seq: base, at: basedAt } = baseSnapshot(marks)
  const since = effectiveSince(log, options)
  const snapshot = since === null ? (document.snapshots.get(base) ?? null) : null
  const { changed } = document
  const attribution = options.attribution === true ? { attribution: document.attribution } : {}
  const { entries, more } = page(entriesAfter(document, log, since ?? base), options.bytesMax)
  return { state: 'live', epoch, base, basedAt, head, snapshot, entries, changed, more, ...attribution }
}

/**
 * Returns the entries after the number `after`. This number must not be less than the number of the oldest
 * snapshot.
 */
function entriesAfter(
  { entries }: Document,
  { marks, head }: LiveLogState,
  after: number,
  upTo = head,
): LogEntry[] {
  const { seq: anchor } = oldestSnapshot(marks)
  return entries.slice(after - anchor, upTo - anchor)
}

function page(
  wanted: readonly LogEntry[],
  bytesMax = Number.POSITIVE_INFINITY,
): { entries: readonly LogEntry[]; more: boolean } {
  const entries = wanted.slice(0, countWithin(wanted, bytesMax))
  return { entries: entries.length === 0 ? nothing : entries, more: entries.length < wanted.length }
}

/** Returns the number of entries that fit into `bytesMax`; at least 1. */
function countWithin(entries: readonly LogEntry[], bytesMax: number): number {
  let bytes = 0
  let count = 0
  for (const entry of entries) {
    bytes += entry.bytes.length
    if (count > 0 && bytes > bytesMax) break
    count += 1
  }
  return count
}

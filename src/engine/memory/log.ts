import type { Clock } from '../../clock.ts'
import type {
  Appended,
  AppendOptions,
  AppendTo,
  DocumentLog,
  Key,
  LoadedLog,
  LoadOptions,
  LogEntry,
  LogHead,
  LogUpdate,
} from '../engine.ts'
import type { Gate } from '../gate.ts'
import {
  absent,
  admit,
  destroyedPerCallMax,
  honouredSince,
  type LiveStanding,
  mayCompact,
  type Standing,
} from '../heads.ts'
import { checkJobs } from '../jobs.ts'
import { decodeKey, encodeKey, keyRange } from '../keys.ts'
import type { MemoryQueue } from './queue.ts'
import { SortedMap } from './sorted.ts'

interface Document {
  standing: Standing
  snapshot: Uint8Array | null
  /** Numbers `base + 1` to `head`. */
  entries: LogEntry[]
  changed: { readonly at: number; readonly by: string }
}

const noSpace = Buffer.alloc(0)
const nothing: readonly LogEntry[] = []

export class MemoryLog implements DocumentLog {
  readonly #gate: Gate
  readonly #queue: MemoryQueue
  readonly #clock: Clock
  readonly #documents = new SortedMap<Document>()

  constructor(gate: Gate, queue: MemoryQueue, clock: Clock) {
    this.#gate = gate
    this.#queue = queue
    this.#clock = clock
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
    const { epoch, base, head } = admit(document.standing, to, options)
    const at = this.#clock.now()
    for (const [index, { bytes, by }] of updates.entries()) {
      document.entries.push({ seq: head + 1 + index, at, by, bytes: new Uint8Array(bytes) })
    }
    const last = head + updates.length
    document.standing = { state: 'live', epoch, base, head: last }
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

  async heads(docs: readonly Key[]): Promise<readonly (LogHead | null)[]> {
    this.#gate.pass()
    return docs.map((doc) => {
      const standing = this.#documents.get(encodeKey(doc))?.standing
      return standing?.state === 'live' ? { epoch: standing.epoch, head: standing.head } : null
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
  ): Promise<boolean> {
    this.#gate.pass()
    const document = this.#documents.get(encodeKey(doc)) ?? empty()
    const { standing, entries } = document
    if (!mayCompact(standing, { epoch, expectBase, upTo })) return false
    document.entries = entries.slice(upTo - standing.base)
    document.snapshot = new Uint8Array(snapshot)
    document.standing = { ...standing, base: upTo }
    return true
  }

  async destroy(doc: Key): Promise<void> {
    this.#gate.pass()
    this.#destroy(doc)
  }

  async destroyPrefix(prefix: Key, after?: Key): Promise<Key | null> {
    const docs = await this.list(prefix, { ...(after && { after }), limit: destroyedPerCallMax })
    for (const doc of docs) this.#destroy(doc)
    return docs.length < destroyedPerCallMax ? null : (docs.at(-1) ?? null)
  }

  #destroy(doc: Key): void {
    const document = this.#documents.get(encodeKey(doc))
    if (document?.standing.state !== 'live') return
    const { epoch } = document.standing
    Object.assign(document, empty(), { standing: { state: 'deleted', epoch } })
  }
}

const empty = (): Document => ({ standing: absent, snapshot: null, entries: [], changed: { at: 0, by: '' } })

function loaded(document: Document, log: LiveStanding, options: LoadOptions): LoadedLog {
  const since = honouredSince(log, options)
  const wanted = document.entries.slice((since ?? log.base) - log.base)
  const entries = wanted.slice(0, countWithin(wanted, options.bytesMax ?? Number.POSITIVE_INFINITY))
  return {
    ...log,
    snapshot: since === null ? document.snapshot : null,
    entries: entries.length === 0 ? nothing : entries,
    changed: document.changed,
    more: entries.length < wanted.length,
  }
}

/** How many entries stay within `bytesMax`: at least one. */
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

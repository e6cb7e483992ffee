import { setImmediate as nextTick } from 'node:timers/promises'
import { nullFor } from '../../base/errors.ts'
import {
  CorruptRecordError,
  type DocumentLog,
  type Key,
  type LoadedLog,
  type LogEntry,
  type LogHead,
} from '../../store/engine.ts'
import { type Attribution, noAttribution, withoutAuthor } from '../../update/attribution/attribution.ts'
import { AttributionBuilder } from '../../update/attribution/attribution-builder.ts'
import { decodeAttributionSteps, encodeAttributionSteps } from '../../update/attribution/attribution-codec.ts'
import { MalformedUpdateError } from '../../update/malformed.ts'
import { runSteps, type Steps } from '../../update/outline.ts'
import { partsOf, structsPerTick } from '../document/integration-limits.ts'
import type { Change } from '../updates/change.ts'
import { pageBytes } from './load-room.ts'

type LiveLog = Extract<LoadedLog, { state: 'live' }>

/** Maximum milliseconds of one slice of the work. Other work runs between two slices. */
const sliceMs = 4
/** Number of entries of one step, which takes some microseconds. */
const entriesPerStep = 32

/** Runs work in slices, and measures its time without the pauses. */
class SlicedWork {
  ms = 0

  async run<T>(steps: Steps<T>): Promise<T> {
    let start = performance.now()
    for (;;) {
      const step = steps.next()
      const spent = performance.now() - start
      if (step.done === true || spent >= sliceMs) this.ms += spent
      if (step.done === true) return step.value
      if (spent < sliceMs) continue
      await nextTick()
      start = performance.now()
    }
  }
}

/**
 * Returns the attribution of a document: the stored one, and that of the entries after it. Works in slices.
 * @throws CorruptRecordError, StoreUnavailableError
 */
export async function readAttribution(log: DocumentLog, doc: Key): Promise<Attribution> {
  const work = new SlicedWork()
  for (;;) {
    const [head = null] = await log.heads([doc])
    if (head === null) return noAttribution
    const builder = await foldLog(log, doc, head, Number.POSITIVE_INFINITY, work)
    if (builder !== null) return work.run(builder.buildSteps())
  }
}

/** The entries that a compaction covers. */
interface CompactedEntries {
  readonly epoch: number
  readonly base: number
  readonly upTo: number
  /** Id of a user whose changes get an unknown author. */
  readonly forget?: string | undefined
  /** Returns the attribution to store. */
  readonly rewrite?: ((attribution: Attribution) => Attribution) | undefined
  /** Authors of the last of these entries, which are then not read; null or absent if they are not known. */
  readonly tail?: KnownAuthors | null
}

/** Runs work in slices. */
export const runInSlices = <T>(steps: Steps<T>): Promise<T> => new SlicedWork().run(steps)

/** The attribution for a compaction, and the milliseconds of the event loop that its computation took. */
interface CompactedAttribution {
  readonly bytes: Uint8Array | null
  readonly ms: number
}

/**
 * Computes the attribution that a compaction stores: that of the entries up to and including `upTo`, in its
 * stored form. Its bytes are null if the log has another epoch or base by now, or if entries cannot be read:
 * the attribution then starts again. Works in slices.
 * @throws StoreUnavailableError
 */
export async function compactedAttribution(
  log: DocumentLog,
  doc: Key,
  { epoch, base, upTo, forget, rewrite = (all) => all, tail = null }: CompactedEntries,
): Promise<CompactedAttribution> {
  const work = new SlicedWork()
  const withoutForgotten = (all: Attribution): Attribution =>
    rewrite(forget === undefined ? all : withoutAuthor(all, forget))
  const bytes = await encodedAttribution(work, withoutForgotten, async () => {
    const [head = null] = await log.heads([doc])
    if (head?.epoch !== epoch || head.base !== base) return null
    const isUsable = tail !== null && tail.after >= base && tail.after + tail.entries === upTo
    const known = isUsable ? await foldLog(log, doc, head, upTo, work, tail) : null
    return known ?? foldLog(log, doc, head, upTo, work)
  })
  return { bytes, ms: work.ms }
}

async function encodedAttribution(
  work: SlicedWork,
  rewrite: (attribution: Attribution) => Attribution,
  fold: () => Promise<AttributionBuilder | null>,
): Promise<Uint8Array | null> {
  try {
    const builder = await fold()
    if (builder === null) return null
    const all = await work.run(builder.buildSteps())
    return await work.run(encodeAttributionSteps(rewrite(all)))
  } catch (error) {
    if (error instanceof CorruptRecordError || error instanceof MalformedUpdateError) return null
    throw error
  }
}

/**
 * Adds the entries up to `upTo` to the stored attribution. Returns null if the log is compacted, deleted or
 * created again meanwhile.
 * @param tail authors of the last of these entries, which are then not read; with them, returns null also if there is
 * no stored attribution of the snapshot
 */
async function foldLog(
  log: DocumentLog,
  doc: Key,
  head: LogHead,
  upTo: number,
  work: SlicedWork,
  tail: KnownAuthors | null = null,
): Promise<AttributionBuilder | null> {
  const { epoch, base } = head
  const readTo = tail?.after ?? upTo
  const since = tail !== null && readTo === base ? upTo : base
  const first = await log.load(doc, { since, epoch, attribution: true, bytesMax: pageBytes })
  if (!continues(first, head)) return null
  const stored = await decoded(first.attribution ?? null, work)
  if (stored === null && base > 0)
    return tail === null ? foldUnattributed(log, doc, { head, upTo, work }, first) : null
  const builder = await work.run(AttributionBuilder.after(stored ?? noAttribution))
  if (readTo > base && !(await addPages(log, doc, { head, upTo: readTo, builder, work }, first))) return null
  if (tail !== null) await work.run(builder.addLater(await work.run(tail.builder.buildSteps())))
  return builder
}

/** Decodes the stored attribution. Returns null if there is none, or if it cannot be decoded. */
async function decoded(bytes: Uint8Array | null, work: SlicedWork): Promise<Attribution | null> {
  return bytes && work.run(decodeAttributionSteps(bytes)).catch(nullFor(MalformedUpdateError))
}

interface Fold {
  readonly head: LogHead
  readonly upTo: number
  readonly builder: AttributionBuilder
  readonly work: SlicedWork
}

/**
 * Folds a log with a snapshot and without a stored attribution. It starts with the oldest version that can be
 * rebuilt, whose changes have unknown authors.
 */
async function foldUnattributed(
  log: DocumentLog,
  doc: Key,
  { head, upTo, work }: Omit<Fold, 'builder'>,
  first: LiveLog,
): Promise<AttributionBuilder | null> {
  const { epoch, base, oldest } = head
  if (oldest < base) {
    try {
      const builder = new AttributionBuilder()
      const start = await log.loadAt(doc, epoch, oldest)
      if (start === null) return null
      if (start.snapshot !== null) await work.run(builder.addUnknown(start.snapshot))
      const page = await log.load(doc, { since: oldest, epoch, bytesMax: pageBytes })
      if (!continues(page, head)) return null
      return (await addPages(log, doc, { head, upTo, builder, work }, page)) ? builder : null
    } catch (error) {
      // The older version is damaged. Only the changes after the newest snapshot get authors.
      if (!(error instanceof CorruptRecordError)) throw error
    }
  }
  const builder = new AttributionBuilder()
  const start = await log.loadAt(doc, epoch, base)
  if (start === null) return null
  await work.run(builder.addUnknown(start.snapshot ?? emptyState))
  return (await addPages(log, doc, { head, upTo, builder, work }, first)) ? builder : null
}

/** A state (V1) without ids. */
const emptyState = Uint8Array.of(0, 0)

/** Adds the entries of a page and of the pages after it. Returns false if the log has changed meanwhile. */
async function addPages(
  log: DocumentLog,
  doc: Key,
  { head, upTo, builder, work }: Fold,
  first: LiveLog,
): Promise<boolean> {
  let page = first
  for (;;) {
    await work.run(addEntries(builder, page.entries, upTo))
    const last = page.entries.at(-1)
    if (!page.more || last === undefined || last.seq >= upTo) return true
    const next = await log.load(doc, { since: last.seq, epoch: head.epoch, bytesMax: pageBytes })
    if (!continues(next, head)) return false
    page = next
  }
}

/** Returns whether a page belongs to the log that had this head, and the log still has all its entries. */
const continues = (page: LoadedLog, { epoch, base }: LogHead): page is LiveLog =>
  page.state === 'live' && page.epoch === epoch && page.base === base && page.snapshot === null

function* addEntries(builder: AttributionBuilder, entries: readonly LogEntry[], upTo: number): Steps<void> {
  for (const [index, entry] of entries.entries()) {
    if (entry.seq > upTo) return
    yield* builder.addSteps(entry)
    if (index % entriesPerStep === 0) yield
  }
}

/** Maximum number of updates whose authors are kept in memory. They take at most some megabytes. */
const updatesMax = 50_000

/**
 * Maximum bytes of an update whose authors are collected in the tick of its commit. The compaction reads a larger one
 * in slices, and one of more than `structsPerTick` parts: until the code is compiled, a part takes up to 2 µs.
 */
const updateBytesMax = 65_536

const isTooLarge = ({ bytes, summary, attribution }: Omit<Change, 'from'>): boolean =>
  attribution === undefined && (bytes.length > updateBytesMax || partsOf(summary) > structsPerTick)

/** The authors of the entries of a log after the number `after`. */
export interface KnownAuthors {
  readonly after: number
  readonly entries: number
  readonly builder: AttributionBuilder
}

/**
 * Collects the authors of the updates that a room appends, so that a compaction does not have to read these
 * entries again.
 */
export class TailAuthors {
  #after: number
  #entries = 0
  #builder: AttributionBuilder | null = null
  /** False if the entries after `#after` are no longer known. */
  #isKnown = true

  /** @param after number of the last entry of the log */
  constructor(after: number) {
    this.#after = after
  }

  add(updates: readonly Omit<Change, 'from'>[], at: number): void {
    this.#entries += updates.length
    if (!this.#isKnown) return
    if (this.#entries > updatesMax || updates.some(isTooLarge)) return this.lose()
    this.#builder ??= new AttributionBuilder()
    for (const { bytes, by, source = 'socket', meta = null, attribution } of updates)
      if (attribution === undefined) this.#builder.add({ bytes, by, at, source, meta })
      else runSteps(this.#builder.addLater(attribution))
  }

  /** Returns the authors so far, and starts to collect those of later updates. Null if they are not known. */
  take(): KnownAuthors | null {
    const known = this.#isKnown
      ? { after: this.#after, entries: this.#entries, builder: this.#builder ?? new AttributionBuilder() }
      : null
    this.#entries = 0
    this.#builder = null
    this.#isKnown = true
    return known
  }

  /** Notes the end of a compaction. The collected updates are those after `after`. */
  compacted(after: number): void {
    this.#after = after
  }

  /** Discards the authors. The next compaction must read them from the log. */
  lose(): void {
    this.#isKnown = false
    this.#builder = null
  }
}

import { nullFor } from '../../../base/errors.ts'
import type { LoadAtOptions, LoadedLog, LoadedVersion, LoadOptions, LogEntry } from '../../engine.ts'
import {
  baseSnapshot,
  effectiveSince,
  type LiveLogState,
  type LogState,
  rebuildStart,
  type VersionRequest,
} from '../../log-state.ts'
import type { DocumentKeyspace } from '../../pairs/keyspaces.ts'
import { decodeSnapshot, decodeUpdates, type StoredSnapshot } from '../../pairs/record-codec.ts'
import { DamagedRecordError } from '../../stored-record.ts'
import type { Reads } from '../store/reads.ts'
import type { Store } from '../store/store.ts'
import { atOneMoment, type LogEnd, readLogEnd, readLogState } from './document-heads.ts'

/**
 * Maximum number of appends at the end of a log that are read together with the head. If the log has fewer
 * appends after its snapshot, this single read returns all of them.
 */
const appendsAtOnce = 32

/**
 * Reads a log as it is at one moment.
 * @param found called with the state of the log as soon as it is known, before the snapshot and more entries
 * are read
 * @throws DamagedRecordError
 */
export const readLevelLog = (
  store: Store,
  keys: DocumentKeyspace,
  options: LoadOptions,
  found: (standing: LogState) => void = () => undefined,
): Promise<LoadedLog> => atOneMoment(store, (reads) => readNow(reads, keys, options, found))

/**
 * Reads the parts from which a version can be rebuilt, as of one moment. Returns null if the version cannot
 * be rebuilt.
 * @throws DamagedRecordError
 */
export const readLevelVersion = (
  store: Store,
  keys: DocumentKeyspace,
  wanted: VersionRequest & LoadAtOptions,
): Promise<LoadedVersion | null> => atOneMoment(store, (reads) => readThen(reads, keys, wanted))

async function readNow(
  reads: Reads,
  keys: DocumentKeyspace,
  options: LoadOptions,
  found: (standing: LogState) => void,
): Promise<LoadedLog> {
  const end = await readLogEnd(reads, keys, appendsAtOnce)
  const { standing } = end
  found(standing)
  if (standing.state !== 'live') return standing
  const { epoch, head, marks } = standing
  const base = baseSnapshot(marks)
  const since = effectiveSince(standing, options)
  const isSnapshotNeeded = since === null || head === base.seq
  const snapshot = isSnapshotNeeded ? await readSnapshot(reads, keys, base.seq) : null
  const wanted = { after: since ?? base.seq, upTo: head, bytesMax: options.bytesMax }
  const page = pageIn(end, wanted) ?? (await readPage(reads, keys, wanted))
  const readUsable = () => readAttributionRecord(reads, keys, base.seq).catch(nullFor(DamagedRecordError))
  const attribution = options.attribution === true ? { attribution: await readUsable() } : {}
  return {
    state: 'live',
    epoch,
    base: base.seq,
    basedAt: base.at,
    head,
    snapshot: since === null ? (snapshot?.bytes ?? null) : null,
    ...page,
    ...attribution,
    changed: changedIn(end, standing, snapshot),
  }
}

async function readThen(
  reads: Reads,
  keys: DocumentKeyspace,
  wanted: VersionRequest & LoadAtOptions,
): Promise<LoadedVersion | null> {
  const base = rebuildStart(await readLogState(reads, keys), wanted)
  if (base === null) return null
  const snapshot = wanted.after === undefined ? await readSnapshot(reads, keys, base) : null
  const { seq: upTo, bytesMax } = wanted
  const page = await readPage(reads, keys, { after: base, upTo, bytesMax })
  return { snapshot: snapshot?.bytes ?? null, base, ...page }
}

/**
 * Returns the requested entries if `updates` contains all of them and they fit into `bytesMax`. Otherwise
 * returns null, and the caller must read the entries.
 */
function pageIn({ updates }: LogEnd, { after, upTo, bytesMax = Number.POSITIVE_INFINITY }: EntryRange) {
  const entries = updates.filter(({ seq }) => seq > after)
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes.length, 0)
  const isWhole =
    entries.length === upTo - after && entries.every(({ seq }, index) => seq === after + 1 + index)
  return isWhole && bytes <= bytesMax ? { entries, more: false } : null
}

async function readPage(
  reads: Reads,
  keys: DocumentKeyspace,
  wanted: EntryRange,
): Promise<{ entries: readonly LogEntry[]; more: boolean }> {
  const entries = await readLevelEntries(reads, keys, wanted)
  return { entries, more: (entries.at(-1)?.seq ?? wanted.after) < wanted.upTo }
}

/**
 * Reads the snapshot that covers everything up to `seq`. Returns null if `seq` is 0.
 * @throws DamagedRecordError if the snapshot is missing or covers another number
 */
async function readSnapshot(
  reads: Reads,
  keys: DocumentKeyspace,
  seq: number,
): Promise<StoredSnapshot | null> {
  if (seq === 0) return null
  const key = keys.snapshot(seq)
  const stored = await reads.get(key)
  if (stored === undefined) throw new DamagedRecordError(`the snapshot at ${seq} is missing`)
  const snapshot = decodeSnapshot(key, stored)
  if (snapshot.seq !== seq)
    throw new DamagedRecordError(`the snapshot covers ${snapshot.seq} instead of ${seq}`)
  return snapshot
}

function changedIn(
  { updates }: LogEnd,
  standing: LiveLogState,
  snapshot: StoredSnapshot | null,
): { at: number; by: string } {
  if (standing.head === baseSnapshot(standing.marks).seq && snapshot !== null) return snapshot.changed
  const last = updates.at(-1)
  if (last === undefined) throw new DamagedRecordError('the last update is missing')
  return { at: last.at, by: last.by }
}

interface EntryRange {
  readonly after: number
  readonly upTo: number
  readonly bytesMax: number | undefined
}

/**
 * Reads the updates after the number `after`. Ends with the update `upTo`, or earlier when the updates exceed
 * `bytesMax`. The update `upTo` must exist.
 * @throws DamagedRecordError, also if an update is missing
 */
async function readLevelEntries(
  reads: Reads,
  keys: DocumentKeyspace,
  { after, upTo, bytesMax = Number.POSITIVE_INFINITY }: EntryRange,
): Promise<LogEntry[]> {
  const entries: LogEntry[] = []
  let bytes = 0
  let expected = after + 1
  const range = { gte: await recordOf(reads, keys, after + 1), lt: keys.update(upTo + 1) }
  for await (const page of reads.pages(range)) {
    for (const [key, value] of page) {
      for (const entry of decodeUpdates(key, value)) {
        if (entry.seq < expected) continue
        if (entry.seq > upTo) return entries
        if (entry.seq > expected) throw new DamagedRecordError(`update ${expected} is missing`)
        bytes += entry.bytes.length
        if (entries.length > 0 && bytes > bytesMax) return entries
        entries.push(entry)
        expected += 1
      }
    }
  }
  if (expected <= upTo) throw new DamagedRecordError(`update ${expected} is missing`)
  return entries
}

/**
 * Returns the key of the append that contains the update `seq`, which must exist. This append is the last one
 * that starts at or before `seq`.
 */
export async function recordOf(reads: Reads, keys: DocumentKeyspace, seq: number): Promise<Buffer> {
  const upTo = { gte: keys.update(0), lt: keys.update(seq + 1) }
  for await (const [pair] of reads.pages(upTo, { reverse: true, limit: 1, values: false })) {
    if (pair !== undefined) return pair[0]
  }
  return upTo.gte
}

/**
 * Reads the attribution of the entries up to `base`. Returns null if there is none, or if it belongs to
 * another snapshot.
 * @throws DamagedRecordError
 */
export async function readAttributionRecord(
  reads: Reads,
  keys: DocumentKeyspace,
  base: number,
): Promise<Uint8Array | null> {
  const stored = base === 0 ? undefined : await reads.get(keys.attribution)
  if (stored === undefined) return null
  const { seq, bytes } = decodeSnapshot(keys.attribution, stored)
  return seq === base && bytes.length > 0 ? bytes : null
}

import type { LoadedLog, LoadOptions, LogEntry } from '../engine.ts'
import { honouredSince, type LiveStanding } from '../heads.ts'
import { type DocumentKeys, lastUpdates, readStanding } from './documents.ts'
import { DamagedRecord, decodeSnapshot, decodeUpdates, type StoredSnapshot } from './records.ts'
import type { Reads, Store } from './store.ts'

/** Reads a log as it is at one moment. @throws DamagedRecord */
export async function readLog(store: Store, keys: DocumentKeys, options: LoadOptions): Promise<LoadedLog> {
  const moment = store.snapshot()
  try {
    return await readAt(moment, keys, options)
  } finally {
    await moment.close()
  }
}

async function readAt(reads: Reads, keys: DocumentKeys, options: LoadOptions): Promise<LoadedLog> {
  const standing = await readStanding(reads, keys)
  if (standing.state !== 'live') return standing
  const since = honouredSince(standing, options)
  const isSnapshotNeeded = since === null || standing.head === standing.base
  const snapshot = isSnapshotNeeded ? await readSnapshot(reads, keys, standing.base) : null
  const from = since ?? standing.base
  const entries = await readEntries(reads, keys, { after: from, bytesMax: options.bytesMax })
  const last = entries.at(-1)
  const more = (last?.seq ?? from) < standing.head
  if (more && last === undefined) throw new DamagedRecord(`update ${from + 1} is missing`)
  return {
    ...standing,
    snapshot: since === null ? (snapshot?.bytes ?? null) : null,
    entries,
    changed: await readChanged(reads, keys, { standing, snapshot, last: more ? undefined : last }),
    more,
  }
}

/** @throws DamagedRecord when there is none although `base` says so, or it covers something else */
async function readSnapshot(reads: Reads, keys: DocumentKeys, base: number): Promise<StoredSnapshot | null> {
  if (base === 0) return null
  const stored = await reads.get(keys.snapshot)
  if (stored === undefined) throw new DamagedRecord('the snapshot is missing')
  const snapshot = decodeSnapshot(keys.snapshot, stored)
  if (snapshot.seq !== base) throw new DamagedRecord(`the snapshot covers ${snapshot.seq} instead of ${base}`)
  return snapshot
}

/** Updates after a number, without gaps, until they are more than `bytesMax`. */
async function readEntries(
  reads: Reads,
  keys: DocumentKeys,
  { after, bytesMax = Number.POSITIVE_INFINITY }: { after: number; bytesMax: number | undefined },
): Promise<LogEntry[]> {
  const entries: LogEntry[] = []
  let bytes = 0
  let expected = after + 1
  for await (const page of reads.pages(await rangeAfter(reads, keys, after))) {
    for (const [key, value] of page) {
      for (const entry of decodeUpdates(key, value)) {
        if (entry.seq < expected) continue
        if (entry.seq > expected) throw new DamagedRecord(`update ${expected} is missing`)
        bytes += entry.bytes.length
        if (entries.length > 0 && bytes > bytesMax) return entries
        entries.push(entry)
        expected += 1
      }
    }
  }
  return entries
}

/** From the append that `after + 1` was part of: it is the last one that starts at or before it. */
async function rangeAfter(reads: Reads, keys: DocumentKeys, after: number) {
  const lt = keys.update(Number.MAX_SAFE_INTEGER)
  const upTo = { gte: keys.update(0), lt: keys.update(after + 2) }
  for await (const [pair] of reads.pages(upTo, { reverse: true, limit: 1, values: false })) {
    if (pair !== undefined) return { gte: pair[0], lt }
  }
  return { gte: upTo.gte, lt }
}

async function readChanged(
  reads: Reads,
  keys: DocumentKeys,
  found: { standing: LiveStanding; snapshot: StoredSnapshot | null; last: LogEntry | undefined },
): Promise<{ at: number; by: string }> {
  const { standing, snapshot } = found
  if (standing.head === standing.base && snapshot !== null) return snapshot.changed
  const last = found.last ?? (await lastUpdates(reads, keys))?.at(-1)
  if (last === undefined) throw new DamagedRecord('the last update is missing')
  return { at: last.at, by: last.by }
}

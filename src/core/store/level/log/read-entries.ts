import { DamagedRecordError } from '../../damaged-record.ts'
import type { LogEntry } from '../../engine.ts'
import type { DocumentKeyspace } from '../../pairs/document-keyspace.ts'
import { decodeUpdates } from '../../pairs/record-codec.ts'
import type { Reads } from '../store/reads.ts'

export interface EntryRange {
  readonly after: number
  readonly upTo: number
  readonly bytesMax: number | undefined
}

/**
 * Reads the updates after the number `after`. Ends with the update `upTo`, or earlier when the updates exceed
 * `bytesMax`. The update `upTo` must exist.
 * @throws DamagedRecordError, also if an update is missing
 */
export async function readLevelEntries(
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

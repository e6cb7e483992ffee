import { DamagedRecordError } from '../../damaged-record.ts'
import type { DocumentKeyspace } from '../../pairs/document-keyspace.ts'
import { decodeSnapshot } from '../../pairs/record-codec.ts'
import type { Reads } from '../store/reads.ts'

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
  return seq === base ? bytes : null
}

/** Like `readAttributionRecord`, but returns null if the attribution is damaged. */
export async function readUsableAttribution(
  reads: Reads,
  keys: DocumentKeyspace,
  base: number,
): Promise<Uint8Array | null> {
  try {
    return await readAttributionRecord(reads, keys, base)
  } catch (error) {
    if (error instanceof DamagedRecordError) return null
    throw error
  }
}

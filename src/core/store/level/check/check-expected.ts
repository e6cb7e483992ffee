import { errorMessage } from '../../../base/errors.ts'
import type { CheckOptions, Damage, ExpectedEntry, PendingRemoval } from '../../damage.ts'
import type { Key } from '../../engine.ts'
import { decodeKeyPair, encodeKey } from '../../key-encoding.ts'
import { inKeyspace, keyspaces, under } from '../../pairs/keyspaces.ts'
import { checkChecksum } from '../../pairs/record-codec.ts'
import type { Reads } from '../store/reads.ts'

/**
 * Checks the entries that must exist because of an undamaged value. Returns one `Damage` for each entry that
 * is missing, or a single `Damage` if the value is malformed. Returns none while the partition is being
 * removed.
 */
export async function checkExpected(
  reads: Reads,
  key: Buffer,
  value: Buffer,
  { expected: expectedOf, removed }: Pick<CheckOptions, 'expected' | 'removed'>,
): Promise<readonly Damage[]> {
  if (key[0] !== keyspaces.kv[0]) return []
  const [part, name] = decodeKeyPair(key.subarray(1))
  const what = `value ${JSON.stringify([...part, ...name])}`
  const damages: Damage[] = []
  let all: readonly ExpectedEntry[]
  try {
    all = expectedOf(part, name, checkChecksum(key, value))
  } catch (error) {
    return [{ kind: 'record', what, problem: errorMessage(error) }]
  }
  for (const expected of all) {
    // An entry that cannot be read counts as found here. The check reports it when it reaches that entry.
    const found = await reads.get(storedAt(part, expected)).catch(() => Buffer.alloc(0))
    if (found !== undefined) continue
    damages.push({
      kind: 'index',
      what,
      problem: `its index entry ${JSON.stringify(expected.key)} is missing`,
    })
  }
  return damages.length > 0 && (await isBeingRemoved(reads, part, removed(part))) ? [] : damages
}

async function isBeingRemoved(reads: Reads, part: Key, removed: PendingRemoval | null): Promise<boolean> {
  if (removed === null) return false
  const key = storedAt(part, { in: 'partition', key: removed.key })
  try {
    const value = await reads.get(key)
    return value !== undefined && removed.isBeing(checkChecksum(key, value))
  } catch {
    // The check reports the damaged record when it reaches that record.
    return false
  }
}

const storedAt = (part: Key, { in: place, key }: ExpectedEntry): Buffer =>
  place === 'blobs'
    ? inKeyspace(keyspaces.blobs, encodeKey(key))
    : Buffer.concat([under(keyspaces.kv, encodeKey(part)), encodeKey(key)])

import { errorMessage } from '../../../base/errors.ts'
import type { CheckOptions, Damage, ExpectedEntry, PendingRemoval } from '../../damage.ts'
import type { Key } from '../../engine.ts'
import { decodeKey, decodeKeyPair, encodeKey } from '../../key-encoding.ts'
import { decodeJob, dueKey, dueSpace, readDueKey } from '../../pairs/job-records.ts'
import { inKeyspace, keyspaces, under } from '../../pairs/keyspaces.ts'
import { checkChecksum, decodeHead } from '../../pairs/record-codec.ts'
import type { Reads } from '../store/reads.ts'

type Decode = (key: Buffer, value: Buffer) => unknown

interface RecordKind {
  readonly kind: Damage['kind']
  readonly name: string
  readonly decode: Decode
}

const nothing: Decode = () => undefined

/**
 * Kinds of records by the first byte of the key. Updates and snapshots are not in this map, because they are
 * checked together with their document.
 */
const recordKinds = new Map<number, RecordKind>([
  [letter(keyspaces.heads), { kind: 'document', name: 'head', decode: decodeHead }],
  [letter(keyspaces.kv), { kind: 'record', name: 'value', decode: checkChecksum }],
  [letter(keyspaces.blobs), { kind: 'record', name: 'blob', decode: checkChecksum }],
  [letter(keyspaces.jobs), { kind: 'job', name: 'job', decode: decodeJob }],
  [letter(keyspaces.deadLetters), { kind: 'job', name: 'job put aside', decode: decodeJob }],
  [letter(keyspaces.due), { kind: 'job', name: 'time of a job', decode: readDueKey }],
  [letter(keyspaces.meta), { kind: 'record', name: 'note of the store', decode: nothing }],
])

/**
 * Checks that a record is the one that was written under this key. Returns null if the record is undamaged,
 * or if it is a head: the damage of a head is reported with its document.
 */
export function checkRecord(key: Buffer, value: Buffer): Damage | null {
  const found = recordKinds.get(key[0] ?? -1)
  if (found === undefined)
    return {
      kind: 'record',
      what: name('key', key),
      problem: 'its key does not belong to a known kind of record',
    }
  if (found.kind === 'document') return null
  try {
    found.decode(key, value)
    return null
  } catch (error) {
    return { kind: found.kind, what: name(found.name, key), problem: errorMessage(error) }
  }
}

/**
 * Checks that the index of due times has an entry for a waiting job, because otherwise the job would never
 * run. For an entry of the index, checks that its job exists.
 */
export async function checkDueIndex(reads: Reads, key: Buffer, value: Buffer): Promise<Damage | null> {
  if (key[0] === letter(keyspaces.due)) return checkJob(reads, key)
  if (key[0] !== letter(keyspaces.jobs)) return null
  const [queue = '', id = ''] = decodeKey(key.subarray(1))
  const { at } = decodeJob(key, value)
  if ((await reads.get(dueKey(dueSpace(queue), at, id)).catch(() => undefined)) !== undefined) return null
  return {
    kind: 'job',
    what: name('job', key),
    problem: 'it has no entry in the index of due times, so it never runs',
  }
}

async function checkJob(reads: Reads, key: Buffer): Promise<Damage | null> {
  const { queue, id } = readDueKey(key)
  const job = inKeyspace(keyspaces.jobs, encodeKey([queue, id]))
  // A job that cannot be read counts as existing. The check reports the job when it reaches the record of the
  // job.
  if ((await reads.get(job).catch(() => key)) !== undefined) return null
  return {
    kind: 'job',
    what: name('job', job),
    problem: 'the index of due times has an entry for it, but the job is missing',
  }
}

function letter(space: Buffer): number {
  return space.readUInt8(0)
}

/**
 * Describes a record for a message. The keys of all kinds of records are text with a few other bytes in
 * between; spaces replace these bytes.
 */
const name = (kind: string, key: Buffer): string =>
  `${kind} ${JSON.stringify(
    key
      .toString('utf8', 1)
      .replaceAll(/[\u0000-\u001f\ufffd]+/g, ' ')
      .trim(),
  )}`

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

import { errorMessage } from '../../../base/errors.ts'
import type { Damage } from '../../damage.ts'
import { decodeKey, encodeKey } from '../../key-encoding.ts'
import { dueKey, readDueKey } from '../../pairs/due-keys.ts'
import { decodeJob } from '../../pairs/job-records.ts'
import { inKeyspace, keyspaces } from '../../pairs/keyspaces.ts'
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
  if ((await reads.get(dueKey(queue, at, id)).catch(() => undefined)) !== undefined) return null
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

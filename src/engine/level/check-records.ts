import { messageOf } from '../../errors.ts'
import type { Damage } from '../damage.ts'
import { decodeKey, encodeKey } from '../keys.ts'
import { decodeJob } from './job-records.ts'
import { dueKey, readDueKey } from './job-table.ts'
import type { Reads } from './reads.ts'
import { decodeHead, unseal } from './records.ts'
import { inSpace, spaces } from './spaces.ts'

type Decode = (key: Buffer, value: Buffer) => unknown

interface RecordKind {
  readonly kind: Damage['kind']
  readonly name: string
  readonly decode: Decode
}

const nothing: Decode = () => undefined

/** By the first byte of their keys. Updates and snapshots are read with their document. */
const recordKinds = new Map<number, RecordKind>([
  [letter(spaces.heads), { kind: 'document', name: 'head', decode: decodeHead }],
  [letter(spaces.kv), { kind: 'record', name: 'value', decode: unseal }],
  [letter(spaces.blobs), { kind: 'record', name: 'blob', decode: unseal }],
  [letter(spaces.jobs), { kind: 'job', name: 'job', decode: decodeJob }],
  [letter(spaces.buried), { kind: 'job', name: 'job put aside', decode: decodeJob }],
  [letter(spaces.due), { kind: 'job', name: 'time of a job', decode: readDueKey }],
  [letter(spaces.meta), { kind: 'record', name: 'note of the store', decode: nothing }],
])

/** Null when the record is what was written under this key. Heads are told with their document. */
export function checkRecord(key: Buffer, value: Buffer): Damage | null {
  const found = recordKinds.get(key[0] ?? -1)
  if (found === undefined)
    return { kind: 'record', what: name('key', key), problem: 'its key is none of ours' }
  if (found.kind === 'document') return null
  try {
    found.decode(key, value)
    return null
  } catch (error) {
    return { kind: found.kind, what: name(found.name, key), problem: messageOf(error) }
  }
}

/** A waiting job must be in the index of times, or it would never be done; and what is there must be one. */
export async function checkDue(reads: Reads, key: Buffer, value: Buffer): Promise<Damage | null> {
  if (key[0] === letter(spaces.due)) return checkJob(reads, key)
  if (key[0] !== letter(spaces.jobs)) return null
  const [queue = '', id = ''] = decodeKey(key.subarray(1))
  const { at } = decodeJob(key, value)
  if ((await reads.get(dueKey(queue, at, id)).catch(() => undefined)) !== undefined) return null
  return { kind: 'job', what: name('job', key), problem: 'it is not in the index of times: it is never done' }
}

async function checkJob(reads: Reads, key: Buffer): Promise<Damage | null> {
  const { queue, id } = readDueKey(key)
  const job = inSpace(spaces.jobs, encodeKey([queue, id]))
  // One that cannot be read is told by itself.
  if ((await reads.get(job).catch(() => key)) !== undefined) return null
  return { kind: 'job', what: name('job', job), problem: 'it is in the index of times only' }
}

function letter(space: Buffer): number {
  return space[0] as number
}

/** Keys of all kinds are text with a few bytes in between. */
const name = (kind: string, key: Buffer): string =>
  `${kind} ${JSON.stringify(
    key
      .toString('utf8', 1)
      .replaceAll(/[\u0000-\u001f\ufffd]+/g, ' ')
      .trim(),
  )}`

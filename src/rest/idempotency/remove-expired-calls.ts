import { type Transaction, TransactionRunner } from '../../core/directory/store/transaction.ts'
import type { Key, Kv, KvEntry } from '../../core/store/engine.ts'
import { lastSegment } from '../../core/store/key-encoding.ts'
import { readRecord } from '../../core/store/stored-record.ts'
import { callExpiryType, callKeys, callSweepJob, expiryOf, expiryRecordType } from './call-records.ts'

/**
 * Maximum number of calls in one commit, and of commits in one run. After a run, the calls of other callers
 * are removed.
 */
const callsAtOnce = 200
const slicesMax = 20

/** Numbers of removed calls and bytes. */
interface Swept {
  readonly calls: number
  readonly bytes: number
}

type Slice = Swept & {
  /** Expiry of the next call that remains; null if none remains. */
  readonly next: number | null
}

/** Removes expired calls of one caller. Calls that expire later belong to another job. */
export async function removeExpiredCalls(kv: Kv, part: Key, now: number): Promise<Swept> {
  const transactions = new TransactionRunner(kv)
  const swept = { calls: 0, bytes: 0 }
  let next: number | null = now
  for (let slices = 0; slices < slicesMax && next !== null && next <= now; slices++) {
    const { result } = await transactions.run(part, (transaction) => sweepSlice(transaction, now))
    swept.calls += result.calls
    swept.bytes += result.bytes
    next = result.next
  }
  if (next !== null) await kv.commit(part, { jobs: [callSweepJob(part, next)] })
  return swept
}

async function sweepSlice(transaction: Transaction, now: number): Promise<Slice> {
  const entries = await transaction.scan({ prefix: callKeys.ends, limit: callsAtOnce + 1 })
  const due = entries.slice(0, callsAtOnce).filter(({ key }) => expiryOf(key) <= now)
  const records = await transaction.getAll(
    due.map(({ key }) => callKeys.call(idOf(key))),
    callExpiryType,
  )
  for (const [at, { key }] of due.entries()) {
    transaction.delete(key)
    // If the key was used again, its record has a later expiry and stays.
    if (records[at]?.endsAt === expiryOf(key)) transaction.delete(callKeys.call(idOf(key)))
  }
  const after = entries[due.length]
  return {
    calls: due.length,
    bytes: due.reduce((sum, entry) => sum + bytesOfEntry(entry), 0),
    next: after === undefined ? null : expiryOf(after.key),
  }
}

const idOf = (key: Key): string => lastSegment(key)
const bytesOfEntry = (entry: KvEntry): number => readRecord(expiryRecordType, entry).bytes

import { createHash } from 'node:crypto'
import * as s from '../../core/base/schema.ts'
import { type Transaction, TransactionRunner } from '../../core/directory/store/transaction.ts'
import type { Job, Key, Kv, KvCommit, KvEntry } from '../../core/store/engine.ts'
import { lastSegment } from '../../core/store/key-encoding.ts'
import { encodeRecord, type RecordType, readRecord } from '../../core/store/stored-record.ts'
import { derivedKey, sealText, unsealText } from '../sealed-text.ts'
import type { IdempotentCall } from './idempotent-call.ts'

/**
 * Encrypts stored responses. The encryption key is derived from a secret of the server and the
 * `idempotency-key`, which is not stored. So only a caller that repeats the call can read the tokens and the
 * user content in the response.
 */
export class ResponseEncryption {
  readonly #secrets: readonly string[]

  /**
   * Creates the encryption.
   * @param secrets the secrets of the server; the first secret encrypts, and all secrets are tried for
   * decryption
   */
  constructor(secrets: readonly string[]) {
    this.#secrets = secrets
  }

  seal(call: IdempotentCall, text: string): string {
    return sealText(keyFor(this.#secrets[0] ?? '', call), Buffer.from(call.id), text).toString('base64')
  }

  /**
   * Decrypts a response. Returns null if no secret can decrypt it, because the secret that encrypted it was
   * removed.
   */
  open(call: IdempotentCall, sealed: string): string | null {
    const keys = this.#secrets.map((secret) => keyFor(secret, call))
    return unsealText(keys, Buffer.from(call.id), Buffer.from(sealed, 'base64'))
  }
}

const keyFor = (secret: string, { key }: IdempotentCall): Buffer =>
  derivedKey(secret, key, 'weft stored answers')

interface Common {
  readonly operation: string
  readonly body: string
  /** Expiry, in epoch milliseconds. */
  readonly endsAt: number
}

/** A call that is running, or that has an unknown outcome. */
export interface StartedCallRecord extends Common {
  readonly state: 'begun'
  /** Seed from which the ids that the call creates are derived. */
  readonly seed: string
  /** Incarnation of the process that runs the call; absent if the outcome is unknown. */
  readonly by?: string
}

export type CallRecord =
  | StartedCallRecord
  /**
   * `answer` is the encrypted response; null if the response is too large, or if the limit of stored bytes
   * was reached.
   */
  | (Common & { readonly state: 'done'; readonly httpCode: number; readonly answer: string | null })

const common = { operation: s.string, body: s.string, endsAt: s.number }

const callRecordType: RecordType<CallRecord> = {
  name: 'idempotent call',
  schema: s.variant('state', [
    s.object({ state: s.literal('begun'), seed: s.string, ...common }, { by: s.string }),
    s.object({
      state: s.literal('done'),
      httpCode: s.number,
      answer: s.orNull(s.string),
      ...common,
    }),
  ]),
}

/** Type of a call record of which only the expiry is read. The removal of a call needs no other member. */
export const callExpiryType: RecordType<Pick<CallRecord, 'endsAt'>> = {
  name: 'idempotent call',
  schema: s.object({ endsAt: s.number }),
}

/** Index entry with the expiry of a call. */
export const expiryRecordType = {
  name: 'expiry of an idempotent call',
  schema: s.object({
    /** Approximate bytes stored for the call. */
    bytes: s.number,
  }),
}
export type ExpiryRecord = s.TypeOf<typeof expiryRecordType.schema>

/** Approximate bytes of the two entries of a call (its record and its index entry), without its response. */
export const bytesOfCall = 512
/**
 * Delay in ms after the expiry of a call until its removal. Calls that expire during the delay are removed in
 * the same run.
 */
const sweepMs = 60_000
const hourMs = 3_600_000

export const callSweepQueue = 'idempotency'

export const callKeys = {
  call: (id: string): Key => ['calls', id],
  ends: ['ends'] satisfies Key,
  /** Keys that sort by the expiry. Times in the year 9999 have 15 digits. */
  end: (endsAt: number, id: string): Key => ['ends', String(endsAt).padStart(15, '0'), id],
}

/** Returns the expiry of a call from the key of its entry in `ends`. */
export const expiryOf = (key: Key): number => Number(key[1])

/**
 * Returns the job that removes the expired calls of one caller some time after `endsAt`. Each hour has its
 * own job, so that a call with a later expiry (because of another option or a wrong clock) does not delay the
 * removal of other calls.
 */
const callSweepJob = (part: Key, endsAt: number): Job => ({
  queue: callSweepQueue,
  id: createHash('sha256')
    .update(JSON.stringify([part, Math.floor(endsAt / hourMs)]))
    .digest('base64url'),
  at: endsAt + sweepMs,
  payload: encodeRecord(part),
})

/** Stores the records of calls that have an idempotency key. */
export class CallStore {
  readonly #kv: Kv

  constructor(kv: Kv) {
    this.#kv = kv
  }

  /**
   * Finds the record of a call. `record` is null if the call has no record, or if the record has expired at
   * `now`. `bytes` is the stored record, even if it has expired.
   */
  async find({ part, id }: IdempotentCall, now: number): Promise<FoundCall> {
    const key = callKeys.call(id)
    const [bytes = null] = await this.#kv.get(part, [key])
    const record = bytes === null ? null : readRecord(callRecordType, { key, value: bytes })
    return { record: record === null || record.endsAt <= now ? null : record, bytes }
  }

  /**
   * Replaces the stored record `before` by `record`, or deletes it if `record` is null. Returns false, and
   * changes nothing, if the stored record is not `before`.
   */
  replace(call: IdempotentCall, record: CallRecord | null, before: Uint8Array | null): Promise<boolean> {
    const checks = [{ key: callKeys.call(call.id), value: before }]
    const change = record === null ? removalOf(call, before) : commitOf(call, record)
    return this.#kv.commit(call.part, { ...change, checks })
  }
}

export interface FoundCall {
  readonly record: CallRecord | null
  readonly bytes: Uint8Array | null
}

function removalOf({ id }: IdempotentCall, before: Uint8Array | null): KvCommit {
  if (before === null) return {}
  const key = callKeys.call(id)
  const { endsAt } = readRecord(callExpiryType, { key, value: before })
  return { dels: [key, callKeys.end(endsAt, id)] }
}

export const bytesOfRecord = (record: CallRecord): Uint8Array => encodeRecord(record)

const commitOf = ({ part, id }: IdempotentCall, record: CallRecord): KvCommit => ({
  puts: [
    { key: callKeys.call(id), value: encodeRecord(record) },
    {
      key: callKeys.end(record.endsAt, id),
      value: encodeRecord({ bytes: accountedBytes(record) } satisfies ExpiryRecord),
    },
  ],
  jobs: [callSweepJob(part, record.endsAt)],
})

/** Returns the approximate number of bytes that a record adds to the stored bytes of its caller. */
export const accountedBytes = (record: CallRecord): number =>
  bytesOfCall + (record.state === 'done' ? (record.answer?.length ?? 0) : 0)

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
    const result = await transactions.run(part, (transaction) => sweepSlice(transaction, now))
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

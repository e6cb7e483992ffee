import { randomUUID } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import { JobLoop } from '../../directory/job-loop.ts'
import { decodeRecord } from '../../directory/records.ts'
import type { Cluster, Key, Kv, Queue } from '../../engine/engine.ts'
import { ApiError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { Metrics } from '../../metrics.ts'
import { errorBody } from '../../model/raw-answer.ts'
import { CallIds } from '../call-ids.ts'
import { type Call, checkSame, isSame } from './call.ts'
import { CallClaims, type Claim, isUnderWay } from './claims.ts'
import { answerGone, endingOf, endUnknown, tooMany } from './endings.ts'
import { type IdempotencyLimits, idempotencyLimits } from './limits.ts'
import {
  type BegunRecord,
  bytesOf,
  bytesOfCall,
  type CallRecord,
  CallRecords,
  type FoundCall,
  sweepQueue,
} from './records.ts'
import { Sealing } from './sealing.ts'
import { sweep } from './sweep.ts'
import { busy, CallTurns } from './turns.ts'
import { Usage } from './usage.ts'

/** Callers whose calls are removed at the same time. */
const sweepsAtOnce = 4
/** How often it is looked whether another node has carried a call out, in ms. */
const lookMs = 100

export interface IdempotentCallsOptions {
  readonly kv: Kv
  readonly queue: Queue
  readonly cluster: Pick<Cluster, 'isShared'>
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'idempotentCalls'>
  /** Of the server: see `Sealing`. */
  readonly secrets: readonly string[]
  /** For how long a call is remembered. */
  readonly keepMs: number
  readonly limits?: IdempotencyLimits
}

/** What is answered to a call with a key. */
export interface GivenAnswer {
  readonly httpCode: number
  readonly text: string
  /** It was given before, and nothing was done now. */
  readonly replayed: boolean
}

/**
 * Carries out calls with an `idempotency-key` once, and answers them as often as they are made, after the semantics of
 * draft-ietf-httpapi-idempotency-key-header. An operation that is `once` or `adds` is noted before it begins. When its
 * end is not noted nobody knows what it has done: one that `adds` is made again, with the same ids; one that is `once` is
 * not. One that is `repeatable` needs no such note.
 */
export class IdempotentCalls {
  readonly #options: IdempotentCallsOptions
  readonly #limits: IdempotencyLimits
  readonly #records: CallRecords
  readonly #usage: Usage
  readonly #turns: CallTurns
  readonly #sealing: Sealing
  readonly #claims: CallClaims
  readonly #sweeps: JobLoop

  constructor(options: IdempotentCallsOptions) {
    const { kv, clock, cluster, limits = idempotencyLimits } = options
    this.#options = options
    this.#limits = limits
    this.#records = new CallRecords(kv)
    this.#usage = new Usage({ kv, clock, cluster }, limits)
    this.#claims = new CallClaims({ records: this.#records, clock, cluster })
    this.#turns = new CallTurns(clock, limits)
    this.#sealing = new Sealing(options.secrets)
    this.#sweeps = new JobLoop({
      ...options,
      name: sweepQueue,
      atOnceMax: sweepsAtOnce,
      carryOut: (payload) => this.#sweep(decodeRecord(payload) as Key),
    })
  }

  /** Begins to remove what is no longer remembered. */
  start(): void {
    this.#sweeps.start()
  }

  /** Resolves when nothing is being removed any more. */
  stop(): Promise<void> {
    return this.#sweeps.stop()
  }

  /**
   * The answer of `work` (the text of a success), or the one that was given to this call before.
   * @throws what `work` throws; ApiError INVALID_ARGUMENT when the key was used for another call; ABORTED when the first
   *   call is under way, its end is not known, or its answer was not kept; RESOURCE_EXHAUSTED beyond the limits
   */
  async run(call: Call, work: Work): Promise<GivenAnswer> {
    return this.#turns.run(call, () => this.#inTime(() => this.#alone(call, work)))
  }

  /** What `look` finds, sooner or later. @throws ApiError ABORTED when it is too late */
  async #inTime<T>(look: () => Promise<T | 'elsewhere'>): Promise<T> {
    const { clock } = this.#options
    const lateAt = clock.now() + this.#limits.waitMs
    for (;;) {
      const found = await look()
      if (found !== 'elsewhere') return found
      if (clock.now() >= lateAt) throw busy()
      await new Promise<void>((resolve) => clock.after(lookMs, resolve))
    }
  }

  /** `elsewhere`: another node carries it out, or has just begun to. */
  async #alone(call: Call, work: Work): Promise<GivenAnswer | 'elsewhere'> {
    const now = this.#options.clock.now()
    const found = await this.#records.find(call, now)
    const { record } = found
    if (record !== null) checkSame(record, call)
    if (record?.state === 'done') return this.#replay(call, record)
    if (record !== null && this.#isElsewhere(record, now)) return 'elsewhere'
    if (record !== null && call.effect === 'once') throw this.#refused('unknown', endUnknown())
    if (record !== null) return this.#again(call, record, found, work)
    await this.#take(call)
    const begun = this.#begun(call)
    const claim = isNoted(call)
      ? await this.#begin(call, begun, found)
      : this.#claims.without(call, found.bytes)
    return claim === null ? 'elsewhere' : this.#carryOut(call, begun, work, { is: 'first', claim })
  }

  async #again(
    call: Call,
    record: BegunRecord,
    { bytes }: FoundCall,
    work: Work,
  ): Promise<GivenAnswer | 'elsewhere'> {
    const claim = await this.#claims.take(call, record, bytes)
    return claim === null ? 'elsewhere' : this.#carryOut(call, record, work, { is: 'again', claim })
  }

  #replay(call: Call, { httpCode, answer }: DoneRecord): GivenAnswer {
    const text = answer === null ? null : this.#sealing.open(call, answer)
    if (text === null) throw this.#refused('lost', answerGone(httpCode))
    this.#count('replayed')
    return { httpCode, text, replayed: true }
  }

  /** Where another node has taken it over meanwhile all are told what that one tells. */
  async #carryOut(call: Call, record: BegunRecord, work: Work, time: Time): Promise<GivenAnswer> {
    let text: string
    try {
      text = await work(new CallIds(record.seed))
    } catch (error) {
      const noting = await this.#failed(call, record, error, time)
      const others = noting === 'lost' ? await this.#answerOfOthers(call) : null
      if (others !== null) return others
      throw error
    }
    const noting = await this.#keep(call, record, time, 200, text)
    const others = noting === 'lost' ? await this.#answerOfOthers(call) : null
    if (others !== null) return others
    this.#count('first')
    return { httpCode: 200, text, replayed: false }
  }

  /** Of a call that this node has lost. Null when nobody has one, and nobody is at it. */
  #answerOfOthers(call: Call): Promise<GivenAnswer | null> {
    return this.#inTime(async () => {
      const now = this.#options.clock.now()
      const { record } = await this.#records.find(call, now).catch(() => ({ record: null }))
      if (record === null || !isSame(record, call)) return null
      if (record.state === 'done') return this.#replay(call, record)
      return this.#isElsewhere(record, now) ? 'elsewhere' : null
    })
  }

  #isElsewhere(record: BegunRecord, now: number): boolean {
    return this.#options.cluster.isShared && isUnderWay(record, now)
  }

  #begun(call: Call): BegunRecord {
    const { clock, keepMs } = this.#options
    return { state: 'begun', ...noted(call, clock.now() + keepMs), seed: randomUUID() }
  }

  /** Null when another node has begun it meanwhile. */
  async #begin(call: Call, record: BegunRecord, { bytes }: FoundCall): Promise<Claim | null> {
    try {
      const claim = await this.#claims.take(call, record, bytes)
      if (claim === null) await this.#giveBack(call)
      return claim
    } catch (error) {
      await this.#giveBack(call)
      throw error
    }
  }

  async #failed(call: Call, record: BegunRecord, error: unknown, time: Time): Promise<Noting> {
    const ending = endingOf(error)
    if (ending === 'kept' && error instanceof ApiError)
      return this.#keep(call, record, time, error.httpCode, JSON.stringify(errorBody(error)))
    // What is noted and unknown stays so, with the ids that it may have made; what is not noted is made again.
    if (isNoted(call) && (ending === 'unknown' || time.is === 'again')) return this.#note(time, record)
    const noting = isNoted(call) ? await this.#note(time, null) : 'noted'
    if (noting !== 'lost') await this.#giveBack(call)
    return noting
  }

  /** Notes how a call has ended, before it is answered. */
  async #keep(
    call: Call,
    { endsAt }: BegunRecord,
    time: Time,
    httpCode: number,
    text: string,
  ): Promise<Noting> {
    const answer = await this.#sealed(call, text)
    const record: DoneRecord = { state: 'done', ...noted(call, endsAt), httpCode, answer }
    const noting = await this.#note(time, record)
    if (noting === 'noted') return noting
    await this.#usage.add(call.part, { calls: 0, bytes: bytesOfCall - bytesOf(record) })
    if (!isNoted(call)) await this.#giveBack(call)
    return noting
  }

  /** An answer as it is stored; null when it is too large, or there is no place for it. */
  async #sealed(call: Call, text: string): Promise<string | null> {
    if (Buffer.byteLength(text) > this.#limits.answerBytes) return null
    const sealed = this.#sealing.seal(call, text)
    return (await this.#usage.takeBytes(call.part, sealed.length)) ? sealed : null
  }

  /** What has been done is told to who called, also when that cannot be noted: then who calls again is told less. */
  async #note({ claim }: Time, record: CallRecord | null): Promise<Noting> {
    try {
      return (await claim.end(record)) ? 'noted' : 'lost'
    } catch (err) {
      this.#options.log.warn({ err }, 'the end of a call with an idempotency key is not noted')
      return 'failed'
    }
  }

  async #take({ part }: Call): Promise<void> {
    const firstEnd = await this.#usage.take(part)
    if (firstEnd === null) return
    throw this.#refused('too_many', tooMany(this.#limits.calls, firstEnd - this.#options.clock.now()))
  }

  #giveBack({ part }: Call): Promise<void> {
    return this.#usage.add(part, { calls: -1, bytes: -bytesOfCall })
  }

  async #sweep(part: Key): Promise<void> {
    const { calls, bytes } = await sweep(this.#options.kv, part, this.#options.clock.now())
    await this.#usage.add(part, { calls: -calls, bytes: -bytes })
  }

  #refused(outcome: Outcome, error: ApiError): ApiError {
    this.#count(outcome)
    return error
  }

  #count(outcome: Outcome): void {
    this.#options.metrics.idempotentCalls.inc({ outcome })
  }
}

/** What a call does, with ids for what it makes; resolves with the text of its answer. */
export type Work = (ids: CallIds) => Promise<string>

type DoneRecord = Extract<CallRecord, { state: 'done' }>
/** Again: nobody knows what an earlier time has done. */
interface Time {
  readonly is: 'first' | 'again'
  readonly claim: Claim
}
/** `lost`: nothing, because another node had noted something. */
type Noting = 'noted' | 'failed' | 'lost'
type Outcome = 'first' | 'replayed' | 'unknown' | 'lost' | 'too_many'

/** What is `repeatable` leaves the same without. */
const isNoted = ({ effect }: Call): boolean => effect === 'once' || effect === 'adds'

const noted = ({ operation, body }: Call, endsAt: number) => ({ operation, body, endsAt })

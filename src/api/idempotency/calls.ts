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
import { type Call, checkSame } from './call.ts'
import { CallClaims, type Claim, isUnderWay, noClaim } from './claims.ts'
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
  /** Null: no other node carries out calls. */
  readonly #claims: CallClaims | null
  readonly #sweeps: JobLoop

  constructor(options: IdempotentCallsOptions) {
    const { kv, clock, cluster, limits = idempotencyLimits } = options
    this.#options = options
    this.#limits = limits
    this.#records = new CallRecords(kv)
    this.#usage = new Usage({ kv, clock, cluster }, limits)
    this.#claims = cluster.isShared ? new CallClaims(this.#records, clock) : null
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
    return this.#turns.run(call, async () => {
      const { clock } = this.#options
      const lateAt = clock.now() + this.#limits.waitMs
      for (;;) {
        const given = await this.#alone(call, work)
        if (given !== 'elsewhere') return given
        if (clock.now() >= lateAt) throw busy()
        await new Promise<void>((resolve) => clock.after(lookMs, resolve))
      }
    })
  }

  /** `elsewhere`: another node carries it out, or has just begun to. */
  async #alone(call: Call, work: Work): Promise<GivenAnswer | 'elsewhere'> {
    const now = this.#options.clock.now()
    const found = await this.#records.find(call, now)
    const { record } = found
    if (record !== null) checkSame(record, call)
    if (record?.state === 'done') return this.#replay(call, record)
    if (record !== null && this.#claims !== null && isUnderWay(record, now)) return 'elsewhere'
    if (record !== null && call.effect === 'once') throw this.#refused('unknown', endUnknown())
    if (record !== null) return this.#again(call, record, found, work)
    await this.#take(call)
    const begun = this.#begun(call)
    const claim = isNoted(call) ? await this.#begin(call, begun, found) : noClaim
    return claim === null ? 'elsewhere' : this.#carryOut(call, begun, work, { is: 'first', claim })
  }

  async #again(
    call: Call,
    record: BegunRecord,
    { bytes }: FoundCall,
    work: Work,
  ): Promise<GivenAnswer | 'elsewhere'> {
    const claim = this.#claims === null ? noClaim : await this.#claims.take(call, record, bytes)
    return claim === null ? 'elsewhere' : this.#carryOut(call, record, work, { is: 'again', claim })
  }

  #replay(call: Call, { httpCode, answer }: DoneRecord): GivenAnswer {
    const text = answer === null ? null : this.#sealing.open(call, answer)
    if (text === null) throw this.#refused('lost', answerGone(httpCode))
    this.#count('replayed')
    return { httpCode, text, replayed: true }
  }

  async #carryOut(call: Call, record: BegunRecord, work: Work, time: Time): Promise<GivenAnswer> {
    const { seed, endsAt } = record
    let text: string
    try {
      text = await work(new CallIds(seed))
      time.claim.release()
    } catch (error) {
      time.claim.release()
      await this.#failed(call, record, error, time)
      throw error
    }
    await this.#keep(call, endsAt, 200, text)
    this.#count('first')
    return { httpCode: 200, text, replayed: false }
  }

  #begun(call: Call): BegunRecord {
    const { clock, keepMs } = this.#options
    return { state: 'begun', ...noted(call, clock.now() + keepMs), seed: randomUUID() }
  }

  /** Null when another node has begun it meanwhile. */
  async #begin(call: Call, record: BegunRecord, { bytes }: FoundCall): Promise<Claim | null> {
    try {
      const claim = this.#claims === null ? noClaim : await this.#claims.take(call, record, bytes)
      if (this.#claims === null) await this.#records.put(call, record)
      if (claim === null) await this.#giveBack(call)
      return claim
    } catch (error) {
      await this.#giveBack(call)
      throw error
    }
  }

  async #failed(call: Call, record: BegunRecord, error: unknown, time: Time): Promise<void> {
    const { endsAt } = record
    const ending = endingOf(error)
    if (ending === 'kept' && error instanceof ApiError)
      return this.#keep(call, endsAt, error.httpCode, JSON.stringify(errorBody(error)))
    // What is noted and unknown stays so, with the ids that it may have made; what is not noted is made again.
    if (isNoted(call) && (ending === 'unknown' || time.is === 'again')) return this.#leave(call, record)
    await this.#giveBack(call)
    if (isNoted(call)) await this.#whileStored(this.#records.remove(call, endsAt))
  }

  /** Its end is not known, and nobody is at it any more. */
  async #leave(call: Call, record: BegunRecord): Promise<void> {
    if (this.#claims !== null) await this.#whileStored(this.#records.put(call, record))
  }

  /** Notes how a call has ended, before it is answered. */
  async #keep(call: Call, endsAt: number, httpCode: number, text: string): Promise<void> {
    const answer = await this.#sealed(call, text)
    const record: DoneRecord = { state: 'done', ...noted(call, endsAt), httpCode, answer }
    if (await this.#whileStored(this.#records.put(call, record))) return
    await this.#usage.add(call.part, { calls: 0, bytes: bytesOfCall - bytesOf(record) })
    if (!isNoted(call)) await this.#giveBack(call)
  }

  /** An answer as it is stored; null when it is too large, or there is no place for it. */
  async #sealed(call: Call, text: string): Promise<string | null> {
    if (Buffer.byteLength(text) > this.#limits.answerBytes) return null
    const sealed = this.#sealing.seal(call, text)
    return (await this.#usage.takeBytes(call.part, sealed.length)) ? sealed : null
  }

  /** What has been done is told to who called, also when that cannot be noted (false): then who calls again is told less. */
  async #whileStored(storing: Promise<void>): Promise<boolean> {
    try {
      await storing
      return true
    } catch (err) {
      this.#options.log.warn({ err }, 'the end of a call with an idempotency key is not noted')
      return false
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
type Outcome = 'first' | 'replayed' | 'unknown' | 'lost' | 'too_many'

/** What is `repeatable` leaves the same without. */
const isNoted = ({ effect }: Call): boolean => effect === 'once' || effect === 'adds'

const noted = ({ operation, body }: Call, endsAt: number) => ({ operation, body, endsAt })

import { randomUUID } from 'node:crypto'
import { ApiError } from '../../core/base/errors.ts'
import { JobConsumer } from '../../core/jobs/job-consumer.ts'
import { readPayload } from '../../core/jobs/job-payload.ts'
import { keySchema } from '../../core/model/address-schemas.ts'
import { jsonTextUpTo } from '../../core/model/json-pieces.ts'
import { errorEnvelope } from '../../core/model/raw-response.ts'
import type { Key } from '../../core/store/engine.ts'
import { SeededIds } from '../seeded-ids.ts'
import type { BaseServices } from '../services.ts'
import { CallMutex } from './call-mutex.ts'
import {
  accountedBytes,
  bytesOfCall,
  bytesOfRecord,
  type CallRecord,
  CallStore,
  callSweepQueue,
  type FoundCall,
  ResponseEncryption,
  removeExpiredCalls,
  type StartedCallRecord,
} from './call-records.ts'
import {
  busy,
  callOutcomeOf,
  checkSameRequest,
  type IdempotencyLimits,
  type IdempotentCall,
  idempotencyLimits,
  isSameRequest,
  responseNotKeptRejection,
  tooManyCallsRejection,
  unknownOutcomeRejection,
} from './idempotent-call.ts'
import { IdempotencyUsage } from './usage.ts'

/** Maximum number of callers whose expired calls are removed concurrently. */
const sweepsAtOnce = 4
/** Interval in ms between polls for the outcome of a call that another node runs. */
const lookMs = 100

/** The response to a call with a key. */
export interface StoredResponse {
  readonly httpCode: number
  /** The JSON body. A string is JSON text; any other value is encoded before it is sent. */
  readonly body: unknown
  /** True for a stored response: the call did not run again. */
  readonly replayed: boolean
}

type KeyedCallServices = Pick<BaseServices, 'clock' | 'engine' | 'log' | 'metrics'>

/**
 * Runs calls with an `idempotency-key` once, and returns the same response to each repetition, with the
 * semantics of draft-ietf-httpapi-idempotency-key-header. An operation with the effect `once` or `adds` is
 * recorded before it starts. If the end of a recorded call is missing, its outcome is unknown. An `adds` call
 * with an unknown outcome runs again with the same ids; a `once` call does not. A `repeatable` operation
 * needs no such record.
 */
export class IdempotencyService {
  readonly #services: KeyedCallServices
  /** Time in ms for which a call is stored. */
  readonly #keepMs: number
  readonly #limits: IdempotencyLimits
  readonly #records: CallStore
  readonly #usage: IdempotencyUsage
  readonly #mutex: CallMutex
  readonly #sealing: ResponseEncryption
  /** Removes expired calls in the background. */
  readonly sweeps: JobConsumer

  /** @param secrets secrets of the server: see `ResponseEncryption` */
  constructor(
    services: KeyedCallServices,
    secrets: readonly string[],
    keepMs: number,
    limits = idempotencyLimits,
  ) {
    const { clock, engine, log } = services
    this.#services = services
    this.#keepMs = keepMs
    this.#limits = limits
    this.#records = new CallStore(engine.kv)
    this.#usage = new IdempotencyUsage(engine, clock, limits)
    this.#mutex = new CallMutex(clock, limits)
    this.#sealing = new ResponseEncryption(secrets)
    this.sweeps = new JobConsumer({
      queue: engine.queue,
      clock,
      log,
      name: callSweepQueue,
      atOnce: sweepsAtOnce,
      carryOut: async ({ payload }) => {
        await this.#sweep(readPayload(keySchema, payload))
        return 'done'
      },
    })
  }

  /**
   * Runs `work` and returns its response, or returns the stored response of this call. The result of `work`
   * is the body of a success.
   * @throws errors of `work`; ApiError INVALID_ARGUMENT if the key was used for another call; ABORTED if the
   * first call is running, if its outcome is unknown, or if its response was not kept; RESOURCE_EXHAUSTED
   * beyond the limits
   */
  async run(call: IdempotentCall, work: IdempotentWork): Promise<StoredResponse> {
    return this.#mutex.run(call, () => this.#inTime(() => this.#alone(call, work)))
  }

  /**
   * Calls `look` at an interval until it returns a result.
   * @throws ApiError ABORTED after the timeout
   */
  async #inTime<T>(look: () => Promise<T | 'elsewhere'>): Promise<T> {
    const { clock } = this.#services
    const lateAt = clock.now() + this.#limits.waitMs
    for (;;) {
      const found = await look()
      if (found !== 'elsewhere') return found
      if (clock.now() >= lateAt) throw busy()
      await new Promise<void>((resolve) => clock.after(lookMs, resolve))
    }
  }

  /**
   * Runs a call, or returns its stored response. Returns `elsewhere` if another node runs the call, or has
   * just started it.
   */
  async #alone(call: IdempotentCall, work: IdempotentWork): Promise<StoredResponse | 'elsewhere'> {
    const now = this.#services.clock.now()
    const found = await this.#records.find(call, now)
    const { record } = found
    if (record !== null) checkSameRequest(record, call)
    if (record?.state === 'done') return this.#replay(call, record)
    if (record !== null && (await this.#isElsewhere(record))) return 'elsewhere'
    if (record !== null && call.effect === 'once') throw this.#refused('unknown', unknownOutcomeRejection())
    if (record !== null) return this.#again(call, record, found, work)
    await this.#take(call)
    const begun = this.#begun(call)
    const noted = isNoted(call) ? await this.#begin(call, begun, found) : found.bytes
    return noted === 'elsewhere' ? noted : this.#carryOut(call, begun, work, { is: 'first', noted })
  }

  async #again(
    call: IdempotentCall,
    record: StartedCallRecord,
    found: FoundCall,
    work: IdempotentWork,
  ): Promise<StoredResponse | 'elsewhere'> {
    const noted = await this.#noteBegun(call, record, found)
    return noted === 'elsewhere' ? noted : this.#carryOut(call, record, work, { is: 'again', noted })
  }

  /**
   * Records that this process starts a call. Resolves with the stored record, or with `elsewhere` if another
   * process has started the call.
   */
  async #noteBegun(
    call: IdempotentCall,
    record: StartedCallRecord,
    { bytes }: FoundCall,
  ): Promise<Uint8Array | 'elsewhere'> {
    const begun = { ...record, by: this.#services.engine.cluster.incarnation }
    return (await this.#records.replace(call, begun, bytes)) ? bytesOfRecord(begun) : 'elsewhere'
  }

  #replay(call: IdempotentCall, { httpCode, answer }: DoneRecord): StoredResponse {
    const text = answer === null ? null : this.#sealing.open(call, answer)
    if (text === null) throw this.#refused('response_not_kept', responseNotKeptRejection(httpCode))
    this.#count('replayed')
    return { httpCode, body: text, replayed: true }
  }

  /**
   * Runs the work of a call and records the outcome. If another node has taken over the call, returns the
   * outcome of that node.
   */
  async #carryOut(
    call: IdempotentCall,
    record: StartedCallRecord,
    work: IdempotentWork,
    time: Time,
  ): Promise<StoredResponse> {
    let body: unknown
    try {
      body = await work(new SeededIds(record.seed))
    } catch (error) {
      const noting = await this.#failed(call, record, error, time)
      const others = noting === 'lost' ? await this.#answerOfOthers(call) : null
      if (others !== null) return others
      throw error
    }
    const text = jsonTextUpTo(body, this.#limits.answerBytes)
    const noting = await this.#keep(call, record, time, 200, text)
    const others = noting === 'lost' ? await this.#answerOfOthers(call) : null
    if (others !== null) return others
    this.#count('first')
    return { httpCode: 200, body: text ?? body, replayed: false }
  }

  /**
   * Waits for the outcome of a call that another node has taken over. Returns null if no node has an outcome
   * or runs the call.
   */
  #answerOfOthers(call: IdempotentCall): Promise<StoredResponse | null> {
    return this.#inTime(async () => {
      const now = this.#services.clock.now()
      const { record } = await this.#records.find(call, now).catch(() => ({ record: null }))
      if (record === null || !isSameRequest(record, call)) return null
      if (record.state === 'done') return this.#replay(call, record)
      return (await this.#isElsewhere(record)) ? 'elsewhere' : null
    })
  }

  /**
   * Returns whether another process runs the call. This process does not, because the caller of this function
   * has locked the call.
   */
  async #isElsewhere({ by }: StartedCallRecord): Promise<boolean> {
    const { cluster } = this.#services.engine
    return by !== undefined && by !== cluster.incarnation && cluster.isAlive(by)
  }

  #begun(call: IdempotentCall): StartedCallRecord {
    const endsAt = this.#services.clock.now() + this.#keepMs
    return { state: 'begun', ...noted(call, endsAt), seed: randomUUID() }
  }

  /**
   * Like `#noteBegun`, for a call that was already counted towards the limits. If the call is not recorded,
   * it no longer counts.
   */
  async #begin(
    call: IdempotentCall,
    record: StartedCallRecord,
    found: FoundCall,
  ): Promise<Uint8Array | 'elsewhere'> {
    try {
      const noted = await this.#noteBegun(call, record, found)
      if (noted === 'elsewhere') await this.#giveBack(call)
      return noted
    } catch (error) {
      await this.#giveBack(call)
      throw error
    }
  }

  async #failed(
    call: IdempotentCall,
    record: StartedCallRecord,
    error: unknown,
    time: Time,
  ): Promise<Noting> {
    const ending = callOutcomeOf(error)
    if (ending === 'kept' && error instanceof ApiError)
      return this.#keep(call, record, time, error.httpCode, JSON.stringify(errorEnvelope(error)))
    // A recorded call with an unknown outcome keeps its record, because the record determines the ids that
    // the call may have created. A call without a record may run again.
    if (isNoted(call) && (ending === 'unknown' || time.is === 'again'))
      return this.#note(call, time, withoutProcess(record))
    const noting = isNoted(call) ? await this.#note(call, time, null) : 'noted'
    if (noting !== 'lost') await this.#giveBack(call)
    return noting
  }

  /** Records the outcome of a call before the response is sent. */
  async #keep(
    call: IdempotentCall,
    { endsAt }: StartedCallRecord,
    time: Time,
    httpCode: number,
    text: string | null,
  ): Promise<Noting> {
    const answer = await this.#sealed(call, text)
    const record: DoneRecord = { state: 'done', ...noted(call, endsAt), httpCode, answer }
    const noting = await this.#note(call, time, record)
    if (noting === 'noted') return noting
    await this.#usage.add(call.part, { calls: 0, bytes: bytesOfCall - accountedBytes(record) })
    if (!isNoted(call)) await this.#giveBack(call)
    return noting
  }

  /**
   * Returns the encrypted response to store; null if the response is too large, or if the limit of stored
   * bytes is reached.
   */
  async #sealed(call: IdempotentCall, text: string | null): Promise<string | null> {
    if (text === null || Buffer.byteLength(text) > this.#limits.answerBytes) return null
    const sealed = this.#sealing.seal(call, text)
    return (await this.#usage.takeBytes(call.part, sealed.length)) ? sealed : null
  }

  /**
   * Replaces the record of a call by its outcome. If this fails, the caller still gets the outcome, but a
   * repeated call may not get it.
   */
  async #note(call: IdempotentCall, { noted }: Time, record: CallRecord | null): Promise<Noting> {
    try {
      return (await this.#records.replace(call, record, noted)) ? 'noted' : 'lost'
    } catch (err) {
      this.#services.log.warn({ err }, 'could not record the outcome of a call with an idempotency key')
      return 'failed'
    }
  }

  async #take({ part }: IdempotentCall): Promise<void> {
    const firstEnd = await this.#usage.take(part)
    if (firstEnd === null) return
    throw this.#refused(
      'too_many',
      tooManyCallsRejection(this.#limits.calls, firstEnd - this.#services.clock.now()),
    )
  }

  #giveBack({ part }: IdempotentCall): Promise<void> {
    return this.#usage.add(part, { calls: -1, bytes: -bytesOfCall })
  }

  async #sweep(part: Key): Promise<void> {
    const { calls, bytes } = await removeExpiredCalls(
      this.#services.engine.kv,
      part,
      this.#services.clock.now(),
    )
    await this.#usage.add(part, { calls: -calls, bytes: -bytes })
  }

  #refused(outcome: Outcome, error: ApiError): ApiError {
    this.#count(outcome)
    return error
  }

  #count(outcome: Outcome): void {
    this.#services.metrics.idempotentCalls.inc({ outcome })
  }
}

/** The work of a call, with ids for the records that it creates. Resolves with the body of the response. */
type IdempotentWork = (ids: SeededIds) => Promise<unknown>

type DoneRecord = Extract<CallRecord, { state: 'done' }>
/** Whether this is the first run of a call. `again`: the outcome of an earlier run is unknown. */
interface Time {
  readonly is: 'first' | 'again'
  /**
   * The stored record as this process knows it; null: no record. If another process has taken over the call,
   * the store has another record.
   */
  readonly noted: Uint8Array | null
}
/**
 * Result of recording an outcome. `lost`: nothing was recorded, because another node had changed the record.
 */
type Noting = 'noted' | 'failed' | 'lost'
type Outcome = 'first' | 'replayed' | 'unknown' | 'response_not_kept' | 'too_many'

/**
 * Returns whether a call is recorded before it starts. A `repeatable` call has the same effect without a
 * record.
 */
const isNoted = ({ effect }: IdempotentCall): boolean => effect === 'once' || effect === 'adds'

/** Returns the record without the process. Such a record belongs to a call with an unknown outcome. */
function withoutProcess(record: StartedCallRecord): StartedCallRecord {
  const { by: _, ...rest } = record
  return rest
}

const noted = ({ operation, body }: IdempotentCall, endsAt: number) => ({ operation, body, endsAt })

import { randomUUID } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import type { Cluster } from '../../engine/engine.ts'
import { bytesOfRecord, type CallRecord, type CallStore, type StartedCallRecord } from './call-records.ts'
import type { IdempotentCall } from './idempotent-call.ts'

/** A call that was noted as under way, and has not been for so long, is not: its node has died. In ms. */
const claimMs = 15_000

/** That this node carries out a call, for as long as nobody else notes anything of it. */
export interface CallLease {
  /**
   * Notes how the call has ended, or, with null, that it was never made; to be called once. False, and nothing noted, when
   * another node has taken it over, or it has been forgotten.
   */
  end(record: CallRecord | null): Promise<boolean>
}

/** Is somebody carrying it out, by what is noted? */
export const isRunning = ({ underWayUntil = 0 }: StartedCallRecord, now: number): boolean =>
  underWayUntil > now

export interface CallLeaseDependencies {
  readonly records: CallStore
  readonly clock: Clock
  readonly cluster: Pick<Cluster, 'isShared'>
}

/** Has one node at a time carry out a call: whoever notes it first, and for as long as it goes on noting. */
export class CallLeaseManager {
  readonly #parts: CallLeaseDependencies

  constructor(parts: CallLeaseDependencies) {
    this.#parts = parts
  }

  /** Notes a call as begun. Null when somebody else has changed what was noted `before`. */
  async take(
    call: IdempotentCall,
    record: StartedCallRecord,
    before: Uint8Array | null,
  ): Promise<CallLease | null> {
    const claim = new NotedClaim(call, record, this.#parts)
    return (await claim.begin(before)) ? claim : null
  }

  /** Of a call of which nothing is noted until it has ended. */
  without(call: IdempotentCall, before: Uint8Array | null): CallLease {
    return { end: (record) => this.#parts.records.replace(call, record, before) }
  }
}

/** Where other nodes are it is noted again and again. */
class NotedClaim implements CallLease {
  readonly #parts: CallLeaseDependencies
  readonly #call: IdempotentCall
  readonly #record: StartedCallRecord
  /** Tells what this one has noted from what another one has. */
  readonly #id = randomUUID()
  #noted: StartedCallRecord | null = null
  #renewing: Promise<void> = Promise.resolve()
  #hasEnded = false
  #cancel: () => void = () => {}

  constructor(call: IdempotentCall, record: StartedCallRecord, parts: CallLeaseDependencies) {
    this.#call = call
    this.#record = record
    this.#parts = parts
  }

  async begin(before: Uint8Array | null): Promise<boolean> {
    const first = this.#current()
    if (!(await this.#parts.records.replace(this.#call, first, before))) return false
    this.#noted = first
    this.#renewLater()
    return true
  }

  async end(record: CallRecord | null): Promise<boolean> {
    this.#hasEnded = true
    this.#cancel()
    await this.#renewing
    // It is noted so.
    return record === this.#noted || this.#replace(record)
  }

  /** Alone nobody wants to know whether it is under way. */
  #current(): StartedCallRecord {
    const { cluster, clock } = this.#parts
    if (!cluster.isShared) return this.#record
    return { ...this.#record, claim: this.#id, underWayUntil: clock.now() + claimMs }
  }

  #renewLater(): void {
    const { cluster, clock } = this.#parts
    if (!cluster.isShared) return
    this.#cancel = clock.after(claimMs / 3, () => {
      this.#renewing = this.#renew()
    })
  }

  async #renew(): Promise<void> {
    const next = this.#current()
    // Where the store is away the call will find out.
    const isHeld = await this.#replace(next).catch(() => true)
    if (!isHeld || this.#hasEnded) return
    this.#renewLater()
  }

  async #replace(record: CallRecord | null): Promise<boolean> {
    const { records } = this.#parts
    const noted = this.#noted === null ? null : bytesOfRecord(this.#noted)
    for (let before = noted; before !== null; before = await this.#stored()) {
      if (!(await records.replace(this.#call, record, before))) continue
      if (record?.state === 'begun') this.#noted = record
      return true
    }
    return false
  }

  /** What is stored, if this one has noted it: where a commit has failed nobody knows whether it was written. */
  async #stored(): Promise<Uint8Array | null> {
    const { records, clock } = this.#parts
    const { record, bytes } = await records.find(this.#call, clock.now())
    return record?.state === 'begun' && record.claim === this.#id ? bytes : null
  }
}

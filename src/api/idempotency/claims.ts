import { randomUUID } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import type { Cluster } from '../../engine/engine.ts'
import type { Call } from './call.ts'
import { type BegunRecord, bytesOfRecord, type CallRecord, type CallRecords } from './records.ts'

/** A call that was noted as under way, and has not been for so long, is not: its node has died. In ms. */
const claimMs = 15_000

/** That this node carries out a call, for as long as nobody else notes anything of it. */
export interface Claim {
  /**
   * Notes how the call has ended, or, with null, that it was never made; to be called once. False, and nothing noted, when
   * another node has taken it over, or it has been forgotten.
   */
  end(record: CallRecord | null): Promise<boolean>
}

/** Is somebody carrying it out, by what is noted? */
export const isUnderWay = ({ underWayUntil = 0 }: BegunRecord, now: number): boolean => underWayUntil > now

export interface CallClaimsParts {
  readonly records: CallRecords
  readonly clock: Clock
  readonly cluster: Pick<Cluster, 'isShared'>
}

/** Has one node at a time carry out a call: whoever notes it first, and for as long as it goes on noting. */
export class CallClaims {
  readonly #parts: CallClaimsParts

  constructor(parts: CallClaimsParts) {
    this.#parts = parts
  }

  /** Notes a call as begun. Null when somebody else has changed what was noted `before`. */
  async take(call: Call, record: BegunRecord, before: Uint8Array | null): Promise<Claim | null> {
    const claim = new NotedClaim(call, record, this.#parts)
    return (await claim.begin(before)) ? claim : null
  }

  /** Of a call of which nothing is noted until it has ended. */
  without(call: Call, before: Uint8Array | null): Claim {
    return { end: (record) => this.#parts.records.replace(call, record, before) }
  }
}

/** Where other nodes are it is noted again and again. */
class NotedClaim implements Claim {
  readonly #parts: CallClaimsParts
  readonly #call: Call
  readonly #record: BegunRecord
  /** Tells what this one has noted from what another one has. */
  readonly #id = randomUUID()
  #noted: BegunRecord | null = null
  #renewing: Promise<void> = Promise.resolve()
  #hasEnded = false
  #cancel: () => void = () => {}

  constructor(call: Call, record: BegunRecord, parts: CallClaimsParts) {
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
  #current(): BegunRecord {
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

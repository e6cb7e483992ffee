import type { Clock } from '../../clock.ts'
import type { Call } from './call.ts'
import type { BegunRecord, CallRecords } from './records.ts'

/** A call that was noted as under way, and has not been for so long, is not: its node has died. In ms. */
const claimMs = 15_000

/** That this node carries out a call. */
export interface Claim {
  /** To be called when the call has ended, before that is noted. */
  release(): void
}

/** The claim of a node that has no others beside it. */
export const noClaim: Claim = { release() {} }

/** Is somebody carrying it out, by what is noted? */
export const isUnderWay = ({ underWayUntil = 0 }: BegunRecord, now: number): boolean => underWayUntil > now

/** Has one node at a time carry out a call: whoever notes it first, and for as long as it goes on noting. */
export class CallClaims {
  readonly #records: CallRecords
  readonly #clock: Clock

  constructor(records: CallRecords, clock: Clock) {
    this.#records = records
    this.#clock = clock
  }

  /** Notes a call as under way. Null when somebody else has changed what was noted `before`. */
  async take(call: Call, record: BegunRecord, before: Uint8Array | null): Promise<Claim | null> {
    const noted = await this.#records.replace(call, this.#underWay(record), before)
    return noted === null ? null : this.#keep(call, record, noted)
  }

  #underWay(record: BegunRecord): BegunRecord {
    return { ...record, underWayUntil: this.#clock.now() + claimMs }
  }

  #keep(call: Call, record: BegunRecord, first: Uint8Array): Claim {
    let noted: Uint8Array | null = first
    let isReleased = false
    let cancel = (): void => {}
    const later = (): void => {
      cancel = this.#clock.after(claimMs / 3, () => void renew())
    }
    const renew = async (): Promise<void> => {
      try {
        // Refused once its end is noted, or somebody else has it.
        noted = await this.#records.replace(call, this.#underWay(record), noted)
      } catch {
        // The store is away, as the call will find out.
      }
      if (noted !== null && !isReleased) later()
    }
    later()
    return {
      release: () => {
        isReleased = true
        cancel()
      },
    }
  }
}

import { type Clock, endsWithin } from '../../core/base/clock.ts'
import { Semaphore } from '../../core/base/semaphore.ts'
import type { Tenant } from '../../core/model/address.ts'
import { keyName, tenantName } from '../../core/store/key-encoding.ts'
import type { CallLimits, Slots } from './limits.ts'

/** A call that needs a slot. */
interface SlotRequest {
  readonly tenant: Tenant
  /** The user whom the call concerns; null if it concerns no single user. */
  readonly userId: string | null
  /** True if the last call for this user failed. */
  readonly isSuspect: boolean
  /** Makes the call. The promise must not reject. */
  readonly call: () => Promise<void>
  /** Aborts the call, because too many calls do not get a response. */
  readonly abort: () => void
}

/** Slots for each API key, for each workspace, and for all workspaces together. */
class SharedSlots {
  readonly #perKey: Semaphore
  readonly #all: Semaphore

  constructor({ perKey, ...all }: Slots) {
    this.#perKey = new Semaphore({ total: Number.POSITIVE_INFINITY, each: perKey })
    this.#all = new Semaphore(all)
  }

  hasFree(key: string, { workspaceId }: Tenant): boolean {
    return this.#perKey.hasFree(key) && this.#all.hasFree(workspaceId)
  }

  run(key: string, { workspaceId }: Tenant, work: () => Promise<void>): Promise<void> {
    return this.#perKey.run(key, () => this.#all.run(workspaceId, work))
  }
}

/**
 * Slots (bulkheads) limit the concurrent calls of a callback. Calls that hang have slots of their own, so that they
 * do not delay calls that are answered quickly: a call without a response after `quickMs` moves to them, and a call
 * for a user whose last call failed begins there. If none of them is free, a call that would move is aborted.
 */
export class CallSlots {
  readonly #clock: Clock
  readonly #limits: CallLimits
  readonly #quick: SharedSlots
  /** The slots of calls that hang; null if calls keep their slots. */
  readonly #hanging: SharedSlots | null
  readonly #perUser: Semaphore
  /** Number of calls of each API key that wait for a slot. */
  readonly #waiting = new Map<string, number>()

  constructor(limits: CallLimits, clock: Clock) {
    this.#clock = clock
    this.#limits = limits
    this.#quick = new SharedSlots(limits.slots)
    this.#hanging = limits.hanging === null ? null : new SharedSlots(limits.hanging)
    this.#perUser = new Semaphore({ total: Number.POSITIVE_INFINITY, each: limits.perUser })
  }

  /** Returns whether so many calls of the API key wait that a further one must fail. */
  isFull(tenant: Tenant): boolean {
    return (this.#waiting.get(tenantName(tenant)) ?? 0) >= this.#limits.waitingMax
  }

  /** Makes a call when a slot is free. Resolves at the end of the call. */
  async run(request: SlotRequest): Promise<void> {
    const { tenant, userId } = request
    const key = tenantName(tenant)
    this.#count(key, 1)
    let isWaiting = true
    const call = (): Promise<void> => {
      if (isWaiting) this.#count(key, -1)
      isWaiting = false
      return request.call()
    }
    const run = (): Promise<void> => this.#run(key, { ...request, call })
    await (userId === null ? run() : this.#perUser.run(keyName([key, userId]), run))
  }

  #run(key: string, request: SlotRequest): Promise<void> {
    const { tenant, isSuspect, call } = request
    if (this.#hanging === null) return this.#quick.run(key, tenant, call)
    return isSuspect ? this.#hanging.run(key, tenant, call) : this.#runQuick(key, request, this.#hanging)
  }

  /** Makes a call, and moves it to the slots of calls that hang if it gets no response in `quickMs`. */
  async #runQuick(key: string, { tenant, call, abort }: SlotRequest, hanging: SharedSlots): Promise<void> {
    let end = Promise.resolve()
    let hasEnded = false
    await this.#quick.run(key, tenant, async () => {
      end = call()
      hasEnded = await endsWithin(this.#clock, this.#limits.quickMs, end)
    })
    if (hasEnded) return
    if (!hanging.hasFree(key, tenant)) abort()
    else await hanging.run(key, tenant, () => end)
    await end
  }

  #count(key: string, more: 1 | -1): void {
    const count = (this.#waiting.get(key) ?? 0) + more
    if (count === 0) this.#waiting.delete(key)
    else this.#waiting.set(key, count)
  }
}

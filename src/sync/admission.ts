import { type Close, close } from '../model/close.ts'

/** Refused connections that are being told why, at once; beyond it they are cut off without a word. */
const refusalsMax = 500

export interface AdmissionLimits {
  readonly connectionsMax: number
  readonly connectionsPerAddressMax: number
}

/** Counts connections, in all and by client address, from the moment they ask to be upgraded. */
export class Admission {
  readonly #limits: AdmissionLimits
  readonly #byAddress = new Map<string, number>()
  #total = 0
  #refusals = 0

  constructor(limits: AdmissionLimits) {
    this.#limits = limits
  }

  /** Why no connection from `address` is taken now; null when there is room. */
  problem(address: string): Close | null {
    if (this.#total >= this.#limits.connectionsMax) return close('overloaded', 'too many connections')
    if ((this.#byAddress.get(address) ?? 0) >= this.#limits.connectionsPerAddressMax) {
      return close('overloaded', 'too many connections from this address')
    }
    return null
  }

  /** Counts a connection that will be refused politely; null when there are too many of them. */
  enterRefused(): (() => void) | null {
    if (this.#refusals >= refusalsMax) return null
    this.#refusals += 1
    return () => {
      this.#refusals -= 1
    }
  }

  /** Counts a connection; the returned function, called once, counts it off. */
  enter(address: string): () => void {
    this.#total += 1
    this.#byAddress.set(address, (this.#byAddress.get(address) ?? 0) + 1)
    return () => {
      this.#total -= 1
      const left = (this.#byAddress.get(address) ?? 1) - 1
      if (left === 0) this.#byAddress.delete(address)
      else this.#byAddress.set(address, left)
    }
  }
}

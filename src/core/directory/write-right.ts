import type { Clock } from '../base/clock.ts'
import type { Fence, FenceStore, Key } from '../store/engine.ts'

/** The permission under which an update is written, with the fence that protects it. */
export interface WriteRight {
  /** The fence, which was read before the permission was checked. Null if the permission has ended. */
  readonly fence: Fence | null
  /** Names of the marks and attributes whose content the holder must not change. Undefined: none. */
  readonly protects?: readonly string[] | undefined
  /** Checks the permission again. @throws ApiError if the permission has ended; StoreUnavailableError */
  recheck(): Promise<void>
}

interface FencedRightOptions {
  readonly fences: FenceStore
  readonly clock: Clock
  /** Fences that are raised when the permission may have ended. */
  readonly names: readonly Key[]
  /**
   * Checks the permission. Resolves with the time until which it is valid, in epoch milliseconds.
   * @throws ApiError if the permission has ended
   */
  readonly check: () => Promise<number>
  /** Another permission that is needed too; null if there is none. */
  readonly within: WriteRight | null
}

/** A permission that lasts until one of its fences is raised, or until the time that its check returns. */
export class FencedRight implements WriteRight {
  readonly #options: FencedRightOptions
  #own: Fence | null = null
  #until = 0

  private constructor(options: FencedRightOptions) {
    this.#options = options
  }

  /** Reads the fences and checks the permission, without the other permission. @throws the errors of `check` */
  static async read(options: FencedRightOptions): Promise<FencedRight> {
    const right = new FencedRight(options)
    await right.#readOwn()
    return right
  }

  get fence(): Fence | null {
    const { within, clock } = this.#options
    if (this.#own === null || clock.now() >= this.#until) return null
    if (within === null) return this.#own
    return within.fence === null ? null : [...within.fence, ...this.#own]
  }

  get protects(): WriteRight['protects'] {
    return this.#options.within?.protects
  }

  /** The errors of this permission come before those of the other one. */
  async recheck(): Promise<void> {
    await this.#readOwn()
    await this.#options.within?.recheck()
  }

  async #readOwn(): Promise<void> {
    const { fences, names, check } = this.#options
    this.#own = null
    const fence = await fences.read(names)
    this.#until = await check()
    this.#own = fence
  }
}

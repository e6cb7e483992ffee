import type { Clock } from '../../base/clock.ts'
import type { Tenant } from '../../model/address.ts'
import type { AccessChangeFeed } from '../access-change-feed.ts'

interface WatchedCaller {
  readonly tenant: Tenant
  /** Organization whose rights the caller uses; null if the caller needs only its credentials. */
  readonly organizationId: string | null
  /** Time at which the credentials end, in epoch milliseconds. Infinity if they do not end. */
  readonly validUntil: number
  /**
   * Checks the credentials and the rights again. Resolves with the present value of `validUntil`.
   * @throws ApiError if they have ended or cannot be checked now
   */
  readonly check: () => Promise<number>
  /** Receives the error of the first check that fails. No check follows. */
  readonly onRejected: (error: unknown) => void
}

/** Maximum time in ms between two checks. A change whose message the bus has lost is found after this time. */
const checkMsMax = 15_000
/** Minimum time in ms from a check to the next one that no change has caused. */
const checkMsMin = 50

/**
 * Checks the caller of an open connection again: when its credentials or rights may have changed, when its
 * credentials end, and every 15 s. Returns the function that ends the watch.
 */
export function watchCaller(
  watched: WatchedCaller,
  news: Pick<AccessChangeFeed, 'onWithdrawal' | 'onChange'>,
  clock: Clock,
): () => void {
  const watch = new CallerWatch(watched, news, clock)
  return () => watch.end()
}

class CallerWatch {
  readonly #watched: WatchedCaller
  readonly #clock: Clock
  readonly #unsubscribe: readonly (() => void)[]
  #state: 'waiting' | 'checking' | 'checking-old-state' | 'ended' = 'waiting'
  #cancelTimer = (): void => {}

  constructor(
    watched: WatchedCaller,
    news: Pick<AccessChangeFeed, 'onWithdrawal' | 'onChange'>,
    clock: Clock,
  ) {
    this.#watched = watched
    this.#clock = clock
    const { tenant, organizationId, validUntil } = watched
    this.#unsubscribe = [
      news.onWithdrawal((withdrawal) => {
        if (withdrawal === null || isSame(withdrawal.tenant, tenant)) this.#check()
      }),
      news.onChange((change) => {
        const isConcerned =
          change === null || (isSame(change.scope, tenant) && change.scope.organizationId === organizationId)
        if (organizationId !== null && isConcerned) this.#check()
      }),
    ]
    this.#checkLater(validUntil)
  }

  end(): void {
    this.#state = 'ended'
    this.#cancelTimer()
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
  }

  #checkLater(validUntil: number): void {
    const leftMs = validUntil - this.#clock.now()
    const ms = Math.max(checkMsMin, Math.min(checkMsMax, leftMs))
    this.#cancelTimer = this.#clock.after(ms, () => this.#check())
  }

  /** Starts a check. A change during a check causes one more check. */
  #check(): void {
    if (this.#state === 'ended') return
    if (this.#state !== 'waiting') {
      this.#state = 'checking-old-state'
      return
    }
    this.#state = 'checking'
    this.#cancelTimer()
    this.#watched.check().then(
      (validUntil) => this.#passed(validUntil),
      (error: unknown) => {
        if (this.#state === 'ended') return
        this.end()
        this.#watched.onRejected(error)
      },
    )
  }

  #passed(validUntil: number): void {
    if (this.#state === 'ended') return
    const isOld = this.#state === 'checking-old-state'
    this.#state = 'waiting'
    if (isOld) this.#check()
    else this.#checkLater(validUntil)
  }
}

const isSame = (one: Tenant, other: Tenant): boolean =>
  one.workspaceId === other.workspaceId && one.apiKey === other.apiKey

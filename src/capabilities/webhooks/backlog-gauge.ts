import type { Clock } from '../../core/base/clock.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import { targetName } from '../subscriptions/deliveries/delivery-keys.ts'
import type { TargetAddress } from '../subscriptions/deliveries/delivery-records.ts'

/** Interval in ms at which the metrics are updated. */
const showMs = 1_000

/** The messages that wait for one target. */
interface BacklogEntry {
  readonly pending: number
  /** Time of the oldest event in epoch milliseconds; null if no message waits. */
  readonly oldestAt: number | null
}

/**
 * Metrics of the messages that wait for the targets that this process has served. The numbers of a target are
 * read each time after it was served. After a restart, a target does not count until its next attempt is due.
 */
export class BacklogGauge {
  readonly #metrics: Metrics
  readonly #clock: Clock
  readonly #waiting = new Map<string, { readonly pending: number; readonly oldestAt: number }>()
  #cancelShow: () => void = () => {}

  constructor(metrics: Metrics, clock: Clock) {
    this.#metrics = metrics
    this.#clock = clock
  }

  seen(address: TargetAddress, { pending, oldestAt }: BacklogEntry): void {
    const name = targetName(address)
    if (oldestAt === null) this.#waiting.delete(name)
    else this.#waiting.set(name, { pending, oldestAt })
  }

  /** Updates the metrics now and at intervals. */
  start(): void {
    this.#show()
    this.#cancelShow = this.#clock.after(showMs, () => this.start())
  }

  stop(): void {
    this.#cancelShow()
  }

  #show(): void {
    const all = [...this.#waiting.values()]
    const oldest = all.reduce((least, { oldestAt }) => Math.min(least, oldestAt), this.#clock.now())
    this.#metrics.webhookPending.set(all.reduce((sum, { pending }) => sum + pending, 0))
    this.#metrics.webhookOldestPendingSeconds.set((this.#clock.now() - oldest) / 1000)
  }
}

import type { AttemptResult, Deliveries, Recorded, RetryRules } from '../subscriptions/deliveries.ts'
import type { TargetAddress } from '../subscriptions/delivery-records.ts'

/**
 * Records what came of attempts while the next ones are being made: what comes together is one commit. In the order
 * of the attempts; what a crash loses of it is sent again.
 */
export class Recording {
  readonly #deliveries: Deliveries
  readonly #address: TargetAddress
  readonly #rules: RetryRules
  readonly #recorded: (recorded: Recorded) => void
  #results: AttemptResult[] = []
  #running: Promise<void> | null = null
  #hasFailed = false

  /** @param recorded called with what each commit has come to */
  constructor(
    { deliveries, rules }: { readonly deliveries: Deliveries; readonly rules: RetryRules },
    address: TargetAddress,
    recorded: (recorded: Recorded) => void,
  ) {
    this.#deliveries = deliveries
    this.#address = address
    this.#rules = rules
    this.#recorded = recorded
  }

  add(result: AttemptResult): void {
    this.#results.push(result)
    this.#running ??= this.#run()
    // Whoever waits for `settled` is told.
    this.#running.catch(() => {
      this.#hasFailed = true
    })
  }

  /** Nothing is recorded any more. */
  get hasFailed(): boolean {
    return this.#hasFailed
  }

  /** Resolves when all is durable. @throws what recording throws: then the rest is not recorded */
  async settled(): Promise<void> {
    await this.#running
  }

  async #run(): Promise<void> {
    while (this.#results.length > 0) {
      const results = this.#results.splice(0)
      this.#recorded(await this.#deliveries.record(this.#address, results, this.#rules))
    }
    this.#running = null
  }
}

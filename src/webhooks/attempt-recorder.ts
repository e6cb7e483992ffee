import type { TargetAddress } from '../subscriptions/deliveries/delivery-records.ts'
import type {
  AttemptResult,
  DeliveryService,
  RecordedAttempt,
  RetryPolicy,
} from '../subscriptions/deliveries/delivery-service.ts'

/**
 * Records what came of attempts while the next ones are being made: what comes together is one commit. In the order
 * of the attempts; what a crash loses of it is sent again.
 */
export class AttemptRecorder {
  readonly #deliveries: DeliveryService
  readonly #address: TargetAddress
  readonly #rules: RetryPolicy
  readonly #recorded: (recorded: RecordedAttempt) => void
  #results: AttemptResult[] = []
  #running: Promise<void> | null = null
  #hasFailed = false

  /** @param recorded called with what each commit has come to */
  constructor(
    { deliveries, rules }: { readonly deliveries: DeliveryService; readonly rules: RetryPolicy },
    address: TargetAddress,
    recorded: (recorded: RecordedAttempt) => void,
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

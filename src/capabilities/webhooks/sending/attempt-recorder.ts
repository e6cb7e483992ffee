import type { TargetAddress } from '../deliveries/delivery-records.ts'
import type {
  AttemptResult,
  DeliveryService,
  RecordedAttempt,
  RetryPolicy,
} from '../deliveries/delivery-service.ts'

/**
 * Records the outcomes of attempts in order, while the next attempts run. One commit records all outcomes
 * that are ready. After a crash, messages whose outcome was not recorded are sent again.
 */
export class AttemptRecorder {
  readonly #deliveries: DeliveryService
  readonly #address: TargetAddress
  readonly #rules: RetryPolicy
  readonly #recorded: (recorded: RecordedAttempt) => void
  #results: AttemptResult[] = []
  #running: Promise<void> | null = null
  #hasFailed = false

  /**
   * Creates a recorder for one target.
   * @param recorded receives the result of each commit
   */
  constructor(
    deliveries: DeliveryService,
    rules: RetryPolicy,
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
    // `settled` throws this error to its caller.
    this.#running.catch(() => {
      this.#hasFailed = true
    })
  }

  /** True if a commit failed. Later outcomes are not recorded. */
  get hasFailed(): boolean {
    return this.#hasFailed
  }

  /**
   * Resolves when all outcomes are durable.
   * @throws the error of the commit that failed; later outcomes are not recorded
   */
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

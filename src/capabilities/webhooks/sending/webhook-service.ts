import type { Services } from '../../../rest/services.ts'
import { DeliveryWorker } from './delivery-worker.ts'
import { EventDispatcher } from './event-dispatcher.ts'
import { FailureLog } from './failure-log.ts'

/** Sends events to the webhooks, callbacks and feeds of API keys, and to the functions of this process. */
export class WebhookService {
  readonly #services: Services
  readonly #dispatcher: EventDispatcher
  readonly #worker: DeliveryWorker
  readonly #failures: FailureLog

  /** @param services the deliveries and the feed are added to them before the start */
  constructor(services: Services) {
    this.#services = services
    this.#failures = new FailureLog(services)
    this.#dispatcher = new EventDispatcher(services)
    this.#worker = new DeliveryWorker(services, this.#failures)
  }

  start(): void {
    const { deliveries, metrics } = this.#services
    deliveries.onDropped((address, outcome, messages) => {
      metrics.webhookMessages.inc({ outcome }, messages.length)
      for (const message of messages) this.#failures.dropped(address, message)
    })
    this.#dispatcher.start()
    this.#worker.start()
  }

  /**
   * Resolves when nothing is sent any more. Attempts in progress may take up to `graceMs`. The next start
   * continues with the remaining messages.
   */
  async stop(graceMs: number): Promise<void> {
    await Promise.all([this.#dispatcher.stop(), this.#worker.stop(graceMs)])
    this.#failures.end()
  }
}

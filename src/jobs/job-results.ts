import type { Bus } from '../engine/engine.ts'

/** What has become of a job. */
interface News {
  readonly jobId: string
  readonly outcome: 'done' | 'failed'
}

/** Tells those who wait for a job that another node has carried out what has become of it. It may be lost. */
export class JobResultBus {
  readonly #bus: Bus
  readonly #topic: string

  constructor(bus: Bus, queueName: string) {
    this.#bus = bus
    this.#topic = `work.${queueName}`
  }

  tell(jobId: string, outcome: News['outcome']): void {
    this.#bus.publish(this.#topic, Buffer.from(JSON.stringify({ jobId, outcome } satisfies News)))
  }

  /** Returns the function that ends it. */
  listen(listener: (jobId: string, outcome: News['outcome']) => void): () => void {
    return this.#bus.subscribe(this.#topic, (message) => {
      const { jobId, outcome } = JSON.parse(Buffer.from(message).toString()) as News
      listener(jobId, outcome)
      return undefined
    })
  }
}

import * as v from 'valibot'
import type { Bus } from '../engine/engine.ts'
import { readJson } from '../json.ts'

/** What has become of a job. */
interface News {
  readonly jobId: string
  readonly outcome: 'done' | 'failed'
}

const newsSchema = v.looseObject({ jobId: v.string(), outcome: v.picklist(['done', 'failed']) })

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
      const { jobId, outcome }: News = readJson(newsSchema, message)
      listener(jobId, outcome)
      return undefined
    })
  }
}

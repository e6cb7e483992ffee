import { readJson } from '../base/json.ts'
import * as s from '../base/schema.ts'
import type { Bus } from '../store/engine.ts'

/** Message about the outcome of a job. */
interface JobOutcome {
  readonly jobId: string
  readonly outcome: 'done' | 'failed'
}

const jobOutcomeSchema = s.object({ jobId: s.string, outcome: s.choice(['done', 'failed']) })

/** Publishes the outcomes of jobs, for nodes that wait for these jobs. The bus may lose such a message. */
export class JobResultBus {
  readonly #bus: Bus
  readonly #topic: string

  constructor(bus: Bus, queueName: string) {
    this.#bus = bus
    this.#topic = `work.${queueName}`
  }

  tell(jobId: string, outcome: JobOutcome['outcome']): void {
    this.#bus.publish(this.#topic, Buffer.from(JSON.stringify({ jobId, outcome } satisfies JobOutcome)))
  }

  /** Registers a listener for outcomes. Returns the function that removes the listener. */
  listen(listener: (jobId: string, outcome: JobOutcome['outcome']) => void): () => void {
    return this.#bus.subscribe(this.#topic, (message) => {
      const { jobId, outcome }: JobOutcome = readJson(jobOutcomeSchema, message)
      listener(jobId, outcome)
      return undefined
    })
  }
}

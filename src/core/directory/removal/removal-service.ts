import { randomUUID } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { TaskWorker, type WorkerEngine } from '../../jobs/task-worker.ts'
import type { Bus } from '../../store/engine.ts'
import { tenantPart } from '../organizations/organization-keys.ts'
import type { CascadeRemoval } from './cascade-removal.ts'
import {
  type KeptDeletion,
  type RemovalTask,
  removalJob,
  removalQueue,
  removalTaskSchema,
  removalTopic,
} from './removal-task.ts'

/** Result of a change that marks resources for removal. If `task` is null, there is nothing to remove. */
interface MarkedForRemoval<T> {
  readonly result: T
  readonly task: RemovalTask | null
}

/** Executes removals in the background. When a removal begins, publishes a message. */
export class RemovalService {
  readonly #bus: Bus
  readonly #worker: TaskWorker<RemovalTask>
  readonly #clock: Clock
  readonly #keepMs: number

  /** @param keepMs time for which deleted data can be restored; 0: it is deleted at once */
  constructor(engine: WorkerEngine, removal: CascadeRemoval, clock: Clock, log: Log, keepMs: number) {
    this.#bus = engine.bus
    this.#clock = clock
    this.#keepMs = keepMs
    this.#worker = new TaskWorker({
      engine,
      clock,
      log,
      queueName: removalQueue,
      schema: removalTaskSchema,
      partOf: ({ scope }) => tenantPart(scope),
      carryOut: (task, goOn) => removal.carryOut(task, goOn),
    })
  }

  /** Returns the deletion that keeps the data of a removal; no member if its data is deleted at once. */
  kept(id: string): { readonly kept?: KeptDeletion } {
    const deletedAt = this.#clock.now()
    return this.#keepMs === 0 ? {} : { kept: { id, deletedAt, expiresAt: deletedAt + this.#keepMs } }
  }

  /** Starts to claim removal jobs. */
  start(): void {
    this.#worker.start()
  }

  /** Resolves when no removal is running. The remaining removals continue after the next start. */
  stop(): Promise<void> {
    return this.#worker.stop()
  }

  /**
   * Runs `change`, publishes that the removal has begun, and waits until the removal has ended. `change` must
   * mark the resources and enqueue their removal with `jobId` as the id of the job.
   * @throws the errors of `change`, or the error of the removal; the removal then continues in the background
   */
  async await<T>(change: (jobId: string) => Promise<MarkedForRemoval<T>>): Promise<T> {
    const jobId = randomUUID()
    const done = this.#worker.expect(jobId)
    try {
      const { result, task } = await change(jobId)
      if (task !== null) removalTopic.publish(this.#bus, { kind: 'begun', task })
      this.#worker.checkRunning()
      if (task !== null) {
        this.#worker.insist(removalJob(jobId, task))
        await done
      }
      return result
    } finally {
      this.#worker.forget(jobId)
    }
  }
}

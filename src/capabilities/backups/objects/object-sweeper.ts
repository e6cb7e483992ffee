import type { Clock } from '../../../core/base/clock.ts'
import type { Log } from '../../../core/base/log.ts'
import { JobConsumer } from '../../../core/jobs/job-consumer.ts'
import type { Engine } from '../../../core/store/engine.ts'
import type { ObjectBlobs } from './object-blobs.ts'
import { type ObjectCheck, type ObjectIndex, objectQueue, readObjectCheck } from './object-index.ts'
import type { SealedObjects } from './sealed-objects.ts'

/** Interval in ms at which due checks are claimed. They are not urgent. */
const pollMs = 60_000
const atOnce = 8

interface ObjectSweeperOptions {
  readonly engine: Pick<Engine, 'queue'>
  readonly blobs: ObjectBlobs
  readonly index: ObjectIndex
  readonly objects: SealedObjects
  readonly clock: Clock
  readonly log: Log
}

/** Deletes the objects to which no blob refers. While the object storage cannot be used, the checks wait. */
export class ObjectSweeper {
  readonly #options: ObjectSweeperOptions
  readonly #checks: JobConsumer

  constructor(options: ObjectSweeperOptions) {
    this.#options = options
    const { engine, clock, log } = options
    this.#checks = new JobConsumer({
      queue: engine.queue,
      name: objectQueue,
      clock,
      log,
      pollMs,
      atOnce,
      carryOut: async ({ payload }) => this.#check(readObjectCheck(payload)),
    })
  }

  /** Also checks the place, so that the log has its problem before the first call needs it. */
  start(): void {
    void this.#options.objects.check().catch(() => undefined)
    this.#checks.start()
  }

  stop(): Promise<void> {
    return this.#checks.stop()
  }

  async #check(check: ObjectCheck): Promise<'done' | { readonly againAfterMs: number }> {
    const { blobs, index, objects } = this.#options
    const ms = await index.settlesInMs(check)
    if (ms === null) return 'done'
    if (ms > 0) return { againAfterMs: ms }
    if (await blobs.refersTo(check.key, check.name)) return 'done'
    await objects.delete(check.name)
    await index.remove(check)
    return 'done'
  }
}

import type { Clock } from '../../../core/base/clock.ts'
import type { Log } from '../../../core/base/log.ts'
import { JobConsumer } from '../../../core/jobs/job-consumer.ts'
import type { Engine } from '../../../core/store/engine.ts'
import { OpenCalls } from '../../../core/store/open-calls.ts'
import { notConfigured, ObjectBlobs } from './object-blobs.ts'
import { ObjectIndex, ObjectPlace, objectQueue, readObjectCheck } from './object-index.ts'
import { resolveDump } from './resolve-dump.ts'
import type { SealedObjects } from './sealed-objects.ts'

/** Interval in ms at which due checks are claimed. They are not urgent. */
const pollMs = 60_000
const atOnce = 8

export interface ObjectEngine {
  readonly engine: Engine
  /** Deletes objects that are not used any more; null without an object storage. */
  readonly sweeper: JobConsumer | null
}

/**
 * Returns an engine whose large blobs are objects. Its dump contains them, and `storedBytes` counts them. Closing it
 * closes the inner engine.
 * @param objects null: new contents stay in the engine, and references to objects cannot be read
 */
export function withObjects(
  inner: Engine,
  objects: SealedObjects | null,
  clock: Clock,
  log: Log,
): ObjectEngine {
  const index = new ObjectIndex(inner.kv, clock)
  const blobs = new ObjectBlobs(inner.blobs, index, objects, clock)
  objects?.belongTo(new ObjectPlace(inner.kv))
  const gate = new OpenCalls()
  let closing: Promise<void> | null = null
  const engine: Engine = {
    ...inner,
    blobs: {
      put: (key, bytes) => gate.run(() => blobs.put(key, bytes)),
      get: (key) => gate.run(() => blobs.get(key)),
      delete: (key) => gate.run(() => blobs.delete(key)),
      list: (prefix, options) => gate.run(() => blobs.list(prefix, options)),
    },
    storedBytes: async (under) => {
      const [own, inObjects] = await Promise.all([inner.storedBytes(under), index.storedBytes(under.blobs)])
      return own + inObjects
    },
    dump: () => {
      const dump = inner.dump()
      return dump === null ? null : resolveDump(dump, objects)
    },
    // A write of a blob consists of several calls of the inner engine.
    close: () => (closing ??= gate.close().then(() => inner.close())),
  }
  const sweeper =
    objects === null
      ? null
      : new JobConsumer({
          queue: inner.queue,
          name: objectQueue,
          clock,
          log,
          pollMs,
          atOnce,
          carryOut: ({ payload }) => blobs.sweep(readObjectCheck(payload), objects),
        })
  return { engine, sweeper }
}

/** Logs an error if blobs of the engine may refer to objects. For a server without an object storage. */
export async function warnOfMissingStorage({ kv }: Engine, clock: Clock, log: Log): Promise<void> {
  if (await new ObjectIndex(kv, clock).isEmpty()) return
  log.error({ event: 'objects.not_configured' }, notConfigured)
}

/** Returns a function that logs when the object storage cannot be used any more, and when it can be used again. */
export function problemLogger(log: Log): (problem: string | null) => void {
  return (problem) =>
    problem === null
      ? log.info({ event: 'objects.available' }, 'the object storage of saved versions can be used again')
      : log.warn(
          { event: 'objects.unavailable', reason: problem },
          'the object storage of saved versions cannot be used',
        )
}

import { decodeQueuedEvent, eventQueue } from '../../../src/core/events/outbound-event.ts'
import type { Engine, Job } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'

/** Opens an in-memory engine that records the event jobs that are enqueued. */
export async function openRecorded() {
  const [engine, jobs] = [await openMemoryEngine(), [] as Job[]]
  const kv: Engine['kv'] = {
    get: (part, keys) => engine.kv.get(part, keys),
    scan: (part, range) => engine.kv.scan(part, range),
    commit: async (part, commit) => {
      const isDone = await engine.kv.commit(part, commit)
      if (isDone) jobs.push(...(commit.jobs ?? []).filter(({ queue }) => queue === eventQueue))
      return isDone
    },
  }
  return { engine: { ...engine, kv }, told: () => jobs.map(({ payload }) => decodeQueuedEvent(payload)) }
}

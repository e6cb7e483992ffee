import type { Engine, Job } from '../../../src/engine/engine.ts'
import { openMemoryEngine } from '../../../src/engine/memory/engine.ts'
import { decodeQueuedEvent, eventQueue } from '../../../src/events/outbound-event.ts'

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

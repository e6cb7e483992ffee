import { expect, it } from 'vitest'
import { systemClock } from '../../../../src/core/base/clock.ts'
import { Generations } from '../../../../src/core/content/generations/generations.ts'
import { AppendBacklog, CommitQueue } from '../../../../src/core/rooms/log/commit-queue.ts'
import { loadRoom } from '../../../../src/core/rooms/log/load-room.ts'
import { RoomCompaction } from '../../../../src/core/rooms/log/room-compaction.ts'
import { StoreUnavailableError } from '../../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../../src/core/store/memory/engine.ts'
import { typed } from '../../../support/clients/clients.ts'
import { withLog } from '../../../support/stores/pausable-engine.ts'
import { listening } from './commit-listeners.ts'

it('schedules a compaction again after the store has failed to compact', async () => {
  const doc = ['a']
  let failures = 0
  const engine = withLog(await openMemoryEngine({ clock: systemClock }), (log) => ({
    compact: async (...parameters) => {
      failures += 1
      if (failures === 1) throw new StoreUnavailableError('the database is away')
      return log.compact(...parameters)
    },
  }))
  const { log } = engine
  await log.append(doc, 'create', [{ bytes: typed('x'.repeat(20_000), 1), by: '' }])
  const loaded = await loadRoom(log, doc)
  const room = {
    doc,
    state: loaded.state,
    commits: new CommitQueue(log, doc, loaded.loaded, new AppendBacklog(() => 0), listening()),
    whenEncoded: async <T>(use: (sliced: null) => T) => use(null),
    generations: new Generations([]),
    dependencies: {
      log,
      limits: { compactAfterUpdates: 500, keepVersionsMs: 0 },
      clock: systemClock,
      keepsAttribution: async () => true,
    },
  }
  const compaction = new RoomCompaction(room, loaded)
  await expect(compaction.run()).rejects.toThrow(StoreUnavailableError)
  expect(compaction.dueAtLeaving).toBe(true)
  await compaction.run()
  expect([(await log.heads([doc]))[0]?.base, compaction.dueAtLeaving]).toEqual([1, false])
  await engine.close()
})

import { expect, it } from 'vitest'
import { createLog } from '../../../../src/core/base/log.ts'
import { BackgroundCompaction, idleFactor } from '../../../../src/core/rooms/log/background-compaction.ts'
import { bulkyEntriesMin } from '../../../../src/core/rooms/log/compaction-policy.ts'
import { CorruptRecordError, type Key } from '../../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../../src/core/store/memory/engine.ts'
import { eventually } from '../../../support/clients/clients.ts'
import { withLog } from '../../../support/stores/pausable-engine.ts'
import { HeldClock } from '../../../support/time/clock.ts'
import { itLong } from '../../../support/time/full-run.ts'

const documents = 5
const keepVersionsMs = 600_000
const tookMs = 100

itLong('[STORE-14] compacts one due log at a time, with pauses for other work', async () => {
  const clock = new HeldClock()
  const engine = await openMemoryEngine({ clock })
  const begun: number[] = []
  const finish = async (_doc: Key) => {
    begun.push(clock.now())
    clock.advance(tookMs)
    return 'done' as const
  }
  const upkeep = new BackgroundCompaction(engine.log, clock, createLog('silent'), keepVersionsMs, finish)
  for (let index = 0; index < documents; index++) upkeep.note(['a', `d${index}`])
  await eventually(async () => {
    clock.advance(keepVersionsMs)
    return begun.length > 0
  })
  await eventually(async () => {
    clock.advance(tookMs / 10)
    return begun.length === documents
  })
  const gaps = begun.slice(1).map((at, index) => at - (begun[index] as number))
  for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual((1 + idleFactor) * tookMs)
  await upkeep.stop()
  await engine.close()
})

it('[STORE-14] after a start, reads the heads of several logs together, and those of the others if one log is damaged', async () => {
  const clock = new HeldClock()
  const docs = Array.from({ length: documents }, (_, index): Key => ['a', `d${index}`])
  const asked: number[] = []
  const engine = withLog(await openMemoryEngine({ clock }), (log) => ({
    heads: async (some) => {
      asked.push(some.length)
      if (some.some((doc) => doc[1] === 'd1')) throw new CorruptRecordError('a log is damaged')
      return log.heads(some)
    },
  }))
  for (const doc of docs) {
    const { epoch } = await engine.log.append(doc, 'create', [{ bytes: new Uint8Array([0, 0]), by: '' }])
    for (let entry = 0; entry < bulkyEntriesMin; entry++)
      await engine.log.append(doc, epoch, [{ bytes: new Uint8Array([0, 0]), by: '' }])
  }
  const finished: (string | undefined)[] = []
  const finish = async (doc: Key) => {
    finished.push(doc[1])
    return 'done' as const
  }
  const upkeep = new BackgroundCompaction(engine.log, clock, createLog('silent'), keepVersionsMs, finish)
  await eventually(async () => {
    clock.advance(keepVersionsMs)
    return finished.length === documents - 1
  })
  expect(finished).toEqual(['d0', 'd2', 'd3', 'd4'])
  expect(asked).toEqual([documents, 1, 1, 1, 1, 1])
  await upkeep.stop()
  await engine.close()
})

import { expect } from 'vitest'
import { createLog } from '../../../../src/core/base/log.ts'
import { BackgroundCompaction, idleFactor } from '../../../../src/core/rooms/log/background-compaction.ts'
import type { Key } from '../../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../../src/core/store/memory/engine.ts'
import { eventually } from '../../../support/clients/clients.ts'
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

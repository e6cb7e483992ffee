import { setImmediate as nextTick } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { WorkTurns } from '../../../src/core/quota/work-turns.ts'

it('[API-70] gives one caller a turn in each tick, and serves workspaces in rotation', async () => {
  const turns = new WorkTurns()
  const taken: string[] = []
  const work = async (workspaceId: string, times: number): Promise<void> => {
    for (let time = 0; time < times; time += 1) {
      await turns.next(workspaceId)
      taken.push(workspaceId)
    }
  }
  const all = Promise.all([work('busy', 2), work('busy', 2), work('quiet', 2)])
  for (let ticks = 1; ticks <= 6; ticks += 1) {
    await nextTick()
    expect(taken.length).toBe(ticks)
  }
  await all
  expect(taken).toEqual(['busy', 'quiet', 'busy', 'quiet', 'busy', 'busy'])
})

it('[LOAD-8] gives several turns in each tick in the same rotation', async () => {
  const turns = new WorkTurns(3)
  const taken: string[] = []
  const callers = ['busy', 'busy', 'busy', 'busy', 'quiet']
  for (const owner of callers) void turns.next(owner).then(() => taken.push(owner))
  await nextTick()
  expect(taken).toEqual(['busy', 'quiet', 'busy'])
  await nextTick()
  expect(taken).toEqual(['busy', 'quiet', 'busy', 'busy', 'busy'])
})

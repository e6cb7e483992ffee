import { setImmediate as nextTick } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { LoopSlices } from '../../../../src/core/rooms/document/loop-slices.ts'
import { TickScheduler } from '../../../../src/core/rooms/room/tick-scheduler.ts'

/** The shortest time of each slice. */
const sliceMs = 2

it('[ROOM-69] runs one slice at a time, of one workspace after the other, and rests after it for as long as it took', async () => {
  const rests: { readonly ms: number; readonly end: () => void }[] = []
  const rest = (ms: number) => new Promise<void>((end) => rests.push({ ms, end }))
  const slices = new LoopSlices(new TickScheduler(), rest)
  const begun: string[] = []
  const run = (workspaceId: string, name: string): Promise<string> =>
    slices.of(workspaceId)(() => {
      begun.push(name)
      for (const endsAt = performance.now() + sliceMs; performance.now() < endsAt; );
      return name
    })
  const results = Promise.all([run('a', 'a1'), run('a', 'a2'), run('a', 'a3'), run('b', 'b1')])
  for (const expected of [['a1'], ['a1', 'a2'], ['a1', 'a2', 'b1'], ['a1', 'a2', 'b1', 'a3']]) {
    while (rests.length === 0) await nextTick()
    expect(begun).toEqual(expected)
    expect(rests).toHaveLength(1)
    const rest = rests.pop()
    expect(rest?.ms).toBeGreaterThanOrEqual(sliceMs)
    rest?.end()
  }
  expect(await results).toEqual(['a1', 'a2', 'a3', 'b1'])
})

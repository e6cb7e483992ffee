import { expect, it } from 'vitest'
import { systemClock } from '../../src/core/base/clock.ts'

it('never fires a timer before its time on the clock of the server', async () => {
  const early = (ms: number): Promise<number> => {
    const dueAt = systemClock.now() + ms
    return new Promise((resolve) => {
      systemClock.after(ms, () => resolve(dueAt - systemClock.now()))
    })
  }
  const all: Promise<number>[] = []
  for (let count = 0; count < 500; count++) {
    // Timers start at all parts of a millisecond.
    await new Promise((resolve) => setImmediate(resolve))
    all.push(early(20 + (count % 50)))
  }
  expect(Math.max(...(await Promise.all(all)))).toBeLessThanOrEqual(0)
})

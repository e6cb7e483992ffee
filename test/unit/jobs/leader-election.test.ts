import { expect, it } from 'vitest'
import { openMemoryEngine } from '../../../src/engine/memory/engine.ts'
import { LeaderElection } from '../../../src/jobs/leader-election.ts'
import { createLog } from '../../../src/log.ts'
import { eventually } from '../../support/clients/clients.ts'
import { sharedNodes } from '../../support/servers/simulated-network.ts'
import { HeldClock } from '../../support/time/clock.ts'

it('[CS-21] another node follows one that is not heard of any more, and never before its time is over', async () => {
  const clock = new HeldClock()
  const store = await openMemoryEngine({ clock })
  const nodes = await sharedNodes(2, { clock, store })
  const begun: number[] = []
  /** The time of the first one stands still with it. */
  const clocks = [new HeldClock(clock.now()), clock]
  const stewards = nodes.map(
    ({ engine }, index) =>
      new LeaderElection({
        engine,
        name: 'something',
        clock: clocks[index] as HeldClock,
        log: createLog('silent'),
        begun: () => begun.push(index),
      }),
  ) as [LeaderElection, LeaderElection]
  stewards[0].start()
  await eventually(() => stewards[0].isOn)
  stewards[1].start()
  const turn = () => new Promise((resolve) => setTimeout(resolve, 2))
  for (let ms = 0; ms < 5_500; ms += 500) {
    clock.advance(500)
    await turn()
    expect(stewards[1].isOn).toBe(false)
  }
  await eventually(async () => {
    clock.advance(500)
    await turn()
    return stewards[1].isOn
  })
  expect(begun).toEqual([0, 1])
  // It wakes up, and finds out how late it is before it does anything.
  clocks[0]?.advance(20_000)
  expect(stewards[0].isOn).toBe(false)
  await stewards[0].stop()
  await turn()
  expect(stewards[1].isOn).toBe(true)
  await stewards[1].stop()
})

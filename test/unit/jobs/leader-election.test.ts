import { expect, it } from 'vitest'
import { createLog } from '../../../src/core/base/log.ts'
import { LeaderElection } from '../../../src/core/jobs/leader-election.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { QueueLeaseStore } from '../../../src/core/store/renewed-lease.ts'
import { eventually } from '../../support/clients/clients.ts'
import { sharedNodes } from '../../support/servers/simulated-network.ts'
import { HeldClock } from '../../support/time/clock.ts'

it('[CS-21] elects another node only after the lease of a silent leader has ended', async () => {
  const clock = new HeldClock()
  const store = await openMemoryEngine({ clock })
  const nodes = await sharedNodes(2, { clock, store })
  const begun: number[] = []
  /** The clock of the first node stops with it. */
  const clocks = [new HeldClock(clock.now()), clock]
  const elections = nodes.map(({ engine }, index) => {
    const ownClock = clocks[index] as HeldClock
    return new LeaderElection(
      { ...engine, leases: new QueueLeaseStore(engine.kv, engine.queue, ownClock) },
      'something',
      ownClock,
      createLog('silent'),
      () => begun.push(index),
    )
  }) as [LeaderElection, LeaderElection]
  elections[0].start()
  await eventually(() => elections[0].isLeader)
  elections[1].start()
  const turn = () => new Promise((resolve) => setTimeout(resolve, 2))
  for (let ms = 0; ms < 5_500; ms += 500) {
    clock.advance(500)
    await turn()
    expect(elections[1].isLeader).toBe(false)
  }
  await eventually(async () => {
    clock.advance(500)
    await turn()
    return elections[1].isLeader
  })
  expect(begun).toEqual([0, 1])
  // The node continues and notices the elapsed time before it does anything.
  clocks[0]?.advance(20_000)
  expect(elections[0].isLeader).toBe(false)
  await elections[0].stop()
  await turn()
  expect(elections[1].isLeader).toBe(true)
  await elections[1].stop()
})

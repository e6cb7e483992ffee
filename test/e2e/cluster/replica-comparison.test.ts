import { expect, it } from 'vitest'
import { createLog } from '../../../src/core/base/log.ts'
import { ReplicaSync } from '../../../src/core/rooms/replication/replica-sync.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { type SharedNode, sharedNodes } from '../../support/servers/simulated-network.ts'
import { withLog } from '../../support/stores/pausable-engine.ts'
import { HeldClock } from '../../support/time/clock.ts'

const closedRoom = {
  doc: ['a'],
  commits: { durableTo: 0, differs: () => false, catchUp: () => undefined },
  replica: { receive: () => undefined },
}

it('[CR-17] when the server closes, stops a running comparison of replicas with their logs', async () => {
  const clock = new HeldClock()
  const answers: ((heads: readonly null[]) => void)[] = []
  const heads = (): Promise<readonly null[]> => new Promise((resolve) => void answers.push(resolve))
  const [node] = await sharedNodes(1, {
    store: withLog(await openMemoryEngine({ clock }), () => ({ heads })),
  })
  const { engine } = node as SharedNode
  const open = new Map([['closed', { room: closedRoom }]])
  const copies = new ReplicaSync(engine, clock, createLog('silent'), open)
  clock.advance(4_000)
  expect(answers.length).toBe(1)
  copies.close()
  answers[0]?.([null])
  await new Promise((resolve) => setImmediate(resolve))
  clock.advance(4_000)
  expect(answers.length).toBe(1)
  await engine.close()
})

it('[CR-21] runs only one comparison of replicas with their logs at a time, even if the bus loses many messages', async () => {
  const clock = new HeldClock()
  const answers: ((heads: readonly null[]) => void)[] = []
  const heads = (): Promise<readonly null[]> => new Promise((resolve) => void answers.push(resolve))
  const [node] = await sharedNodes(1, {
    store: withLog(await openMemoryEngine({ clock }), () => ({ heads })),
  })
  const { engine, mend } = node as SharedNode
  const open = new Map([['closed', { room: closedRoom }]])
  const copies = new ReplicaSync(engine, clock, createLog('silent'), open)
  for (let losses = 0; losses < 5; losses += 1) {
    mend()
    clock.advance(4_000)
  }
  expect(answers.length).toBe(1)
  answers[0]?.([null])
  await new Promise((resolve) => setImmediate(resolve))
  clock.advance(250)
  expect(answers.length).toBe(2)
  copies.close()
  await engine.close()
})

import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { type Kv, StoreUnavailableError } from '../../../src/core/store/engine.ts'
import { eventually, type RawClient } from '../../support/clients/clients.ts'
import { presenceNodes } from '../../support/servers/node-presence.ts'
import type { SharedNode } from '../../support/servers/simulated-network.ts'
import { wantTold } from '../../support/servers/webhooks.ts'
import { openRecorded } from '../../support/stores/recorded-engine.ts'
import { HeldClock } from '../../support/time/clock.ts'

const awayMs = 10_000

/** Nodes with stopped clocks, and the events of visits. */
async function visitedNodes(count: number) {
  const { engine, told: recorded } = await openRecorded()
  const clock = new HeldClock(Math.floor(Date.now() / 1000) * 1000)
  const nodes = await presenceNodes(count, { store: engine, clock })
  await wantTold(nodes.at(0), ['presence.join', 'presence.leave'])
  const told = (): readonly string[] =>
    recorded()
      .filter(({ type }) => type.startsWith('presence.'))
      .map(({ type, actionUser }) => `${actionUser.userId} ${type.slice('presence.'.length)}`)
  /** Waits for these events, then checks that no others follow. */
  const tells = async (...visits: readonly string[]): Promise<void> => {
    await eventually(() => told().length >= visits.length, told)
    await pass(100)
    expect(told().toSorted()).toEqual(visits.toSorted())
  }
  /** Advances the clocks in steps, because one step may start timers for the next. */
  const pass = async (ms: number): Promise<void> => {
    for (let step = 0; step < 10; step++) {
      clock.advance(ms / 10)
      for (let turn = 0; turn < 5; turn++) await nextTurn()
    }
  }
  const leave = async (node: number, client: RawClient, left: readonly string[]): Promise<void> => {
    client.end()
    await client.closed
    await eventually(
      async () => (await nodes.get(node)).map(({ userId }) => userId).join() === left.join(),
      () => left,
    )
  }
  return { ...nodes, tells, pass, leave }
}

/** The node does nothing more. It still runs in this process and must not treat other nodes as dead. */
function die({ engine, cut }: SharedNode): void {
  const nodes = engine.cluster.nodes()
  Object.assign(engine.cluster, { nodes: () => nodes })
  cut()
}

it('[CP-10] records one join and one leave for a user who connects to several nodes and moves between them', async () => {
  const { raw, tells, pass, leave, stop } = await visitedNodes(3)
  const [first, second] = [await raw(0, 'ann'), await raw(1, 'ann')]
  await tells('ann join')
  await leave(0, first, ['ann'])
  await pass(2 * awayMs)
  await tells('ann join')
  second.end()
  await second.closed
  const third = await raw(2, 'ann')
  await pass(2 * awayMs)
  await tells('ann join')
  await leave(2, third, [])
  await pass(awayMs - 200)
  await tells('ann join')
  await pass(200)
  await tells('ann join', 'ann leave')
  await pass(2 * awayMs)
  await tells('ann join', 'ann leave')
  await stop()
})

it('[CP-11] when a node dies, records one leave for each of its users, unless the user is at another node', async () => {
  const { raw, call, tells, pass, leave, stop, at } = await visitedNodes(3)
  for (const userId of ['ann', 'bob']) await raw(1, userId)
  await call(1, 'add', { users: [{ userId: 'guest' }], ttlSeconds: 3_599 })
  await tells('ann join', 'bob join', 'guest join')
  die(at(1).node)
  const ann = await raw(0, 'ann')
  await pass(awayMs - 300)
  await tells('ann join', 'bob join', 'guest join')
  await pass(2 * awayMs)
  await tells('ann join', 'bob join', 'guest join', 'bob leave', 'guest leave')
  await leave(0, ann, [])
  await pass(2 * awayMs)
  await tells('ann join', 'bob join', 'guest join', 'bob leave', 'guest leave', 'ann leave')
  await stop()
})

it('[CP-11] records the leave of a user whose node died, even if the store was unavailable at first', async () => {
  const { raw, tells, pass, stop, at } = await visitedNodes(2)
  await raw(1, 'ann')
  await tells('ann join')
  const { kv } = at(0).node.engine
  const scan = kv.scan.bind(kv)
  let refused = 0
  const away: Kv['scan'] = async (part, range) => {
    if (part[0] !== 'visits') return scan(part, range)
    refused += 1
    throw new StoreUnavailableError('away')
  }
  Object.assign(kv, { scan: away })
  die(at(1).node)
  await pass(2 * awayMs)
  expect(refused).toBeGreaterThan(0)
  Object.assign(kv, { scan })
  await pass(60_000)
  await pass(2 * awayMs)
  await tells('ann join', 'ann leave')
  await stop()
})

it('[CP-12] records one join and one leave for a virtual user, whichever nodes receive the calls', async () => {
  const { raw, call, tells, pass, leave, stop } = await visitedNodes(3)
  const [ada] = [await raw(0, 'ada'), await raw(1, 'bob')]
  await call(2, 'add', { users: [{ userId: 'guest' }], ttlSeconds: 3_599 })
  await call(0, 'update', { users: [{ userId: 'guest', status: 'busy' }] })
  await tells('ada join', 'bob join', 'guest join')
  await raw(1, 'guest')
  await pass(2 * awayMs)
  await call(0, 'delete', { userIds: ['guest'] })
  await pass(2 * awayMs)
  await tells('ada join', 'bob join', 'guest join', 'guest leave')
  await leave(0, ada, ['bob'])
  await pass(2 * awayMs)
  await tells('ada join', 'bob join', 'guest join', 'guest leave', 'ada leave')
  await stop()
})

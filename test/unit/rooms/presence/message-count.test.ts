import { expect, it } from 'vitest'
import type { Bus } from '../../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../../src/core/store/memory/engine.ts'
import { RawClient, typed } from '../../../support/clients/clients.ts'
import { dataOf, startTestServer } from '../../../support/servers/server.ts'
import { document, Page, World } from './simulated-cluster.ts'

const isBucket = (topic: string): boolean => /^presence\.\d+$/.test(topic)

it('[CP-34] on a single node, publishes no presence and no live messages to the bus', async () => {
  const engine = await openMemoryEngine()
  const topics: string[] = []
  const bus: Bus = {
    publish: (topic, message) => {
      topics.push(topic)
      engine.bus.publish(topic, message)
    },
    subscribe: (...call) => engine.bus.subscribe(...call),
    onLoss: (listener) => engine.bus.onLoss(listener),
    flushed: () => engine.bus.flushed(),
    isConnected: true,
  }
  const server = await startTestServer({}, { engine: { ...engine, bus } })
  const ids = { organizationId: 'acme', documentId: 'doc' }
  const client = await RawClient.connect(
    `${server.wsUrl}/sync/acme/doc/main?token=${await server.token('ann')}`,
  )
  client.sendUpdate(typed('x', 1))
  client.sendAwareness(1, 1, { cursor: 1 })
  await client.roundTrip()
  dataOf(await server.post('/v2/presence/add', { ...ids, users: [{ userId: 'bob' }] }))
  dataOf(await server.post('/v2/livestate/broadcast', { ...ids, event: 'event' }))
  expect(topics.filter((topic) => /^(presence|nodes)\./.test(topic))).toEqual([])
  client.end()
  await server.stop()
})

it('[CP-25] publishes the cursor moves of a window in one message if another node is interested, and publishes none otherwise', async () => {
  const world = await World.of(3, () => [0])
  const [mover, watcher] = [new Page('ada', 1), new Page('bob', 2)]
  mover.connect(world.node(0))
  const move = async (): Promise<number> => {
    await world.pass(200)
    const before = world.node(0).published.filter(isBucket).length
    for (let step = 1; step <= 100; step++) {
      mover.show(step)
      await world.pass(4)
    }
    return world.node(0).published.filter(isBucket).length - before
  }
  expect(await move()).toBeLessThanOrEqual(1)
  watcher.connect(world.node(1))
  const messages = await move()
  expect(messages).toBeGreaterThan(5)
  expect(messages).toBeLessThanOrEqual(12)
  await world.pass(200)
  expect(watcher.awareness.getStates().get(1)).toMatchObject({ cursor: 100 })
  expect(world.node(2).topics.filter(isBucket)).toEqual([])
  for (const page of [mover, watcher]) {
    page.disconnect()
    page.destroy()
  }
  await world.pass(30_000)
  for (const node of world.nodes) {
    expect(node.topics.filter(isBucket)).toEqual([])
    expect(node.presence.presenceOf(document).replica.isOpen).toBe(false)
  }
  await world.end()
})

import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { RoomAwareness } from '../../../../src/core/rooms/awareness/room-awareness.ts'
import {
  mergeRestRecords,
  type RestUserRecord,
} from '../../../../src/core/rooms/presence/presence-records.ts'
import { restRecordsMax } from '../../../../src/core/rooms/presence/presence-replica.ts'
import { presenceAlone } from '../../../support/data/rooms.ts'
import { HeldClock } from '../../../support/time/clock.ts'
import { after, type History, type Run, type Step } from './reference-model.ts'
import { document, Page, World } from './simulated-cluster.ts'

const fair = [[0]]
const silenceMs = 100_000

/** Returns the users whom all nodes list after they have exchanged messages. */
async function listedAfter(steps: readonly Step[], weather: History['weather'] = fair): Promise<unknown> {
  let lists: (readonly string[])[] = []
  await after({ steps, weather, chance: 1 }, async ({ world }: Run) => {
    for (const each of world.nodes) await world.during(each.presence.entries(document))
    lists = world.nodes.map((each) => each.listed())
  })
  for (const list of lists) expect(list).toEqual(lists[0])
  return lists[0]
}

it('[CP-23] does not list a user who was deleted while connected, even if a node that knows of neither the socket nor the deletion updates the user', async () => {
  const listed = await listedAfter([
    { kind: 'add', user: 'ada', node: 1 },
    { kind: 'connect', page: 0, node: 0 },
    { kind: 'cut', node: 1 },
    { kind: 'delete', user: 'ada', node: 2 },
    { kind: 'update', user: 'ada', node: 1 },
  ])
  expect(listed).toEqual([])
})

it('[CP-23] after a user with a socket has left, no node lists the user as a virtual user, not even a node that knew nothing of the socket', async () => {
  const steps: readonly Step[] = [
    { kind: 'add', user: 'bob', node: 0 },
    { kind: 'connect', page: 1, node: 1 },
    { kind: 'add', user: 'ada', node: 2 },
    { kind: 'disconnect', page: 1 },
  ]
  expect(await listedAfter(steps, [[], [30], [1]])).toEqual(['ada rest'])
})

it('[CP-27] does not restore a deleted user at a node that receives the deletion late, even after an update at that node', async () => {
  const apart: readonly Step[] = [
    { kind: 'add', user: 'ada', node: 1 },
    { kind: 'add', user: 'bob', node: 0 },
    { kind: 'cut', node: 1 },
    { kind: 'pass', ms: silenceMs },
    { kind: 'delete', user: 'ada', node: 2 },
    { kind: 'update', user: 'ada', node: 1 },
    { kind: 'pass', ms: silenceMs },
  ]
  expect(await listedAfter(apart)).toEqual(['bob rest'])
  expect(await listedAfter([...apart, { kind: 'add', user: 'ada', node: 1 }])).toEqual([
    'ada rest',
    'bob rest',
  ])
})

it('[CP-27] does not restore a virtual user who connected and left while a node was separated', async () => {
  const listed = await listedAfter([
    { kind: 'connect', page: 3, node: 0 },
    { kind: 'add', user: 'ada', node: 1 },
    { kind: 'cut', node: 1 },
    { kind: 'connect', page: 0, node: 0 },
    { kind: 'pass', ms: silenceMs },
    { kind: 'disconnect', page: 0 },
    { kind: 'update', user: 'ada', node: 1 },
  ])
  expect(listed).toEqual(['eve socket'])
})

it('[CP-27] does not restore a deleted user even if the node that received the deletion has died', async () => {
  const listed = await listedAfter([
    { kind: 'connect', page: 3, node: 0 },
    { kind: 'add', user: 'ada', node: 1 },
    { kind: 'pass', ms: 200 },
    { kind: 'cut', node: 1 },
    { kind: 'delete', user: 'ada', node: 2 },
    { kind: 'pass', ms: 200 },
    { kind: 'cut', node: 2 },
    { kind: 'pass', ms: silenceMs },
    { kind: 'mend', node: 1 },
    { kind: 'pass', ms: silenceMs },
  ])
  expect(listed).toEqual(['eve socket'])
})

it('[CP-27] does not restore a user who was deleted at a node that had no contact with other nodes', async () => {
  const steps: readonly Step[] = [
    { kind: 'add', user: 'guest', node: 1 },
    { kind: 'cut', node: 0 },
    { kind: 'add', user: 'guest', node: 0 },
    { kind: 'add', user: 'ada', node: 1 },
    { kind: 'delete', user: 'guest', node: 0 },
  ]
  expect(await listedAfter(steps, [[]])).toEqual(['ada rest'])
})

it('[CP-30] deletes and connects users even if a node whose clock is hours ahead has written their records', async () => {
  const world = await World.of(2, () => [0])
  const { replica } = world.node(1).presence.presenceOf(document)
  const [now, ttlMs] = [world.clock.now(), 3_599_000]
  const at = now + 7_200_000
  const times = { at, addedAt: at, deletedAt: 0, arrivedAt: 0, lastSeen: now, ttlMs, keptUntil: now + ttlMs }
  for (const userId of ['ada', 'bob']) replica.writeRest({ kind: 'rest', userId, fields: {}, ...times })
  const { presence } = world.node(0)
  expect((await world.during(presence.entries(document))).map(({ userId }) => userId)).toEqual(['ada', 'bob'])
  expect(await world.during(presence.delete(document, ['ada']))).toBe(1)
  const bob = new Page('bob', 1)
  bob.connect(world.node(0))
  await world.pass(200)
  bob.disconnect()
  const messages = world.nodes.flatMap(({ published }) => published).length
  await world.pass(200)
  for (const each of world.nodes) expect(each.listed()).toEqual([])
  expect(world.nodes.flatMap(({ published }) => published).length - messages).toBeLessThan(10)
  bob.destroy()
  await world.end()
})

const stamp = fc.nat({ max: 3 })
const record: fc.Arbitrary<RestUserRecord> = fc.record({
  kind: fc.constant('rest' as const),
  userId: fc.constant('ada'),
  at: stamp,
  fields: fc.record({ status: fc.constantFrom('busy', 'away') }),
  ttlMs: stamp,
  lastSeen: stamp,
  deletedAt: stamp,
  addedAt: stamp,
  arrivedAt: stamp,
  keptUntil: stamp,
})

it('[CP-28] REST changes lead to the same state in any order and with repetitions', () => {
  fc.assert(
    fc.property(record, record, record, (one, two, three) => {
      expect(mergeRestRecords(one, two)).toEqual(mergeRestRecords(two, one))
      expect(mergeRestRecords(mergeRestRecords(one, two), three)).toEqual(
        mergeRestRecords(one, mergeRestRecords(two, three)),
      )
      expect(mergeRestRecords(one, mergeRestRecords(one, two))).toEqual(mergeRestRecords(one, two))
    }),
    { numRuns: 1_000 },
  )
})

it(`[CP-29] keeps deleted users for at most one minute if a document has more than ${restRecordsMax} users`, async () => {
  const world = await World.of(2, () => [0])
  const { presence } = world.node(0)
  const { replica } = presence.presenceOf(document)
  const known = (): number => replica.snapshots().flatMap(({ entries }) => entries).length
  const [batches, batchUsers] = [4, 300]
  for (let batch = 0; batch < batches; batch++) {
    const userIds = Array.from({ length: batchUsers }, (_, user) => `user-${batch}-${user}`)
    await world.during(
      presence.add(
        document,
        userIds.map((userId) => ({ userId })),
        3_599_000,
      ),
    )
    if (batch < batches - 1) await world.during(presence.delete(document, userIds))
  }
  expect(known()).toBe(batches * batchUsers)
  await world.pass(62_000)
  expect(known()).toBe(batchUsers)
  expect(world.node(0).listed()).toHaveLength(batchUsers)
  await world.end()
})

it('[CP-29] on a single node, drops the records of deleted users, even while a client is on the document', () => {
  const clock = new HeldClock()
  const registry = presenceAlone(clock)
  const presence = registry.presenceOf(document)
  const options = { members: new Set<never>(), presence, editorId: 'main', clock, windowMs: 40 }
  const room = new RoomAwareness({ ...options, hasContent: () => true, refused: () => {} })
  presence.add([{ userId: 'ada' }], 2_000)
  presence.delete(['ada'])
  expect(presence.replica.restRecord('ada')).not.toBeNull()
  for (let seconds = 0; seconds < 80; seconds++) clock.advance(1_000)
  expect(presence.replica.restRecord('ada')).toBeNull()
  expect(clock.pending).toBe(0)
  presence.add([{ userId: 'ada' }], 2_000)
  room.close()
  presence.delete(['ada'])
  expect(registry.presenceOf(document)).not.toBe(presence)
  expect(clock.pending).toBe(0)
  registry.close()
})

it('[CP-36] reads each record only a few times when many records are written', async () => {
  const world = await World.of(2, () => [0])
  const { replica } = world.node(0).presence.presenceOf(document)
  const [now, count] = [world.clock.now(), 2_000]
  const marks = { at: now, addedAt: now, deletedAt: 0, arrivedAt: 0, lastSeen: now, ttlMs: 60_000 }
  let reads = 0
  for (let index = 0; index < count; index++)
    replica.writeRest({
      kind: 'rest',
      userId: `user-${index}`,
      fields: {},
      ...marks,
      get keptUntil() {
        reads += 1
        return now + 60_000
      },
    })
  expect(reads).toBeLessThan(10 * count)
  await world.end()
})

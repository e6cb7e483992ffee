import { expect, it } from 'vitest'
import type { QueuedEvent } from '../../../src/core/events/outbound-event.ts'
import { eventually, RawClient, syncedEditor } from '../../support/clients/clients.ts'
import { dataOf, startTestServer } from '../../support/servers/server.ts'
import { wantTold } from '../../support/servers/webhooks.ts'
import { openRecorded } from '../../support/stores/recorded-engine.ts'
import { HeldClock } from '../../support/time/clock.ts'

const ids = { organizationId: 'acme', documentId: 'd' }
const awayMs = 10_000
const startedAt = Math.floor(Date.now() / 1000) * 1000

const presenceTypes = ['presence.join', 'presence.leave'] as const

/** A server on a store with recorded event jobs. An endpoint wants `types`, if there are any. */
async function world(types: readonly string[] = presenceTypes) {
  const { engine, told: recorded } = await openRecorded()
  const clock = new HeldClock(startedAt)
  const server = await startTestServer({}, { engine, clock })
  await wantTold(server, types)
  // Connecting does not create the document.
  dataOf(await server.post('/v2/crdt/add', { ...ids, editorId: 'main', type: 'text', data: '' }))
  const told: QueuedEvent[] = []
  const collect = async (): Promise<void> => void told.splice(0, told.length, ...visitsIn(recorded()))
  return {
    clock,
    server,
    collect,
    told,
    tells: (...visits: readonly string[]) =>
      eventually(
        async () => {
          await collect()
          return (
            JSON.stringify(told.map(({ type, data }) => `${nameIn(data)} ${type}`)) === JSON.stringify(visits)
          )
        },
        () => told,
      ),
    here: async (): Promise<readonly string[]> =>
      (dataOf(await server.post('/v2/presence/get', ids)) as { userId: string }[]).map(
        ({ userId }) => userId,
      ),
    call: async (name: string, data: object): Promise<unknown> =>
      dataOf(await server.post(`/v2/presence/${name}`, { ...ids, ...data })),
    connect: async (userId: string, editorId = 'main'): Promise<RawClient> => {
      const token = await server.token(userId)
      const client = await RawClient.connect(`${server.wsUrl}/sync/acme/d/${editorId}?token=${token}`)
      await client.roundTrip()
      return client
    },
  }
}

const nameIn = ({ user }: QueuedEvent['data']): string => (user as { userId: string }).userId

const visitsIn = (events: readonly QueuedEvent[]): readonly QueuedEvent[] =>
  events.filter(({ type }) => type.startsWith('presence.'))

it('[PRES-18] for a user with three connections, records one join when the first opens, and one leave some time after the last closes', async () => {
  const { clock, server, connect, here, tells, told, collect } = await world()
  const tabs = [await connect('ann'), await connect('ann', 'side')]
  await tells('ann presence.join')
  tabs.push(await connect('ann'))
  for (const tab of tabs) {
    expect(await here()).toEqual(['ann'])
    tab.end()
  }
  await eventually(async () => (await here()).length === 0)
  clock.advance(awayMs - 1)
  await collect()
  expect(told).toHaveLength(1)
  clock.advance(1)
  await tells('ann presence.join', 'ann presence.leave')
  const user = { userId: 'ann', name: 'ann', email: 'ann@example.com' }
  expect(told).toMatchObject(
    [
      { ...ids, documentId: 'd', actionUser: user, data: { user, source: 'socket' }, at: startedAt },
      { ...ids, documentId: 'd', actionUser: user, data: { user, source: 'socket' }, at: startedAt + awayMs },
    ].map(({ organizationId, ...event }) => ({ ...event, scope: { organizationId } })),
  )
  await server.stop()
})

it('[PRES-19] records neither leave nor join when a stock client reconnects within the delay', async () => {
  const { clock, server, here, tells, told, collect } = await world()
  const editor = await syncedEditor(server.wsUrl, 'acme/d/main', await server.token('ann'))
  await tells('ann presence.join')
  for (let time = 0; time < 3; time++) {
    editor.provider.disconnect()
    await eventually(async () => (await here()).length === 0)
    clock.advance(awayMs - 1)
    editor.provider.connect()
    await eventually(async () => (await here()).length === 1)
    clock.advance(awayMs + 1)
  }
  await collect()
  expect(told).toHaveLength(1)
  editor.close()
  await eventually(async () => (await here()).length === 0)
  clock.advance(awayMs)
  await tells('ann presence.join', 'ann presence.leave')
  await server.stop()
})

it('[PRES-20] records a join and a leave for a user who connects and leaves immediately', async () => {
  const { clock, server, connect, here, tells } = await world()
  const client = await connect('ann')
  client.end()
  await eventually(async () => (await here()).length === 0)
  await tells('ann presence.join')
  clock.advance(awayMs)
  await tells('ann presence.join', 'ann presence.leave')
  const again = await connect('ann')
  await tells('ann presence.join', 'ann presence.leave', 'ann presence.join')
  again.end()
  await server.stop()
})

it('[PRES-21] records a join when REST adds a user, a leave when the user is deleted or expires, and nothing for a websocket between them', async () => {
  const { clock, server, connect, call, here, tells, told } = await world()
  const client = await connect('bob')
  await tells('bob presence.join')
  await call('add', { users: [{ userId: 'ann', name: 'Ann' }], ttlSeconds: 20 })
  await tells('bob presence.join', 'ann presence.join')
  expect(told[1]?.data).toEqual({ user: { userId: 'ann', name: 'Ann' }, kind: 'user', source: 'rest' })
  const ann = await connect('ann')
  ann.end()
  await eventually(async () => (await here()).join() === 'bob')
  await call('add', { users: [{ userId: 'ann' }], ttlSeconds: 20 })
  await call('delete', { userIds: ['bob'] })
  clock.advance(awayMs)
  const before = ['bob presence.join', 'ann presence.join', 'bob presence.leave']
  await tells(...before)
  await call('add', { users: [{ userId: 'bob' }] })
  await tells(...before, 'bob presence.join')
  clock.advance(awayMs)
  expect(await here()).toEqual(['bob'])
  clock.advance(awayMs)
  await tells(...before, 'bob presence.join', 'ann presence.leave')
  client.end()
  await server.stop()
})

it('[PRES-22] stores no presence event if no endpoint subscribes to it', async () => {
  const leaves = await world(['presence.leave'])
  const client = await leaves.connect('ann')
  client.end()
  await eventually(async () => (await leaves.here()).length === 0)
  leaves.clock.advance(awayMs)
  await leaves.tells('ann presence.leave')
  await leaves.server.stop()
  const nothing = await world([])
  const other = await nothing.connect('ann')
  other.end()
  await eventually(async () => (await nothing.here()).length === 0)
  nothing.clock.advance(awayMs)
  await nothing.call('add', { users: [{ userId: 'bob' }] })
  await nothing.collect()
  expect(nothing.told).toEqual([])
  await nothing.server.stop()
})

it('[PRES-23] at shutdown, records a leave for a user who has already left, but no leave for a connected user', async () => {
  const { engine, told: recorded } = await openRecorded()
  const server = await startTestServer({}, { engine })
  await wantTold(server, presenceTypes)
  dataOf(await server.post('/v2/crdt/add', { ...ids, editorId: 'main', type: 'text', data: '' }))
  const connect = async (userId: string): Promise<RawClient> =>
    RawClient.connect(`${server.wsUrl}/sync/acme/d/main?token=${await server.token(userId)}`)
  const [gone, there] = [await connect('gone'), await connect('there')]
  await Promise.all([gone.roundTrip(), there.roundTrip()])
  const here = async () => dataOf(await server.post('/v2/presence/get', ids)) as { userId: string }[]
  gone.end()
  await eventually(async () => (await here()).length === 1)
  await server.stop()
  expect((await there.closed).code).toBe(1012)
  const told = visitsIn(recorded()).map(({ type, data }) => `${nameIn(data)} ${type}`)
  expect(told.toSorted()).toEqual(['gone presence.join', 'gone presence.leave', 'there presence.join'])
})

import { afterAll, beforeAll, expect, it } from 'vitest'
import { stateBytesMax } from '../../../src/core/update/awareness.ts'
import {
  eventually,
  type ProviderVersion,
  RawClient,
  syncedEditor,
  typed,
} from '../../support/clients/clients.ts'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
let ada: string
let eve: string
let documents = 0
const newPath = (): string => `acme/aware-${++documents}/main`
const url = (path: string, token: string): string => `${server.wsUrl}/sync/${path}?token=${token}`

beforeAll(async () => {
  server = await startTestServer()
  ada = await server.token('ada', { name: 'Ada' })
  eve = await server.token('eve', { name: 'Eve' })
})

afterAll(() => server.stop())

it('[AWA-1] shows the cursors of stock clients of every version to each other, and removes them on disconnect', async () => {
  const path = newPath()
  const versions: readonly ProviderVersion[] = [1, 2, 3]
  const editors = await Promise.all(
    versions.map((version) => syncedEditor(server.wsUrl, path, ada, { version })),
  )
  for (const [index, { provider }] of editors.entries())
    provider.awareness.setLocalStateField('cursor', { at: index })
  const cursorsSeenBy = (index: number): unknown[] =>
    [...(editors[index]?.provider.awareness.getStates().values() ?? [])]
      .map((state) => state.cursor?.at)
      .sort()
  await eventually(
    () => versions.every((_, index) => cursorsSeenBy(index).join() === '0,1,2'),
    () => versions.map((_, index) => cursorsSeenBy(index)),
  )
  editors[1]?.provider.destroy()
  await eventually(() => cursorsSeenBy(0).join() === '0,2' && cursorsSeenBy(2).join() === '0,2')
  for (const editor of editors) editor.close()
})

it('[AWA-2] sets the identity of a user from the token, and keeps other fields that the client sends', async () => {
  const path = newPath()
  const liar = await RawClient.connect(url(path, eve))
  const witness = await RawClient.connect(url(path, ada))
  liar.sendAwareness(5, 1, { user: { id: 'ada', name: 'Ada', color: 'red' }, cursor: 3 })
  await eventually(() => witness.awareness().length > 0)
  expect(witness.awareness()).toEqual([
    { clientId: 5, clock: 1, state: { user: { id: 'eve', name: 'Eve', color: 'red' }, cursor: 3 } },
  ])
  for (const client of [liar, witness]) client.end()
})

it('[AWA-3] accepts one client id per connection, drops states with other ids, and keeps the connection open', async () => {
  const path = newPath()
  const [first, second, witness] = [
    await RawClient.connect(url(path, ada)),
    await RawClient.connect(url(path, eve)),
    await RawClient.connect(url(path, ada)),
  ]
  first.sendAwareness(5, 1, { cursor: 1 })
  await eventually(() => witness.awareness().length === 1)
  second.sendAwareness(5, 2, { cursor: 'stolen' })
  second.sendAwareness(5, 3, null)
  second.sendAwareness(6, 1, { cursor: 2 })
  second.sendAwareness(7, 1, { cursor: 'another' })
  await eventually(() => witness.awareness().some(({ clientId }) => clientId === 6))
  await witness.roundTrip()
  expect(witness.awareness().map(({ clientId }) => clientId)).toEqual([5, 6])
  for (const client of [first, second, witness]) client.end()
})

it('[AWA-4] removes the states of a socket immediately when the socket closes', async () => {
  const path = newPath()
  const [guest, witness] = [await RawClient.connect(url(path, eve)), await RawClient.connect(url(path, ada))]
  guest.sendAwareness(5, 1, { cursor: 1 })
  await eventually(() => witness.awareness().length === 1)
  guest.end()
  await eventually(() => witness.awareness().at(-1)?.state === null)
  const late = await RawClient.connect(url(path, ada))
  await late.roundTrip()
  expect(late.awareness()).toEqual([])
  for (const client of [witness, late]) client.end()
})

it('[AWA-5] shows a client again after it reconnects with the same clock', async () => {
  const path = newPath()
  const [editor, watcher] = [
    await syncedEditor(server.wsUrl, path, ada),
    await syncedEditor(server.wsUrl, path, eve),
  ]
  editor.provider.awareness.setLocalStateField('cursor', 1)
  const seen = (): boolean => watcher.provider.awareness.getStates().has(editor.doc.clientID)
  await eventually(seen)
  editor.provider.disconnect()
  await eventually(() => !seen())
  editor.provider.connect()
  await eventually(seen)
  for (const each of [editor, watcher]) each.close()
})

it('[AWA-6] drops states that are not objects or exceed the maximum size or depth, and keeps the sender connected', async () => {
  const path = newPath()
  const [guest, witness] = [await RawClient.connect(url(path, eve)), await RawClient.connect(url(path, ada))]
  let deep: unknown = 1
  for (let level = 0; level < 40; level++) deep = [deep]
  for (const state of [
    'x'.repeat(stateBytesMax),
    { big: 'x'.repeat(stateBytesMax) },
    { deep },
    [1],
    7,
    'text',
  ]) {
    guest.sendAwareness(5, 1, state)
  }
  guest.sendAwareness(5, 2, JSON.parse('{"__proto__":{"polluted":1},"cursor":1}'))
  await eventually(() => witness.awareness().length > 0)
  expect(witness.awareness()).toMatchObject([{ clientId: 5, clock: 2, state: { cursor: 1 } }])
  expect(({} as { polluted?: number }).polluted).toBeUndefined()
  for (const client of [guest, witness]) client.end()
})

it('[AWA-7] sends a new client the state of every client once', async () => {
  const path = newPath()
  const [one, two] = [await RawClient.connect(url(path, ada)), await RawClient.connect(url(path, eve))]
  one.sendAwareness(1, 1, { cursor: 1 })
  two.sendAwareness(2, 1, { cursor: 2 })
  await eventually(() => one.awareness().some(({ clientId }) => clientId === 2))
  await eventually(() => two.awareness().some(({ clientId }) => clientId === 1))
  const newcomer = await RawClient.connect(url(path, ada))
  await newcomer.roundTrip()
  expect(
    newcomer
      .awareness()
      .map(({ clientId }) => clientId)
      .sort(),
  ).toEqual([1, 2])
  for (const client of [one, two, newcomer]) client.end()
})

it('[AWA-8] combines a hundred cursor moves of one client into a few messages, and the last message has the last move', async () => {
  const path = newPath()
  const [mover, witness] = [await RawClient.connect(url(path, ada)), await RawClient.connect(url(path, eve))]
  for (let clock = 1; clock <= 100; clock++) mover.sendAwareness(9, clock, { cursor: clock })
  await eventually(() => witness.awareness().at(-1)?.clock === 100)
  expect(witness.awareness().length).toBeLessThan(50)
  mover.sendUpdate(typed('x', 1))
  await mover.roundTrip()
  for (const client of [mover, witness]) client.end()
})

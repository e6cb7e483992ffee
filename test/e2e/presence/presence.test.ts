import { afterAll, beforeAll, expect, it } from 'vitest'
import type { PresenceEntry } from '../../../src/core/rooms/presence/presence-entry.ts'
import type { AwarenessEntry } from '../../../src/core/update/awareness.ts'
import {
  type Editor,
  eventually,
  type ProviderVersion,
  RawClient,
  syncedEditor,
} from '../../support/clients/clients.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { HeldClock } from '../../support/time/clock.ts'

let server: TestServer
let documents = 0

beforeAll(async () => {
  server = await startTestServer()
})

afterAll(() => server.stop())

/** Calls for a new document. */
async function newDocument(on = server) {
  const ids = { organizationId: 'acme', documentId: `presence-${++documents}` }
  const added = [{ documentId: ids.documentId }]
  await on.post('/v2/organizations/add', { organizations: [{ organizationId: 'acme' }] })
  dataOf(await on.post('/v2/organizations/documents/add', { organizationId: 'acme', documents: added }))
  const call = async (name: string, data: object): Promise<unknown> =>
    dataOf(await on.post(`/v2/presence/${name}`, { ...ids, ...data }))
  const get = async (data: object = {}) => (await call('get', data)) as readonly PresenceEntry[]
  return {
    ids,
    call,
    get,
    userIds: async () => (await get()).map(({ userId }) => userId),
    open: async (userId: string, version: ProviderVersion = 3, editorId = 'main'): Promise<Editor> =>
      syncedEditor(on.wsUrl, `acme/${ids.documentId}/${editorId}`, await on.token(userId), { version }),
    raw: async (userId: string): Promise<RawClient> =>
      RawClient.connect(`${on.wsUrl}/sync/acme/${ids.documentId}/main?token=${await on.token(userId)}`),
  }
}

interface Seen {
  readonly user?: { readonly id?: string; readonly name?: string; readonly status?: string }
  readonly cursor?: unknown
}

/** States that a client has, by user; `undefined` for a user without a state. */
const statesIn = ({ provider }: Editor): readonly Seen[] => [...provider.awareness.getStates().values()]
const seenIn = (editor: Editor, userId: string): Seen | undefined =>
  statesIn(editor).find(({ user }) => user?.id === userId)
const closeAll = (editors: readonly Editor[]): void => {
  for (const editor of editors) editor.close()
}

it('[PRES-1] stock clients of every version see a user that REST added, even if they connect later', async () => {
  const { open, call, get } = await newDocument()
  const editors = [await open('ada', 1), await open('bob', 2)]
  const users = [{ userId: 'ann', name: 'Ann', email: 'ann@example.com', status: 'away' }, { userId: 'joe' }]
  expect(await call('add', { users })).toEqual({ success: true })
  editors.push(await open('eve', 3))
  for (const editor of editors) {
    await eventually(() => seenIn(editor, 'ann') !== undefined && seenIn(editor, 'joe') !== undefined)
    expect(seenIn(editor, 'ann')).toEqual({
      user: {
        id: 'ann',
        name: 'Ann',
        status: 'away',
        kind: 'user',
        color: expect.stringMatching(/^#[0-9a-f]{6}$/),
      },
    })
    expect(seenIn(editor, 'joe')).toMatchObject({ user: { id: 'joe', name: '', status: 'online' } })
  }
  expect(await get({ userIds: ['ann', 'joe'] })).toMatchObject([
    { ...users[0], source: 'rest', editorIds: [] },
    { userId: 'joe', name: '', email: '', status: 'online', source: 'rest', editorIds: [] },
  ])
  await call('update', { users: [{ userId: 'ann', status: 'offline' }] })
  for (const editor of editors) await eventually(() => seenIn(editor, 'ann')?.user?.status === 'offline')
  await call('delete', { userIds: ['ann'] })
  for (const editor of editors) await eventually(() => seenIn(editor, 'ann') === undefined)
  for (const editor of editors) expect(seenIn(editor, 'joe')).toBeDefined()
  closeAll(editors)
})

it('[PRES-2] sends a status that REST has set to every client, and keeps the status when the cursor of the user moves', async () => {
  const { open, call, get } = await newDocument()
  const editors = [await open('ada', 1), await open('bob', 2), await open('eve', 3)]
  for (const [index, { provider }] of editors.entries()) {
    provider.awareness.setLocalState({ user: { color: 'red' }, cursor: index })
    for (const each of editors) await eventually(() => statesIn(each).some(({ cursor }) => cursor === index))
  }
  for (const [index, userId] of ['ada', 'bob', 'eve'].entries()) {
    const { provider } = editors[index] as Editor
    expect(await call('update', { users: [{ userId, status: `busy ${index}` }] })).toEqual({ success: true })
    const shows = (status: string, cursor: unknown): Promise<unknown> =>
      Promise.all(
        editors.map((editor) =>
          eventually(
            () =>
              seenIn(editor, userId)?.user?.status === status && seenIn(editor, userId)?.cursor === cursor,
            () => statesIn(editor),
          ),
        ),
      )
    await shows(`busy ${index}`, index)
    provider.awareness.setLocalStateField('cursor', 'moved')
    await shows(`busy ${index}`, 'moved')
    provider.awareness.setLocalState({ user: { color: 'blue' }, cursor: 'anew' })
    await shows(`busy ${index}`, 'anew')
    expect(seenIn(editors[0] as Editor, userId)?.user).toMatchObject({ color: 'blue', name: userId })
    provider.awareness.setLocalStateField('cursor', index)
    await shows(`busy ${index}`, index)
  }
  expect((await get()).map(({ status, source }) => [status, source])).toEqual([
    ['busy 0', 'socket'],
    ['busy 1', 'socket'],
    ['busy 2', 'socket'],
  ])
  closeAll(editors)
})

it('[PRES-2] if REST sets a status before a client sends its first state, adds the status to that state', async () => {
  const { raw, call } = await newDocument()
  const [quiet, witness] = [await raw('quiet'), await raw('witness')]
  await Promise.all([quiet.roundTrip(), witness.roundTrip()])
  await call('update', { users: [{ userId: 'quiet', status: 'away' }] })
  quiet.sendAwareness(5, 1, { cursor: 1 })
  for (const client of [quiet, witness]) {
    await eventually(() => client.awareness().length > 0)
    expect(client.awareness()).toEqual([
      { clientId: 5, clock: 2, state: { cursor: 1, user: { id: 'quiet', name: 'quiet', status: 'away' } } },
    ])
  }
  for (const client of [quiet, witness]) client.end()
})

it('[PRES-3] keeps a virtual user for the given time, counted from the last update', async () => {
  const clock = new HeldClock(Math.floor(Date.now() / 1000) * 1000)
  const held = await startTestServer({}, { clock })
  const { call, userIds, raw } = await newDocument(held)
  const witness = await raw('witness')
  await witness.roundTrip()
  await call('add', { users: [{ userId: 'short' }], ttlSeconds: 2 })
  await call('add', { users: [{ userId: 'usual' }] })
  clock.advance(1_999)
  expect(await userIds()).toEqual(['short', 'usual', 'witness'])
  const idOf = (userId: string): number | undefined =>
    witness.awareness().find(({ state }) => (state?.user as { id?: string } | undefined)?.id === userId)
      ?.clientId
  await eventually(() => idOf('short') !== undefined)
  clock.advance(1)
  expect(await userIds()).toEqual(['usual', 'witness'])
  clock.advance(1_000)
  await eventually(() =>
    witness.awareness().some(({ clientId, state }) => clientId === idOf('short') && state === null),
  )
  clock.advance(56_999)
  await call('update', { users: [{ userId: 'usual', status: 'away' }] })
  clock.advance(59_999)
  expect(await userIds()).toEqual(['usual', 'witness'])
  clock.advance(1)
  expect(await userIds()).toEqual(['witness'])
  witness.end()
  await held.stop()
})

it('[PRES-4] renews virtual users before stock clients drop them after 30 s', async () => {
  const clock = new HeldClock(Math.floor(Date.now() / 1000) * 1000)
  const held = await startTestServer({}, { clock })
  const { call, raw } = await newDocument(held)
  const witness = await raw('witness')
  await witness.roundTrip()
  await call('add', { users: [{ userId: 'ann' }], ttlSeconds: 3_599 })
  for (let renewal = 1; renewal <= 3; renewal++) {
    const before = witness.awareness().at(-1)?.clock ?? 0
    clock.advance(15_000)
    clock.advance(40)
    await eventually(() => (witness.awareness().at(-1)?.clock ?? 0) > before)
  }
  expect(new Set(witness.awareness().map(({ clientId }) => clientId)).size).toBe(1)
  witness.end()
  await held.stop()
})

it('[PRES-5] does not show a deleted user until the user connects again or REST adds the user', async () => {
  const { open, call, userIds } = await newDocument()
  const [ada, bob] = [await open('ada'), await open('bob')]
  ada.provider.awareness.setLocalStateField('cursor', 1)
  bob.provider.awareness.setLocalStateField('cursor', 1)
  await eventually(() => seenIn(bob, 'ada') !== undefined && seenIn(ada, 'bob') !== undefined)
  const moves = async (cursor: number): Promise<void> => {
    ada.provider.awareness.setLocalStateField('cursor', cursor)
    bob.provider.awareness.setLocalStateField('cursor', cursor)
    await eventually(() => seenIn(ada, 'bob')?.cursor === cursor)
  }
  expect(await call('delete', { userIds: ['ada', 'nobody'] })).toEqual({ success: true })
  await eventually(() => seenIn(bob, 'ada') === undefined)
  await moves(2)
  expect(seenIn(bob, 'ada')).toBeUndefined()
  expect(await userIds()).toEqual(['bob'])
  expect(await call('delete', { userIds: ['ada'] })).toEqual({ success: true })
  expect(await call('update', { users: [{ userId: 'ada', status: 'away' }] })).toEqual({ success: false })
  ada.provider.disconnect()
  ada.provider.connect()
  await eventually(() => seenIn(bob, 'ada')?.cursor === 2)
  await eventually(async () => (await userIds()).join() === 'ada,bob')
  await call('delete', { userIds: ['ada'] })
  await eventually(() => seenIn(bob, 'ada') === undefined)
  await moves(3)
  await call('add', { users: [{ userId: 'ada', status: 'back' }] })
  await eventually(() => seenIn(bob, 'ada')?.cursor === 3 && seenIn(bob, 'ada')?.user?.status === 'back')
  closeAll([ada, bob])
})

it('[PRES-5] when REST adds a deleted user again, shows the connections of the user from before and after the deletion', async () => {
  const { open, call, get } = await newDocument()
  const [old, bob] = [await open('ada', 3, 'main'), await open('bob', 3, 'main')]
  old.provider.awareness.setLocalStateField('cursor', 1)
  await eventually(() => seenIn(bob, 'ada')?.cursor === 1)
  await call('delete', { userIds: ['ada'] })
  await eventually(() => seenIn(bob, 'ada') === undefined)
  const fresh = await open('ada', 3, 'side')
  expect(await get({ userIds: ['ada'] })).toMatchObject([{ editorIds: ['side'] }])
  await call('add', { users: [{ userId: 'ada' }] })
  expect(await get({ userIds: ['ada'] })).toMatchObject([{ editorIds: ['main', 'side'] }])
  await eventually(() => seenIn(bob, 'ada')?.cursor === 1)
  closeAll([old, bob, fresh])
})

it('[PRES-6] a user has one presence for all editors of a document, until the last socket of the user closes', async () => {
  const { open, call, get, userIds } = await newDocument()
  const [one, two, other] = [
    await open('ada', 3, 'main'),
    await open('ada', 2, 'side'),
    await open('bob', 1, 'side'),
  ]
  for (const { provider } of [one, two]) provider.awareness.setLocalStateField('cursor', 1)
  await call('update', { users: [{ userId: 'ada', status: 'away' }] })
  await call('add', { users: [{ userId: 'ann' }] })
  for (const editor of [one, two, other])
    await eventually(
      () => seenIn(editor, 'ada')?.user?.status === 'away' && seenIn(editor, 'ann') !== undefined,
    )
  expect(await get({ userIds: ['ada'] })).toMatchObject([{ editorIds: ['main', 'side'], status: 'away' }])
  one.close()
  await eventually(async () => (await get({ userIds: ['ada'] }))[0]?.editorIds.join() === 'side')
  expect(await get({ userIds: ['ada'] })).toMatchObject([{ source: 'socket', status: 'away' }])
  expect(seenIn(other, 'ada')).toMatchObject({ cursor: 1, user: { status: 'away' } })
  two.close()
  await eventually(async () => (await userIds()).join() === 'ann,bob')
  await eventually(() => seenIn(other, 'ada') === undefined)
  expect(seenIn(other, 'ann')).toBeDefined()
  other.close()
  await eventually(async () => (await userIds()).join() === 'ann')
})

it('[PRES-7] when a virtual user connects, shows the user as connected with the values of REST, until the websocket closes', async () => {
  const { open, call, get, userIds } = await newDocument()
  const witness = await open('witness')
  await call('add', { users: [{ userId: 'ann', status: 'away' }], ttlSeconds: 3_599 })
  await eventually(() => seenIn(witness, 'ann') !== undefined)
  const ann = await open('ann')
  ann.provider.awareness.setLocalStateField('cursor', 7)
  await eventually(() => seenIn(witness, 'ann')?.cursor === 7)
  expect(statesIn(witness).filter(({ user }) => user?.id === 'ann')).toMatchObject([
    { cursor: 7, user: { status: 'away' } },
  ])
  expect(await get({ userIds: ['ann'] })).toMatchObject([
    { name: 'ann', email: 'ann@example.com', status: 'away', source: 'socket', editorIds: ['main'] },
  ])
  ann.close()
  await eventually(async () => (await userIds()).join() === 'witness')
  await eventually(() => seenIn(witness, 'ann') === undefined)
  witness.close()
})

it('[PRES-8] ignores states that a socket sends for a virtual user', async () => {
  const { call, raw } = await newDocument()
  await call('add', { users: [{ userId: 'ann' }] })
  const [liar, witness] = [await raw('liar'), await raw('witness')]
  await liar.roundTrip()
  const { clientId, clock } = liar.awareness()[0] as AwarenessEntry
  liar.sendAwareness(clientId, clock + 1, { user: { status: 'hacked' } })
  liar.sendAwareness(clientId, clock + 2, null)
  await liar.roundTrip()
  await call('delete', { userIds: ['ann'] })
  liar.sendAwareness(clientId, clock + 5, { user: { status: 'hacked' } })
  liar.sendAwareness(9, 1, { cursor: 1 })
  await eventually(() => witness.awareness().some((entry) => entry.clientId === 9))
  expect(JSON.stringify(witness.awareness())).not.toContain('hacked')
  expect(witness.awareness().filter((entry) => entry.clientId === clientId)).toMatchObject([
    { state: { user: { id: 'ann' } } },
    { state: null },
  ])
  for (const client of [liar, witness]) client.end()
})

it('[PRES-9] when a document is deleted, removes all its users', async () => {
  const { ids, call, get } = await newDocument()
  await call('add', { users: [{ userId: 'ann' }] })
  const { organizationId, documentId } = ids
  await server.post('/v2/organizations/documents/delete', { organizationId, documentIds: [documentId] })
  const again = await server.post('/v2/presence/get', ids)
  expect(again.body.error?.status).toBe('NOT_FOUND')
  await server.post('/v2/organizations/documents/add', { organizationId, documents: [{ documentId }] })
  expect(await get()).toEqual([])
})

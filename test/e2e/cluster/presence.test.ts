import { expect, it } from 'vitest'
import { type Editor, eventually, type ProviderVersion, RawClient } from '../../support/clients/clients.ts'
import { allSee, presenceNodes, seenIn } from '../../support/servers/node-presence.ts'
import { dataOf } from '../../support/servers/server.ts'

// The tests run at the same time, because some wait until stock clients renew their states after 15 to 18 s.
const closeAll = (editors: readonly Editor[]): void => {
  for (const editor of editors) editor.close()
}

it.concurrent('[CP-1] shows clients of all nodes to each other with names from their tokens, and removes them when they disconnect', async () => {
  const { open, stop } = await presenceNodes(3)
  const versions: readonly ProviderVersion[] = [1, 2, 3]
  const editors = await Promise.all(versions.map((version, node) => open(node, `user-${node}`, version)))
  await allSee(editors, 'user-0,user-1,user-2')
  const [first, second, third] = editors as [Editor, Editor, Editor]
  second.provider.awareness.setLocalState({ cursor: 7, user: { id: 'user-0', color: 'red' } })
  for (const editor of [first, third]) await eventually(() => seenIn(editor, 'user-1')?.cursor === 7)
  expect(seenIn(first, 'user-1')).toEqual({ cursor: 7, user: { id: 'user-1', name: 'user-1', color: 'red' } })
  second.close()
  await allSee([first, third], 'user-0,user-2')
  closeAll([first, third])
  await stop()
})

it.concurrent('[CP-2] applies a presence update that REST sends to any node: all clients see it, and all nodes return it', async () => {
  const { open, call, get, stop } = await presenceNodes(3)
  const editors = [await open(0, 'ada'), await open(1, 'bob')]
  await allSee(editors, 'ada,bob')
  expect(
    await call(2, 'update', { users: [{ userId: 'ada', status: 'busy' }, { userId: 'nobody' }] }),
  ).toEqual({
    success: true,
  })
  for (const editor of editors) await eventually(() => seenIn(editor, 'ada')?.user?.status === 'busy')
  for (const node of [0, 1, 2])
    expect(await get(node)).toMatchObject([
      { userId: 'ada', status: 'busy', source: 'socket', editorIds: ['main'], email: 'ada@example.com' },
      { userId: 'bob', status: 'online', source: 'socket' },
    ])
  expect(await call(1, 'update', { users: [{ userId: 'ada', name: 'Ada L.' }] })).toEqual({ success: true })
  await eventually(() => seenIn(editors[1] as Editor, 'ada')?.user?.name === 'Ada L.')
  expect(await get(2, { userIds: ['ada'] })).toMatchObject([{ name: 'Ada L.', status: 'busy' }])
  expect(await call(2, 'update', { users: [{ userId: 'nobody' }] })).toEqual({ success: false })
  closeAll(editors)
  await stop()
})

it.concurrent('[CP-2] when a user connects to another node, keeps the values that REST has set until the last socket of the user closes', async () => {
  const { open, call, get, stop } = await presenceNodes(2)
  const [ada, bob] = [await open(0, 'ada'), await open(1, 'bob')]
  await call(1, 'update', { users: [{ userId: 'ada', status: 'busy' }] })
  const again = await open(1, 'ada')
  await eventually(() => seenIn(again, 'ada')?.user?.status === 'busy')
  ada.close()
  await allSee([bob, again], 'ada,bob')
  expect(await get(0, { userIds: ['ada'] })).toMatchObject([{ status: 'busy' }])
  again.close()
  await allSee([bob], 'bob')
  // The other node may receive it later than the clients of this one.
  for (const node of [0, 1])
    await eventually(async () => (await get(node)).map(({ userId }) => userId).join() === 'bob')
  const back = await open(0, 'ada')
  await allSee([bob, back], 'ada,bob')
  expect(seenIn(bob, 'ada')?.user?.status).toBeUndefined()
  for (const node of [0, 1])
    expect(await get(node, { userIds: ['ada'] })).toMatchObject([{ status: 'online' }])
  closeAll([bob, back])
  await stop()
})

it.concurrent('[CP-3] when REST deletes a user at any node, no node shows the user until the user connects again or REST adds the user', async () => {
  const { open, call, get, stop } = await presenceNodes(3)
  const [ada, bob] = [await open(0, 'ada'), await open(1, 'bob')]
  await allSee([ada, bob], 'ada,bob')
  expect(await call(1, 'delete', { userIds: ['ada'] })).toEqual({ success: true })
  await allSee([bob], 'bob')
  for (const node of [0, 1, 2]) expect(await get(node)).toMatchObject([{ userId: 'bob' }])
  expect(await call(2, 'delete', { userIds: ['ada'] })).toEqual({ success: true })
  expect(await call(2, 'update', { users: [{ userId: 'ada' }] })).toEqual({ success: false })
  const fresh = await open(2, 'ada')
  await allSee([bob], 'ada,bob')
  expect(await call(1, 'update', { users: [{ userId: 'ada', status: 'busy' }] })).toEqual({ success: true })
  expect(await get(0, { userIds: ['ada'] })).toMatchObject([{ status: 'busy' }])
  await call(2, 'add', { users: [{ userId: 'ada' }] })
  await allSee([bob], 'ada,ada,bob')
  closeAll([ada, bob, fresh])
  await stop()
})

it.concurrent('[CP-4] shows virtual users at all nodes, and turns a virtual user who connects into a connected user at all nodes', async () => {
  const { open, call, get, stop } = await presenceNodes(3)
  const [ada, bob] = [await open(0, 'ada'), await open(1, 'bob')]
  await call(2, 'add', { users: [{ userId: 'ann', name: 'Ann', status: 'away' }, { userId: 'joe' }] })
  await allSee([ada, bob], 'ada,ann,bob,joe')
  expect(seenIn(ada, 'ann')).toMatchObject({ user: { id: 'ann', name: 'Ann', status: 'away' } })
  await call(0, 'update', { users: [{ userId: 'ann', status: 'back' }] })
  await eventually(() => seenIn(bob, 'ann')?.user?.status === 'back')
  for (const node of [0, 1, 2])
    expect(await get(node, { userIds: ['ann'] })).toMatchObject([
      { name: 'Ann', status: 'back', source: 'rest' },
    ])
  const ann = await open(1, 'ann')
  await eventually(() => seenIn(ada, 'ann')?.cursor === 'ann')
  await allSee([ada, bob, ann], 'ada,ann,bob,joe')
  expect(seenIn(ada, 'ann')?.user?.status).toBe('back')
  for (const node of [0, 1, 2])
    expect(await get(node, { userIds: ['ann'] })).toMatchObject([{ source: 'socket' }])
  ann.close()
  await allSee([ada, bob], 'ada,bob,joe')
  // A node may receive the end of the connection later than its clients receive the removal of the state.
  for (const node of [0, 1, 2])
    await eventually(async () => (await get(node, { userIds: ['ann'] })).length === 0)
  expect(await call(1, 'delete', { userIds: ['joe'] })).toEqual({ success: true })
  await allSee([ada, bob], 'ada,bob')
  closeAll([ada, bob])
  await stop()
})

it.concurrent('[CP-5] when nodes stop, their clients are absent until they are back, and the remaining clients see each other', async () => {
  const { open, call, get, stop, at } = await presenceNodes(3)
  const [ada, bob, eve] = [await open(0, 'ada'), await open(1, 'bob'), await open(2, 'eve')]
  await allSee([ada, bob, eve], 'ada,bob,eve')
  // At least the second stop is that of the owner, or the last node has owned the document all along.
  await at(0).stop()
  ada.close()
  await allSee([bob, eve], 'bob,eve')
  await at(1).stop()
  bob.close()
  await allSee([eve], 'eve')
  await call(2, 'add', { users: [{ userId: 'ann' }] })
  await allSee([eve], 'ann,eve')
  expect((await get(2)).map(({ userId }) => userId)).toEqual(['ann', 'eve'])
  eve.close()
  await stop()
})

it.concurrent('[CP-6] after a client moves to another node, shows it only once, even if its first connection is still open', async () => {
  const { open, raw, stop } = await presenceNodes(2)
  const watchers = [await open(0, 'ada'), await open(1, 'bob')]
  const first = await raw(0, 'eve')
  first.sendAwareness(5, 3, { cursor: 1, user: { name: 'eve' } })
  await allSee(watchers, 'ada,bob,eve')
  const second = await raw(1, 'eve')
  second.sendAwareness(5, 3, { cursor: 1, user: { name: 'eve' } })
  await second.roundTrip()
  second.sendAwareness(5, 4, { cursor: 2 })
  for (const watcher of watchers) await eventually(() => seenIn(watcher, 'eve')?.cursor === 2)
  first.end()
  await allSee(watchers, 'ada,bob,eve')
  const third = await raw(0, 'eve')
  third.sendAwareness(5, 100, { cursor: 3 })
  await eventually(() => seenIn(watchers[0] as Editor, 'eve')?.cursor === 3)
  second.end()
  await allSee(watchers, 'ada,bob,eve')
  for (const watcher of watchers) expect(seenIn(watcher, 'eve')?.cursor).toBe(3)
  third.end()
  await allSee(watchers, 'ada,bob')
  closeAll(watchers)
  await stop()
})

it.concurrent('[CP-7] prevents a client at another node from taking or removing a client id of another user', async () => {
  const { open, raw, stop } = await presenceNodes(2)
  const watchers = [await open(0, 'ada'), await open(1, 'bob')]
  const [eve, liar] = [await raw(0, 'eve'), await raw(1, 'liar')]
  eve.sendAwareness(5, 3, { cursor: 'eve' })
  await allSee(watchers, 'ada,bob,eve')
  for (const state of [{ cursor: 'lie' }, null]) liar.sendAwareness(5, 9, state)
  await liar.roundTrip()
  liar.sendAwareness(6, 1, { cursor: 'liar' })
  await allSee(watchers, 'ada,bob,eve,liar')
  for (const watcher of watchers) expect(seenIn(watcher, 'eve')?.cursor).toBe('eve')
  for (const client of [eve, liar]) client.end()
  await allSee(watchers, 'ada,bob')
  closeAll(watchers)
  await stop()
})

it.concurrent('[CP-9] reads and erases the presence of a user at all nodes, whichever node receives the call', async () => {
  const { open, at, call, stop } = await presenceNodes(3)
  const editors = [await open(0, 'ada'), await open(1, 'bob')]
  await call(2, 'add', { users: [{ userId: 'ann' }] })
  await allSee(editors, 'ada,ann,bob')
  const place = { organizationId: 'acme', userId: 'ada' }
  const found = async (userId: string): Promise<unknown> => {
    const answer = await at(2).post('/v2/users/data/get', { ...place, userId })
    const items = dataOf(answer) as readonly { kind: string; documentId: string }[]
    return items.filter(({ kind }) => kind === 'presence').map(({ documentId }) => documentId)
  }
  for (const userId of ['ada', 'ann']) expect(await found(userId)).toEqual(['doc'])
  for (const userId of ['ada', 'ann'])
    dataOf(await at(1).post('/v2/users/data/delete', { organizationId: 'acme', userId }))
  await allSee(editors.slice(1), 'bob')
  for (const userId of ['ada', 'ann']) expect(await found(userId)).toEqual([])
  closeAll(editors)
  await stop()
})

it.concurrent('[CP-8] sends a live message to the listeners of all nodes once and in order, and returns the number of all listeners', async () => {
  const { at, ids, stop } = await presenceNodes(3, {
    weather: (topic) => (topic.includes('live') ? [0, 0, 5] : [0]),
  })
  const listeners = await Promise.all(
    [0, 1, 1, 2].map(async (node) => {
      const token = await at(0).token(`user-${node}`)
      const client = await RawClient.connect(`${at(node).wsUrl}/sync/acme/doc/main?token=${token}&live=1`)
      await client.roundTrip()
      return client
    }),
  )
  for (let event = 0; event < 20; event++) {
    const answer = await at(event % 3).post('/v2/livestate/broadcast', { ...ids, event: `${event}` })
    expect(dataOf(answer)).toEqual({ success: true, delivered: 4, missed: 0 })
  }
  const expected = Array.from({ length: 20 }, (_, event) => `${event}`)
  for (const listener of listeners) {
    const heard = (): string[] =>
      listener.bodies(110).map((body) => JSON.parse(Buffer.from(body).toString()).event)
    await eventually(() => heard().length >= 20, heard)
    expect(heard()).toEqual(expected)
    listener.end()
  }
  await stop()
})

import { afterEach, beforeEach, expect, it } from 'vitest'
import * as Y from 'yjs'
import { eventually, RawClient, syncedEditor } from '../../support/clients/clients.ts'
import { dataOf, metric, startTestServer, type TestServer } from '../../support/servers/server.ts'

/** The client id in dispute. */
const disputed = 42
const lastClock = 2 ** 31 - 3

let server: TestServer

beforeEach(async () => {
  server = await startTestServer({ sendBufferBytes: 65_536 })
})

afterEach(() => server.stop())

async function connect(userId: string, query = ''): Promise<RawClient> {
  const client = await RawClient.connect(
    `${server.wsUrl}/sync/acme/ghosts/main?token=${await server.token(userId)}${query}`,
  )
  await client.roundTrip()
  return client
}

/** REST knows a document from its first edit. */
const create = async (): Promise<unknown> =>
  dataOf(
    await server.post('/v2/crdt/add', {
      organizationId: 'acme',
      documentId: 'ghosts',
      editorId: 'other',
      type: 'text',
      data: 'x',
    }),
  )

interface Seen {
  readonly user?: { readonly id: string }
  readonly cursor?: number
}

/** States of the disputed client that `witness` has received, oldest first. */
const seenBy = (witness: RawClient): (Seen | null)[] =>
  witness
    .awareness()
    .filter(({ clientId }) => clientId === disputed)
    .map(({ state }) => state as Seen | null)
const sees = (witness: RawClient, cursor: number | null): Promise<void> =>
  eventually(
    () => {
      const last = seenBy(witness).at(-1)
      return cursor === null ? last === null : last?.cursor === cursor
    },
    () => seenBy(witness),
  )

it('[AWA-9] reserves a client id for the user who sent it first, until some time after the user disconnects', async () => {
  const [witness, attacker] = [await connect('witness'), await connect('attacker')]
  const attack = async (round: number): Promise<void> => {
    const another = await connect('attacker')
    for (const client of [attacker, another]) {
      client.sendAwareness(disputed, 6, { cursor: 66 })
      client.sendAwareness(disputed, lastClock, { cursor: 66 })
      client.sendAwareness(disputed, lastClock, null)
    }
    // Each client then sends its own state. When it arrives, the earlier messages of the attack have arrived.
    attacker.sendAwareness(1, round, { cursor: round })
    another.sendAwareness(round, 1, { cursor: round })
    const told = (clientId: number, clock: number): boolean =>
      witness.awareness().some((entry) => entry.clientId === clientId && entry.clock >= clock)
    await eventually(() => told(1, round) && told(round, 1))
    another.end()
  }
  let victim = await connect('victim')
  victim.sendAwareness(disputed, 5, { cursor: 1 })
  await sees(witness, 1)
  await attack(101)
  victim.end()
  await sees(witness, null)
  await attack(102)
  victim = await connect('victim')
  victim.sendAwareness(disputed, 5, { cursor: 2 })
  await victim.contradict(disputed, { cursor: 2 })
  await sees(witness, 2)
  await attack(103)
  victim.sendAwareness(disputed, lastClock, { cursor: 77 })
  victim.sendAwareness(disputed, 100, { cursor: 3 })
  await sees(witness, 3)
  expect(seenBy(witness).map((state) => state && [state.user?.id, state.cursor])).toEqual([
    ['victim', 1],
    null,
    ['victim', 2],
    ['victim', 3],
  ])
  for (const client of [witness, attacker, victim]) client.end()
})

it('[AWA-10] when a slow reader reads again, sends it the removal of clients that have left meanwhile', async () => {
  const [slow, writer, guest] = [await connect('slow'), await connect('writer'), await connect('guest')]
  guest.sendAwareness(disputed, 1, { cursor: 1 })
  await sees(slow, 1)
  slow.socket.pause()
  const isBehind = async (): Promise<boolean> => (await metric(server, 'weft_slow_clients')) === 1
  const doc = new Y.Doc()
  doc.on('update', (update: Uint8Array) => writer.sendUpdate(update))
  // Three values are more than `sendBufferBytes`. The document stays small, because each value replaces an earlier one.
  for (let round = 1; round <= 60 && !(await isBehind()); round++) {
    doc.getMap('map').set(`key ${round % 3}`, `${round} ${'x'.repeat(500_000)}`)
    await writer.roundTrip()
    writer.received.length = 0
  }
  expect(await isBehind()).toBe(true)
  guest.end()
  await eventually(async () => {
    const late = await connect('late')
    late.end()
    return seenBy(late).length === 0
  })
  slow.socket.resume()
  await sees(slow, null)
  for (const client of [slow, writer]) client.end()
})

it('[AWA-10] when a slow reader of live messages reads again, sends it the removal of clients that have left meanwhile', async () => {
  await create()
  const [slow, guest] = [await connect('slow', '&live=1'), await connect('guest')]
  guest.sendAwareness(disputed, 1, { cursor: 1 })
  await sees(slow, 1)
  slow.socket.pause()
  const message = { organizationId: 'acme', documentId: 'ghosts', event: 'filling', data: 'x'.repeat(60_000) }
  const missed = async (): Promise<boolean> =>
    (dataOf(await server.post('/v2/livestate/broadcast', message)) as { missed: number }).missed > 0
  for (let count = 0; count < 2_000 && !(await missed()); count++) expect(slow.socket.isPaused).toBe(true)
  guest.end()
  await eventually(async () => {
    const late = await connect('late')
    late.end()
    return seenBy(late).length === 0
  })
  slow.socket.resume()
  await sees(slow, null)
  slow.end()
})

it('[AWA-13] removes a client immediately when its permission ends, even if the client does not answer', async () => {
  await create()
  const [witness, guest] = [await connect('witness'), await connect('guest')]
  guest.sendAwareness(disputed, 1, { cursor: 1 })
  await sees(witness, 1)
  guest.socket.pause()
  dataOf(await server.post('/v2/auth/revoke_tokens', { userId: 'guest' }))
  await sees(witness, null)
  const ids = { organizationId: 'acme', documentId: 'ghosts' }
  expect(dataOf(await server.post('/v2/presence/get', ids))).toMatchObject([{ userId: 'witness' }])
  expect(await metric(server, 'weft_connections{protocol="y-websocket"')).toBe(2)
  for (const client of [witness, guest]) client.end()
})

it('[AWA-14] if other connections of a user send back the state of a client, removes the client only when its own connection closes', async () => {
  const [witness, tab] = [await connect('witness'), await connect('ada')]
  tab.sendAwareness(disputed, 5, { cursor: 1 })
  await sees(witness, 1)
  const silent = await connect('ada')
  await sees(silent, 1)
  // A stock client without a state of its own sends received states back.
  for (const { clientId, clock, state } of silent.awareness()) silent.sendAwareness(clientId, clock, state)
  await silent.roundTrip()
  silent.end()
  tab.sendAwareness(disputed, 6, { cursor: 2 })
  await sees(witness, 2)
  const another = await connect('ada')
  for (const { clientId, clock, state } of another.awareness()) another.sendAwareness(clientId, clock, state)
  await another.roundTrip()
  tab.end()
  await sees(witness, null)
  expect(seenBy(witness).map((state) => state?.cursor)).toEqual([1, 2, undefined])
  for (const client of [witness, another]) client.end()
})

it('[AWA-14] does not show a disconnected client again when another connection of its user sends back its state late', async () => {
  const [witness, tab, silent] = [await connect('witness'), await connect('ada'), await connect('ada')]
  tab.sendAwareness(disputed, 5, { cursor: 1 })
  await sees(witness, 1)
  await sees(silent, 1)
  tab.end()
  await sees(witness, null)
  silent.sendAwareness(disputed, 5, { cursor: 1 })
  await silent.roundTrip()
  const late = await connect('late')
  expect(seenBy(late)).toEqual([])
  for (const client of [witness, silent, late]) client.end()
})

it('[AWA-14] when a client has connected again, continues to show it after its dead connection ends', async () => {
  const [witness, old] = [await connect('witness'), await connect('ada')]
  old.sendAwareness(disputed, 5, { cursor: 1 })
  await sees(witness, 1)
  const back = await connect('ada')
  back.sendAwareness(disputed, 6, { cursor: 2 })
  await sees(witness, 2)
  old.end()
  await eventually(async () => (await metric(server, 'weft_connections{protocol="y-websocket"')) === 2)
  back.sendAwareness(disputed, 7, { cursor: 3 })
  await sees(witness, 3)
  expect(seenBy(witness).map((state) => state?.cursor)).toEqual([1, 2, 3])
  for (const client of [witness, back]) client.end()
})

it('[AWA-14] when a stock client has connected again with an unchanged clock, still shows it after its old connection ends', async () => {
  const token = await server.token('ada')
  const stock = await syncedEditor(server.wsUrl, 'acme/ghosts/main', token)
  stock.provider.awareness.setLocalStateField('cursor', 1)
  const { clientID } = stock.doc
  const witness = await connect('witness')
  const last = () =>
    witness
      .awareness()
      .filter(({ clientId }) => clientId === clientID)
      .at(-1)?.state
  await eventually(() => last()?.cursor === 1)
  const halfOpen = stock.provider.ws
  if (halfOpen === null) throw new Error('the provider is not connected')
  // The provider opens another connection while the server keeps the old one.
  Object.assign(halfOpen, { onclose: null, onmessage: null })
  stock.provider.ws = null
  stock.provider.wsconnected = false
  stock.provider.disconnect()
  stock.provider.connect()
  await eventually(async () => (await metric(server, 'weft_connections{protocol="y-websocket"')) === 3)
  halfOpen.close()
  await eventually(async () => (await metric(server, 'weft_connections{protocol="y-websocket"')) === 2)
  await eventually(() => last()?.cursor === 1)
  const late = await connect('late')
  await eventually(() =>
    late.awareness().some(({ clientId, state }) => clientId === clientID && state !== null),
  )
  stock.close()
  for (const client of [witness, late]) client.end()
})

import { afterEach, describe, expect, it } from 'vitest'
import type { Config } from '../../../src/core/config/config.ts'
import type { Engine, Kv } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import type { ServerOverrides } from '../../../src/server/server.ts'
import { contentOf, eventually, RawClient, typed } from '../../support/clients/clients.ts'
import { dialects } from '../../support/clients/protocol-clients.ts'
import { metric, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { times } from '../../support/time/full-run.ts'
import { gate, type TestGate } from '../../support/time/gate.ts'

let server: TestServer
afterEach(() => server.stop())

const start = async (overrides: Partial<Config> = {}, given: ServerOverrides = {}): Promise<void> => {
  server = await startTestServer(overrides, given)
}

const connect = async (documentId: string, userId = 'ada'): Promise<RawClient> =>
  RawClient.connect(`${server.wsUrl}/sync/acme/${documentId}/main?token=${await server.token(userId)}`)

const emptyUpdate = Uint8Array.of(0, 0)

/** Status of the response to a listing of the documents of the organization. */
const listing = async (): Promise<string | undefined> => {
  const { body } = await server.post('/v2/organizations/documents/get', { organizationId: 'acme' })
  return (body.result ?? body.error)?.status
}

const documentIds = async (): Promise<unknown> => {
  const { body } = await server.post('/v2/organizations/documents/get', { organizationId: 'acme' })
  return (body.result?.data as { id: string }[] | undefined)?.map(({ id }) => id)
}

/** An engine that counts the commits of the Kv and can hold those that write documents. */
async function counted(): Promise<{ engine: Engine; commits(): number; hold(): TestGate }> {
  const engine = await openMemoryEngine()
  let commits = 0
  let held: TestGate | null = null
  const commit: Kv['commit'] = async (part, wanted) => {
    commits += 1
    if (wanted.puts?.some(({ key: [kind] }) => kind === 'documents') === true) await held?.opened
    return engine.kv.commit(part, wanted)
  }
  const kv: Kv = { commit, get: engine.kv.get.bind(engine.kv), scan: engine.kv.scan.bind(engine.kv) }
  return {
    engine: new Proxy(engine, {
      get: (target, name) => {
        const value: unknown = name === 'kv' ? kv : Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    }),
    commits: () => commits,
    hold: () => (held = gate()),
  }
}

describe.each(dialects)('$name', (dialect) => {
  it('[DOC-17] creates nothing when a client connects or sends awareness, and creates organization and document at the first edit', async () => {
    await start()
    const person = await dialect.open(server, 'plan', await server.token('ada'))
    person.awareness.setLocalStateField('cursor', 1)
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(await listing()).toBe('NOT_FOUND')
    person.text.insert(0, 'first')
    await eventually(async () => JSON.stringify(await documentIds()) === '["plan"]')
    person.close()
  })
})

it('[DOC-17] stores nothing for empty updates, empty offers and updates with missing dependencies', async () => {
  const store = await counted()
  await start({}, { engine: store.engine })
  const client = await connect('plan')
  await client.roundTrip()
  const before = store.commits()
  client.sendOffer(emptyUpdate)
  client.sendUpdate(emptyUpdate)
  // The dependency of this update never arrives: its second character follows a missing first one.
  client.sendUpdate(Uint8Array.of(1, 1, 9, 5, 0x84, 9, 4, 1, 0x78, 0))
  client.sendAwareness(9, 1, { cursor: 1 })
  await client.roundTrip()
  expect(store.commits()).toBe(before)
  expect(await listing()).toBe('NOT_FOUND')
  client.end()
})

it('[DOC-17] creates no organization and no document when one token opens hundreds of connections', async () => {
  const store = await counted()
  await start({}, { engine: store.engine })
  const token = await server.token('ada')
  const before = store.commits()
  for (let at = 0; at < times(250, 1_000); at += 50) {
    const clients = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        RawClient.connect(`${server.wsUrl}/sync/org-${at + index}/plan/main?token=${token}`),
      ),
    )
    await Promise.all(clients.map((client) => client.roundTrip()))
    for (const client of clients) client.end()
  }
  expect(store.commits()).toBe(before)
})

it('[DOC-18] sends the first update of a document to other clients only after the record of the document is stored', async () => {
  const store = await counted()
  await start({}, { engine: store.engine })
  const [writer, reader] = [await connect('plan'), await connect('plan', 'bob')]
  await reader.roundTrip()
  const held = store.hold()
  writer.sendUpdate(typed('one', 7))
  writer.sendUpdate(typed('two', 8))
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(reader.updates()).toEqual([])
  const read = server.post('/v2/crdt/get', { organizationId: 'acme', documentId: 'plan' })
  held.open()
  await eventually(() => contentOf(reader.updates()).length === 6)
  expect(await documentIds()).toEqual(['plan'])
  expect((await read).status).toBeLessThan(500)
  for (const client of [writer, reader]) client.end()
})

it('[DOC-18] does not restore a document that is deleted before its first update is stored', async () => {
  await start()
  const client = await connect('plan')
  await client.roundTrip()
  await server.post('/v2/organizations/add', { organizations: [{ organizationId: 'acme' }] })
  await server.post('/v2/organizations/documents/add', {
    organizationId: 'acme',
    documents: [{ documentId: 'plan' }],
  })
  await server.post('/v2/organizations/documents/delete', { organizationId: 'acme', documentIds: ['plan'] })
  expect((await client.closed).code).toBe(4404)
  expect(await documentIds()).toEqual([])
})

it('[DOC-19] limits how fast a workspace creates documents by websocket; beyond the limit, closes with 1013 and states the limit', async () => {
  await start({ newDocumentsPerWorkspace: { perSecond: 1, burst: 3 } })
  const clients = []
  for (let index = 0; index < 4; index += 1) {
    const client = await connect(`plan-${index}`)
    client.sendUpdate(typed('x', 7))
    clients.push(client)
    if (index < 3) await client.roundTrip()
  }
  expect(await clients[3]?.closed).toEqual({
    code: 1013,
    reason: 'the workspace creates too many documents: newDocumentsPerWorkspace is 1 per second',
  })
  expect(await documentIds()).toEqual(['plan-0', 'plan-1', 'plan-2'])
  expect(await metric(server, 'weft_limit_hits_total{limit="newDocumentsPerWorkspace"}')).toBe(1)
  // The limit does not apply to existing documents and REST.
  clients[0]?.sendUpdate(typed('y', 8))
  await clients[0]?.roundTrip()
  const added = await server.post('/v2/crdt/add', {
    organizationId: 'acme',
    documentId: 'plan-9',
    editorId: 'main',
    type: 'text',
    data: 'x',
  })
  expect(added.status).toBe(200)
  await eventually(async () => {
    const again = await connect('plan-3')
    again.sendUpdate(typed('x', 7))
    const outcome = await Promise.race([again.closed, again.roundTrip().then(() => 'open')])
    again.end()
    return outcome === 'open'
  })
  for (const client of clients) client.end()
})

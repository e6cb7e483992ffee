import { expect, it } from 'vitest'
import { EditWindows } from '../../../src/core/events/edit-windows.ts'
import { addressKey } from '../../../src/core/model/address.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { eventually, RawClient, typed } from '../../support/clients/clients.ts'
import { directoryOn, scopeOf, tenant } from '../../support/data/directory.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { withLog } from '../../support/stores/pausable-engine.ts'
import { HeldClock } from '../../support/time/clock.ts'

interface Row {
  id: string
  actionType: string
  actionUser: { userId: string; name?: string }
  targetEntityId: string
  changes: { commits: number }
  timestamp: number
}

const address = { ...tenant, organizationId: 'acme', documentId: 'd', editorId: 'main' }

async function start(): Promise<{ server: TestServer; clock: HeldClock }> {
  const [engine, clock] = [await openMemoryEngine(), new HeldClock(Math.floor(Date.now() / 1000) * 1000)]
  return { server: await startTestServer({}, { engine, clock }), clock }
}

const connect = async (server: TestServer, editorId: string, userId: string): Promise<RawClient> =>
  RawClient.connect(`${server.wsUrl}/sync/acme/d/${editorId}?token=${await server.token(userId)}`)

const edits = async (server: TestServer): Promise<Row[]> =>
  dataOf(
    await server.post('/v2/activities/get', {
      organizationId: 'acme',
      documentId: 'd',
      featureTypes: ['crdt'],
      actionTypes: ['crdt.editor_edit'],
      order: 'asc',
    }),
  ) as Row[]
const shown = (rows: readonly Row[]) =>
  rows.map(({ actionUser, targetEntityId, changes }) => [actionUser.userId, targetEntityId, changes.commits])

it('[ACT-11] records the edits of one user in one editor within a time window as one activity', async () => {
  const { server, clock } = await start()
  const ann = await connect(server, 'main', 'ann')
  const began = clock.now()
  const type = async (client: RawClient, first: number, count: number) => {
    for (let number = first; number < first + count; number++) {
      client.sendUpdate(typed('x', number))
      await client.roundTrip()
    }
  }
  await type(ann, 1, 3)
  await eventually(async () => (await edits(server)).length === 1)
  const bob = await connect(server, 'main', 'bob')
  await type(bob, 10, 1)
  await type(await connect(server, 'aside', 'ann'), 20, 2)
  await server.post('/v2/crdt/update', {
    organizationId: 'acme',
    documentId: 'd',
    editorId: 'aside',
    type: 'text',
    data: 'by a backend, for no user',
  })
  clock.advance(1)
  const byRest = { organizationId: 'acme', documentId: 'd', editorId: 'aside', type: 'text', userId: 'cy' }
  for (const data of ['for cy', 'for cy, too', 'for cy, too'])
    dataOf(await server.post('/v2/crdt/update', { ...byRest, data }))
  await eventually(async () => (await edits(server)).length === 5)
  clock.advance(600_000)
  const all = [
    ['ann', 'aside', 2],
    ['ann', 'main', 3],
    ['api', 'aside', 1],
    ['bob', 'main', 1],
    ['cy', 'aside', 2],
  ]
  await eventually(async () => shown(await edits(server)).some(([, , commits]) => commits === 3))
  await eventually(async () => JSON.stringify(shown(await edits(server)).toSorted()) === JSON.stringify(all))
  const [first] = (await edits(server)).filter(({ actionUser }) => actionUser.userId === 'ann')
  expect(first?.timestamp).toBe(began)
  expect(first?.actionUser.name).toBeDefined()
  const again = await connect(server, 'main', 'ann')
  await type(again, 30, 1)
  await eventually(async () => (await edits(server)).length === 6)
  await server.stop()
})

it('[ACT-11] records an activity with the user `api` for each REST call that changes content and states no user', async () => {
  const { server } = await start()
  const at = (editorId: string) => ({ organizationId: 'acme', documentId: 'd', editorId })
  const call = async (path: string, data: object) => dataOf(await server.post(`/v2/crdt/${path}`, data))
  const editors = ['added', 'replaced', 'upserted', 'applied', 'restored']
  for (const editorId of editors.slice(0, 2))
    await call('add', { ...at(editorId), type: 'text', data: 'first' })
  await call('update', { ...at('replaced'), type: 'text', data: 'second' })
  await call('update', { ...at('upserted'), type: 'text', data: 'first', upsert: true })
  const update = Buffer.from(typed('x', 1)).toString('base64')
  await call('apply', { ...at('applied'), update, create: true })
  await call('add', { ...at('restored'), type: 'text', data: 'first', userId: 'ann' })
  const { versionId } = (await call('versions/create', at('restored'))) as { versionId: string }
  await call('update', { ...at('restored'), type: 'text', data: 'second', userId: 'ann' })
  await call('versions/restore', { ...at('restored'), versionId })
  await eventually(async () => (await edits(server)).length === editors.length + 1)
  expect(
    (await edits(server))
      .map(({ actionUser, targetEntityId }) => [targetEntityId, actionUser.userId])
      .toSorted(),
  ).toEqual([...editors.map((editorId) => [editorId, 'api']), ['restored', 'ann']].toSorted())
  await server.stop()
})

it('[ACT-12] keeps the activity of an edit after a crash, and stores the number of its commits at a shutdown', async () => {
  const engine = await openMemoryEngine()
  const clock = new HeldClock()
  const before = directoryOn(engine, clock)
  const scope = scopeOf(tenant, 'acme')
  await before.organizations.ensure(scope)
  await before.documents.ensure(scope, 'd')
  const windows = new EditWindows({
    clock,
    windowMs: 600_000,
    begun() {},
    ended() {},
  })
  const begun = windows.noted(address, [{ userId: 'ann', name: 'Ann' }])
  const bytes = new Uint8Array([0, 0])
  const appended = [{ bytes, by: 'ann' }]
  await engine.log.append(addressKey(address), 'create', appended, { jobs: begun?.jobs ?? [] })
  const after = directoryOn(engine, clock)
  const range = { order: 'asc', after: undefined, limit: 10 } as const
  const found = async () => (await after.activities.list(scope, { featureTypes: ['crdt'] }, range)).items
  after.edits.start()
  await eventually(async () => (await found()).length === 1)
  expect(await found()).toMatchObject([
    { actionUser: { userId: 'ann', name: 'Ann' }, timestamp: clock.now() },
  ])

  clock.advance(1)
  for (let commit = 0; commit < 3; commit++) {
    const more = after.edits.windows.noted(address, [{ userId: 'bob' }, { userId: 'bob' }])
    if (more !== null) {
      await engine.log.append(addressKey(address), 1, appended, { jobs: more.jobs })
      more.stored()
    }
  }
  await after.edits.stop()
  expect((await found()).map(({ changes }) => changes)).toEqual([{ commits: 1 }, { commits: 3 }])
  await engine.close()
})

it('[ACT-13] records no activity for a commit that was not stored, and begins the time window at the next commit', async () => {
  const engine = await openMemoryEngine()
  let failing = true
  const faulty = withLog(engine, (log) => ({
    append: (...call) => (failing ? Promise.reject(new Error('lost')) : log.append(...call)),
  }))
  const server = await startTestServer({}, { engine: faulty })
  const ann = await connect(server, 'main', 'ann')
  ann.sendUpdate(typed('x', 1))
  await ann.closed
  failing = false
  const again = await connect(server, 'main', 'ann')
  expect(await edits(server)).toEqual([])
  again.sendUpdate(typed('x', 1))
  await again.roundTrip()
  await eventually(async () => (await edits(server)).length === 1)
  await server.stop()
})

it('[ACT-14] when a document is deleted, deletes its activities', async () => {
  const { server } = await start()
  const ann = await connect(server, 'main', 'ann')
  ann.sendUpdate(typed('x', 1))
  await ann.roundTrip()
  await eventually(async () => (await edits(server)).length === 1)
  const organizationId = 'acme'
  const activities = Array.from({ length: 450 }, (_, index) => ({
    id: `${index}`,
    featureType: 'comment',
    actionType: 'comment.add',
    actionUser: { userId: 'ann' },
  }))
  dataOf(await server.post('/v2/activities/add', { organizationId, documentId: 'd', activities }))
  dataOf(await server.post('/v2/organizations/documents/delete', { organizationId, documentIds: ['d'] }))
  expect(await edits(server)).toEqual([])
  expect(dataOf(await server.post('/v2/activities/get', { organizationId, userId: 'ann' }))).toEqual([])
  await server.stop()
})

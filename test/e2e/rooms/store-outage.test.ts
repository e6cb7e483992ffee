import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { type OpenStore, openLevelStore } from '../../../src/core/store/level/store/store.ts'
import { contentOf, eventually, RawClient, syncedEditor, typed } from '../../support/clients/clients.ts'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'

const holdMs = 1_500
const address = { organizationId: 'acme', documentId: 'away', editorId: 'main' }

let directory: string
let full = false
let server: TestServer
let token: string
const connect = (): Promise<RawClient> =>
  RawClient.connect(`${server.wsUrl}/sync/acme/away/main?token=${token}`)
const ready = async (): Promise<number> => (await fetch(`${server.url}/readyz`)).status

/** A real LevelDB on a disk that can be full. */
const openStore: OpenStore = async (path) => {
  const store = await openLevelStore(path)
  return {
    get: (key) => store.get(key),
    getNow: (keys) => store.getNow(keys),
    pages: (range, options) => store.pages(range, options),
    firstPage: (range, options) => store.firstPage(range, options),
    snapshot: () => store.snapshot(),
    compactTables: () => store.compactTables(),
    tableBytes: (range) => store.tableBytes(range),
    close: () => store.close(),
    write: async (operations, sync) => {
      if (full) throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
      return store.write(operations, sync)
    },
  }
}

beforeEach(async () => {
  full = false
  directory = await mkdtemp(join(tmpdir(), 'weft-away-'))
  server = await startTestServer({}, { engine: await openLevelEngine({ directory, holdMs, openStore }) })
  token = await server.token('ada')
})

afterEach(async () => {
  full = false
  await server.stop()
  await rm(directory, { recursive: true, force: true, maxRetries: 20 })
})

it('[API-16] while the store is unavailable, answers a call with UNAVAILABLE, and does not state the cause', async () => {
  const origin = 'https://app.example.com'
  await server.post('/v2/workspace/domains/add', { domains: [origin] })
  const shared = await server.post('/v2/crdt/get', address, { origin })
  expect(shared.headers.get('access-control-allow-origin')).toBe(origin)
  const writer = await connect()
  await writer.roundTrip()
  full = true
  writer.sendUpdate(typed('held back', 1))
  await eventually(async () => (await ready()) === 503)
  const { status, headers, body } = await server.post('/v2/crdt/get', address, {
    'x-service-auth-token': '',
    origin,
  })
  // No origin is looked up in the store.
  expect(headers.has('access-control-allow-origin')).toBe(false)
  const message = 'the store is not available; try again'
  expect({ status, error: body.error }).toEqual({
    status: 503,
    error: { status: 'UNAVAILABLE', message, details: { code: 'server/not-ready' } },
  })
})

it('[ROOM-7] while the disk is full for a short time, sends and acknowledges nothing, and afterwards sends and acknowledges everything', async () => {
  const [writer, reader] = [await connect(), await connect()]
  await Promise.all([writer.roundTrip(), reader.roundTrip()])
  full = true
  writer.sendUpdate(typed('held back', 1))
  await eventually(async () => (await ready()) === 503)
  const refused = await server.post('/v2/crdt/add', {
    ...address,
    editorId: 'other',
    type: 'text',
    data: 'x',
  })
  expect(refused).toMatchObject({ status: 503, body: { error: { status: 'UNAVAILABLE' } } })
  expect(reader.updates()).toEqual([])
  full = false
  await eventually(() => contentOf(reader.updates()) === 'held back')
  await eventually(async () => (await ready()) === 200)
  const late = await connect()
  await late.roundTrip()
  expect(contentOf(late.offers())).toBe('held back')
  for (const client of [writer, reader, late]) client.end()
})

it('[ROOM-7] while the disk stays full, closes sockets with 1013; when there is space again, receives the edits of stock clients', async () => {
  const editor = await syncedEditor(server.wsUrl, 'acme/away/main', token)
  const witness = await connect()
  editor.text.insert(0, 'before ')
  await eventually(() => contentOf(witness.updates()) === 'before ')
  full = true
  editor.text.insert(7, 'during ')
  expect(await witness.closed).toMatchObject({ code: 1013 })
  editor.text.insert(14, 'later')
  full = false
  await eventually(async () => (await ready()) === 200)
  await eventually(() => editor.provider.synced)
  const late = await connect()
  await eventually(async () => {
    await late.roundTrip()
    return contentOf([...late.offers(), ...late.updates()]) === 'before during later'
  })
  late.end()
  editor.close()
})

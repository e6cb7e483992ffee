import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readConfig } from '../../../src/core/config/read-config.ts'
import { openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { startServer } from '../../../src/server/server.ts'
import { flipped, overwrite, storedPair } from '../../contract/level/store-tools.ts'
import { RawClient } from '../../support/clients/clients.ts'
import { metric, startTestServer, type TestServer } from '../../support/servers/server.ts'

const address = (documentId: string) => ({ organizationId: 'acme', documentId, editorId: 'main' })
const store = () => join(data, 'store')

let data: string
let server: TestServer

beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'weft-quarantine-'))
  server = await startTestServer({ engine: 'level', dataDir: data })
  for (const name of ['broken', 'sound'])
    await server.post('/v2/crdt/add', { ...address(name), type: 'text', data: `text of ${name}` })
})

afterEach(async () => {
  await server.stop()
  await rm(data, { recursive: true, force: true, maxRetries: 20 })
})

async function damage(): Promise<void> {
  await server.stop()
  const [key, value] = await storedPair(store(), 'text of broken')
  await overwrite(store(), key, flipped(value, value.length - 3))
  server = await startTestServer({ engine: 'level', dataDir: data })
}

/** An item that claims to follow itself. No client can send it, and Yjs cannot read it. */
const unreadable = Uint8Array.of(1, 1, 1, 0, 0x84, 1, 0, 1, 97, 0)

async function closeCode(documentId: string): Promise<number> {
  const token = await server.token('ada')
  const client = await RawClient.connect(`${server.wsUrl}/sync/acme/${documentId}/main?token=${token}`)
  return (await client.closed).code
}

it('[STORE-6] rejects and counts a damaged document, serves other documents, and can delete the damaged one', async () => {
  await damage()
  for (const path of ['/v2/crdt/get', '/v2/crdt/update']) {
    const refused = await server.post(path, { ...address('broken'), type: 'text', data: 'new' })
    expect(refused).toMatchObject({
      status: 500,
      body: {
        error: { status: 'INTERNAL', message: expect.stringMatching(/damaged; delete it or restore it/) },
      },
    })
  }
  expect(await closeCode('broken')).toBe(1011)
  expect(await metric(server, 'weft_editors_damaged')).toBe(1)
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
  const sound = await server.post('/v2/crdt/get', address('sound'))
  expect(sound).toMatchObject({ status: 200, body: { result: { data: [{ data: 'text of sound' }] } } })
  expect(
    (await server.post('/v2/crdt/delete', { organizationId: 'acme', documentId: 'broken' })).status,
  ).toBe(200)
  expect(await metric(server, 'weft_editors_damaged')).toBe(0)
  expect((await server.post('/v2/crdt/get', address('broken'))).status).toBe(404)
})

it('[STORE-6] logs a damaged document once with its address', async () => {
  await damage()
  await server.stop()
  const lines: string[] = []
  const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) })
  const { config } = readConfig({ flags: {}, environment: {}, file: null })
  const engine = await openLevelEngine({ directory: data })
  const running = await startServer({ ...config, port: 0, host: '127.0.0.1', dataDir: data }, log, { engine })
  const { apiKey, authToken } = running.credentials
  for (let call = 0; call < 3; call++)
    await fetch(`http://127.0.0.1:${running.port}/v2/crdt/get`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-service-api-key': apiKey,
        'x-service-auth-token': authToken,
      },
      body: JSON.stringify({ data: address('broken') }),
    })
  await running.close()
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    expect.objectContaining({ ...address('broken'), msg: expect.stringContaining('damaged') }),
  ])
})

it('[STORE-6] closes only the clients of a document that Yjs cannot read although its checksum is correct', async () => {
  const engine = await openMemoryEngine()
  const other = await startTestServer({}, { engine })
  try {
    await other.post('/v2/crdt/add', { ...address('sound'), type: 'text', data: 'sound' })
    const [known = []] = await engine.log.list([], { limit: 1 })
    const doc = known.map((segment) => (segment === 'sound' ? 'broken' : segment))
    await engine.log.append(doc, 'create', [{ bytes: unreadable, by: 'ada' }])
    const token = await other.token('ada')
    const connect = (documentId: string) =>
      RawClient.connect(`${other.wsUrl}/sync/acme/${documentId}/main?token=${token}`)
    const sound = await connect('sound')
    // The server can answer an empty client without reading the document. Yjs must read it for a client with
    // a state vector.
    const client = await connect('broken')
    client.sendVector(Uint8Array.of(1, 9, 4))
    expect((await client.closed).code).toBe(1011)
    expect(await metric(other, 'weft_editors_damaged')).toBe(1)
    expect((await (await connect('broken')).closed).code).toBe(1011)
    const refused = await other.post('/v2/crdt/get', address('broken'))
    expect(refused).toMatchObject({
      status: 500,
      body: { error: { message: expect.stringMatching(/damaged/) } },
    })
    await sound.roundTrip()
    sound.end()
  } finally {
    await other.stop()
  }
})

import { afterEach, beforeEach, expect, it } from 'vitest'
import type { DocumentLog, Engine } from '../../../src/core/store/engine.ts'
import { StoreUnavailableError } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { contentOf, eventually, RawClient, typed } from '../../support/clients/clients.ts'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'
import { withLog } from '../../support/stores/pausable-engine.ts'

let engine: Engine
let server: TestServer
let loads: number
/** Loads of logs wait until one of these is called. */
let goOn: () => void
let fail: (error: Error) => void

beforeEach(async () => {
  loads = 0
  const held = new Promise<void>((resolve, reject) => {
    goOn = resolve
    fail = reject
  })
  engine = await openMemoryEngine()
  const load: DocumentLog['load'] = async (...parameters) => {
    loads += 1
    await held
    return engine.log.load(...parameters)
  }
  server = await startTestServer({}, { engine: withLog(engine, () => ({ load })) })
})
afterEach(() => server?.stop())

const documentKey = () => {
  const { workspaceId, apiKey } = server.credentials
  return [workspaceId, apiKey, 'acme', 'plan', 'main']
}
const stored = () => engine.log.append(documentKey(), 'create', [{ bytes: typed('hello', 1), by: 'ada' }])
const come = async (): Promise<RawClient> =>
  RawClient.connect(`${server.wsUrl}/sync/acme/plan/main?token=${await server.token('ada')}`)

it('[ROOM-22] loads a document once into one room when many clients open it concurrently', async () => {
  const [first, ...others] = await Promise.all(Array.from({ length: 20 }, come))
  await eventually(() => loads > 0)
  goOn()
  await Promise.all(others.map((client) => client.roundTrip()))
  first?.sendUpdate(typed('hello', 1))
  await eventually(() => others.every((client) => contentOf(client.updates()) === 'hello'))
  expect(loads).toBe(1)
  for (const client of [first, ...others]) client?.end()
})

it('[ROOM-23] sends nothing while a document loads, then sends the whole document', async () => {
  await stored()
  const client = await come()
  await eventually(() => loads === 1)
  await fetch(`${server.url}/healthz`)
  expect(client.received).toEqual([])
  goOn()
  await client.roundTrip()
  expect(contentOf(client.offers())).toBe('hello')
  client.end()
})

it('[ROOM-23] when a document cannot be loaded, closes waiting clients with 1013, and does not change the stored data', async () => {
  await stored()
  const before = await engine.log.heads([documentKey()])
  const client = await come()
  client.sendUpdate(typed('mine', 2))
  await eventually(() => loads === 1)
  fail(new StoreUnavailableError('away'))
  expect(await client.closed).toMatchObject({ code: 1013 })
  expect(client.received).toEqual([])
  expect(await engine.log.heads([documentKey()])).toEqual(before)
})

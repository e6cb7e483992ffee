import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { contentOf, eventually, RawClient, typed } from '../../support/clients/clients.ts'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'
import { type HeldEngine, holdable } from '../../support/stores/pausable-engine.ts'

let engine: HeldEngine
let server: TestServer
let token: string
let documents = 0
const newPath = (): string => `acme/durable-${++documents}/main`
const connect = (path: string): Promise<RawClient> =>
  RawClient.connect(`${server.wsUrl}/sync/${path}?token=${token}`)
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 100))

beforeAll(async () => {
  engine = holdable(await openMemoryEngine())
  server = await startTestServer({}, { engine })
  token = await server.token('ada')
})

afterAll(() => server.stop())

it('[DUR-1] sends no edit before it is durable, neither as a broadcast nor in a sync reply', async () => {
  const path = newPath()
  const [writer, reader] = [await connect(path), await connect(path)]
  await Promise.all([writer.roundTrip(), reader.roundTrip()])
  engine.hold()
  writer.sendUpdate(typed('secret', 1))
  await eventually(() => engine.waiting() === 1)
  reader.sendVector(Uint8Array.of(0))
  const late = await connect(path)
  late.sendVector(Uint8Array.of(0))
  await pause()
  expect([reader.updates(), reader.offers().length, late.received.length]).toEqual([[], 1, 0])
  engine.release()
  await eventually(
    () => reader.updates().length === 1 && reader.offers().length === 2 && late.offers().length === 1,
  )
  expect(contentOf(late.offers())).toBe('secret')
  for (const client of [writer, reader, late]) client.end()
})

it('[DUR-2] responses to reads, to updates, and to updates that change nothing contain only durable content', async () => {
  const path = newPath()
  const [organizationId, documentId, editorId] = path.split('/')
  const writer = await connect(path)
  writer.sendUpdate(typed('first', 1))
  await writer.roundTrip()
  engine.hold()
  const answered: string[] = []
  const update = (data: string): Promise<unknown> =>
    server.post('/v2/crdt/update', { organizationId, documentId, editorId, type: 'text', data })
  const calls = [
    update('first and second').then(() => answered.push('update')),
    update('first and second').then(() => answered.push('same')),
    server.post('/v2/crdt/get', { organizationId, documentId }).then(() => answered.push('get')),
  ]
  await eventually(() => engine.waiting() === 1)
  await pause()
  expect([answered, writer.updates()]).toEqual([[], []])
  engine.release()
  await Promise.all(calls)
  expect(answered.sort()).toEqual(['get', 'same', 'update'])
  await eventually(() => writer.updates().length === 1)
  writer.end()
})

it('[DUR-3] broadcasts updates that wait for the disk in the order in which they arrived', async () => {
  const path = newPath()
  const [writer, reader] = [await connect(path), await connect(path)]
  await Promise.all([writer.roundTrip(), reader.roundTrip()])
  const doc = new Y.Doc()
  const updates: Uint8Array[] = []
  doc.on('update', (update: Uint8Array) => updates.push(update))
  engine.hold()
  for (const letter of 'abcdef') {
    doc.getText('content').insert(doc.getText('content').length, letter)
    writer.sendUpdate(updates.at(-1) as Uint8Array)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  await eventually(() => engine.waiting() > 0)
  expect(reader.updates()).toEqual([])
  engine.release()
  await eventually(() => reader.updates().length === updates.length)
  expect(reader.updates()).toEqual(updates)
  for (const client of [writer, reader]) client.end()
})

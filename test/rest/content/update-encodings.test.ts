import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import { randomHistory } from '../../support/data/random-doc.ts'
import { seed } from '../../support/data/seed.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server?.stop())

const call = (operation: string, documentId: string, more: object) =>
  server.post(`/v2/crdt/${operation}`, { organizationId: 'acme', documentId, editorId: 'main', ...more })
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')

async function stateOf(documentId: string, more: object = {}): Promise<Uint8Array> {
  const [{ data }] = dataOf(await call('get', documentId, { format: 'update', ...more })) as [
    { data: string },
  ]
  return Buffer.from(data, 'base64')
}

it(`[CRDT-46] applies updates in the encoding V2, and returns the state in the requested encoding (seed ${seed})`, async () => {
  const { updates, doc } = randomHistory(seed, 60)
  for (const [index, update] of updates.entries()) {
    const written = {
      update: base64(Y.convertUpdateFormatV1ToV2(update)),
      encoding: 'v2',
      create: index === 0,
    }
    dataOf(await call('apply', 'history', written))
  }
  const copies = { v1: new Y.Doc(), v2: new Y.Doc() }
  Y.applyUpdate(copies.v1, await stateOf('history'))
  Y.applyUpdateV2(copies.v2, await stateOf('history', { encoding: 'v2' }))
  for (const copy of Object.values(copies)) {
    expect(Y.encodeStateVector(copy)).toEqual(Y.encodeStateVector(doc))
    expect(copy.getText('text').toDelta()).toEqual(doc.getText('text').toDelta())
    expect(copy.getMap('map').toJSON()).toEqual(doc.getMap('map').toJSON())
  }
})

it('[CRDT-46] returns a large state, which a thread reads, in the encoding V2', async () => {
  const doc = new Y.Doc()
  doc.getText('content').insert(0, 'large '.repeat(50_000))
  dataOf(await call('apply', 'large', { update: base64(Y.encodeStateAsUpdate(doc)), create: true }))
  const copy = new Y.Doc()
  Y.applyUpdateV2(copy, await stateOf('large', { encoding: 'v2' }))
  expect(copy.getText('content').length).toBe(300_000)
})

it('[CRDT-46] returns the state of a saved version in the requested encoding', async () => {
  const doc = new Y.Doc()
  doc.getText('content').insert(0, 'saved')
  dataOf(await call('apply', 'saved', { update: base64(Y.encodeStateAsUpdate(doc)), create: true }))
  const { versionId } = dataOf(await call('versions/create', 'saved', {})) as { versionId: string }
  const request = { versionId, format: 'update', encoding: 'v2' }
  const { data } = dataOf(await call('versions/get', 'saved', request)) as { data: string }
  const copy = new Y.Doc()
  Y.applyUpdateV2(copy, Buffer.from(data, 'base64'))
  expect(copy.getText('content').toJSON()).toBe('saved')
})

it('[CRDT-46] rejects bytes that are not an update in the named encoding, and changes nothing', async () => {
  const doc = new Y.Doc()
  doc.getText('content').insert(0, 'words')
  const [v1, v2] = [Y.encodeStateAsUpdate(doc), Y.encodeStateAsUpdateV2(doc)]
  const refused = { status: 'INVALID_ARGUMENT', details: { code: 'crdt/malformed-update' } }
  for (const request of [
    { update: base64(v1), encoding: 'v2' },
    { update: base64(v2), encoding: 'v1' },
    { update: base64(v2.subarray(0, -1)), encoding: 'v2' },
    { update: base64(Buffer.concat([v2, Uint8Array.of(0)])), encoding: 'v2' },
  ]) {
    const { body } = await call('apply', 'wrong', { ...request, create: true })
    expect(body.error, JSON.stringify(request)).toMatchObject(refused)
  }
  expect((await call('get', 'wrong', {})).status).toBe(404)
})

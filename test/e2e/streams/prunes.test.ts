import { afterEach, expect, it } from 'vitest'
import type { Key } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { ContentStream } from '../../support/clients/content-stream.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
afterEach(() => server.stop())

const ids = { organizationId: 'acme', documentId: 'report', editorId: 'main' }
const replacing = { ...ids, streamId: 's', edit: { replace: { find: 'old' } } }
const textOf = async (): Promise<string> =>
  (dataOf(await server.post('/v2/crdt/get', ids)) as [{ data: string }])[0].data
const prune = () => server.post('/v2/crdt/prune', ids)
const add = async (): Promise<void> => {
  dataOf(await server.post('/v2/crdt/add', { ...ids, type: 'text', data: 'old' }))
}

it('[PRUNE-15] prunes no editor to which a stream writes', async () => {
  server = await startTestServer()
  await add()
  const writer = await ContentStream.open(server, replacing)
  await writer.text('new').received(3)
  expect(await prune()).toMatchObject({ body: { error: { details: { code: 'crdt/open-streams' } } } })
  expect(dataOf(await server.post('/v2/crdt/versions/list', ids))).toEqual([])
  dataOf(await server.post('/v2/crdt/add', { ...ids, editorId: 'other', type: 'text', data: 'x' }))
  dataOf(await server.post('/v2/crdt/prune', { ...ids, editorId: 'other' }))
  expect(await writer.end()).toMatchObject({ deletions: 3 })
  dataOf(await prune())
  expect(await textOf()).toBe('new')
})

it.each([replacing.edit, { insert: { at: 'start' } }])(
  '[PRUNE-15] ends a stream that was opened during a prune: %j',
  async (edit) => {
    const engine = await openMemoryEngine()
    const put = engine.blobs.put.bind(engine.blobs)
    let meanwhile = async (): Promise<void> => {}
    Object.assign(engine.blobs, {
      put: async (key: Key, bytes: Uint8Array) => {
        if (key[0] === 'generations') await meanwhile()
        return put(key, bytes)
      },
    })
    server = await startTestServer({}, { engine })
    await add()
    let writer: ContentStream | null = null
    meanwhile = async () => {
      writer ??= await ContentStream.open(server, { ...replacing, edit })
    }
    dataOf(await prune())
    const opened = writer as ContentStream | null
    opened?.text('new')
    expect(await opened?.error()).toMatchObject({ details: { code: 'crdt/stream-place-removed' } })
    expect(await textOf()).toBe('old')
  },
)

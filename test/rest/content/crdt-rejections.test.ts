import { afterAll, beforeAll, expect, it } from 'vitest'
import { syncedEditor } from '../../support/clients/clients.ts'
import { type Envelope, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
const document = { organizationId: 'acme', documentId: 'refusals', editorId: 'main' }

beforeAll(async () => {
  server = await startTestServer({ maxBodyBytes: 1_048_576, maxDocumentBytes: 50_000 })
  await server.post('/v2/crdt/add', { ...document, type: 'text', data: 'untouched' })
})

afterAll(() => server.stop())

const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)])

const refusals: readonly (readonly [what: string, request: object, message: RegExp])[] = [
  ['a map for text', { type: 'text', data: {} }, /^data must be a string for type "text", not an object$/],
  ['a string for a map', { type: 'map', data: 'x' }, /data must be an object .*not a string/],
  ['an object for an array', { type: 'array', data: {} }, /data must be an array .*not an object/],
  ['an array for XML', { type: 'xml', data: [] }, /data must be a string for type "xml", not an array/],
  ['a type there is not', { type: 'docx', data: 'x' }, /\/data\/type must be one of text, map, array, xml/],
  [
    'XML that is not closed',
    { type: 'xml', data: '<a>\n <b>x</a>', contentKey: 'x' },
    /^data is not well-formed XML at 2:9: /,
  ],
  ['an unknown entity', { type: 'xml', data: '<a>&nbsp;</a>', contentKey: 'x' }, /at 1:4: "&nbsp;/],
  ['DOCTYPE', { type: 'xml', data: '<!DOCTYPE a><a/>', contentKey: 'x' }, /at 1:9: .*DOCTYPE/],
  [
    'XML nested 200 deep',
    { type: 'xml', data: '<a>'.repeat(200) + '</a>'.repeat(200), contentKey: 'x' },
    /at most 199/,
  ],
  ['JSON nested 65 deep', { type: 'array', data: deep(66), contentKey: 'x' }, /at most 64 levels deep/],
  [
    'too many nodes',
    { type: 'array', data: Array<number>(200_001).fill(1), contentKey: 'x' },
    /at most 200000 values/,
  ],
  ['another kind of content', { type: 'map', data: {} }, /is of type "text", not "map"/],
  [
    'a document over its limit',
    { type: 'text', data: 'x'.repeat(60_000) },
    /at most 50000 bytes.*would have 6\d{4}/,
  ],
  ['a body over its limit', { type: 'text', data: 'x'.repeat(1_100_000) }, /1048576 bytes/],
]

it.each(refusals)(
  '[CRDT-34] rejects %s with an error that identifies it, and neither stores nor sends anything',
  async (what, request, message) => {
    const path = Object.values(document).join('/')
    const editor = await syncedEditor(server.wsUrl, path, await server.token('ada'))
    const before = await server.post('/v2/crdt/get', document)
    let received = 0
    editor.doc.on('update', () => {
      received += 1
    })
    // Missing content cannot be of another kind.
    const operations = what === 'another kind of content' ? ['update'] : ['update', 'add']
    for (const operation of operations) {
      const ids = operation === 'add' ? { ...document, documentId: 'missing' } : document
      const { status, body } = await server.post(`/v2/crdt/${operation}`, { ...ids, ...request })
      expect([status === 413 ? 400 : status, body.error?.status]).toEqual([400, 'INVALID_ARGUMENT'])
      expect(body.error?.message).toMatch(message)
    }
    expect((await server.post('/v2/crdt/get', document)).body).toEqual(before.body)
    expect((await server.post('/v2/crdt/get', { ...document, documentId: 'missing' })).status).toBe(404)
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(received).toBe(0)
    editor.close()
  },
)

it('[CRDT-34] turns unpaired surrogates into U+FFFD without an error', async () => {
  const address = { ...document, documentId: 'surrogates' }
  // JSON can contain them only as escapes.
  const response = await fetch(`${server.url}/v2/crdt/add`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-service-api-key': server.credentials.apiKey,
      'x-service-auth-token': server.credentials.authToken,
    },
    body: `{"data":${JSON.stringify(address).slice(0, -1)},"type":"text","data":"a\\ud83db \\ud83d\\ude00"}}`,
  })
  expect(((await response.json()) as Envelope).error).toBeUndefined()
  const { body } = await server.post('/v2/crdt/get', address)
  expect(body.result?.data).toMatchObject([{ data: 'a\ufffdb 😀' }])
})

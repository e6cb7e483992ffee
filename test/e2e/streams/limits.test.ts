import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { eventually } from '../../support/clients/clients.ts'
import { ContentStream } from '../../support/clients/content-stream.ts'
import { dataOf, metric, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
afterEach(() => server.stop())

const ids = { organizationId: 'acme', documentId: 'report', editorId: 'main' }
const opening = { ...ids, edit: { insert: { at: 'end' } } }

async function start(...given: Parameters<typeof startTestServer>): Promise<void> {
  server = await startTestServer(...given)
  dataOf(await server.post('/v2/crdt/add', { ...ids, type: 'text', data: '' }))
}
const textOf = async (): Promise<string> =>
  (dataOf(await server.post('/v2/crdt/get', ids)) as [{ data: string }])[0].data

it('[STRM-30] rejects an opening that is not valid as an HTTP error', async () => {
  await start()
  const bodies: readonly (readonly [string | Uint8Array, string])[] = [
    ['{"edit":\n', 'crdt/invalid-stream'],
    ['[]\n', 'crdt/invalid-stream'],
    ['"x"\n', 'crdt/invalid-stream'],
    [Uint8Array.of(0xff, 0xfe, 0x0a), 'crdt/invalid-stream'],
    [`${'['.repeat(100)}\n`, 'crdt/invalid-stream'],
    [`{"a":"${'x'.repeat(300_000)}"}\n`, 'crdt/invalid-stream'],
    ['{}\n', 'request/invalid-member'],
    [`${JSON.stringify({ ...opening, format: 'stop' })}\n`, 'request/invalid-member'],
    [`${JSON.stringify({ ...opening, streamID: 's' })}\n`, 'request/unknown-member'],
    [`${JSON.stringify({ ...opening, meta: { '': 1 } })}\n`, 'request/invalid-member'],
    ['\n\n', 'crdt/invalid-stream'],
    ['', 'crdt/invalid-stream'],
  ]
  for (const [body, code] of bodies) {
    const writer = ContentStream.raw(server, body).endBody()
    expect(await writer.error(), String(body).slice(0, 40)).toMatchObject({ details: { code } })
    expect(writer.status).toBe(400)
  }
  const typed = ContentStream.send(server, opening, { 'content-type': 'application/json' })
  expect(await typed.error()).toMatchObject({ details: { code: 'request/content-type' } })
})

it.each([
  ['an unknown member', '{"text":"a","to":1}', 'line 2 of the stream must have only the members text, at'],
  ['no member', '{}', 'line 2 of the stream must have exactly one of text, end, withdraw'],
  [
    'two members',
    '{"text":"a","end":true}',
    'line 2 of the stream must have exactly one of text, end, withdraw',
  ],
  ['a number as text', '{"text":1}', 'line 2 of the stream must have a string as text'],
  ['a text as at', '{"text":"a","at":"0"}', 'line 2 of the stream must have a whole number as at'],
  ['a negative at', '{"text":"a","at":-1}', 'line 2 of the stream must have a whole number as at'],
  ['end: false', '{"end":false}', 'line 2 of the stream must have end: true'],
  ['text that is not JSON', 'hello', 'line 2 of the stream must be JSON'],
  ['deep JSON', `{"text":${'['.repeat(50)}`, 'line 2 of the stream must be nested at most 16 levels deep'],
])('[STRM-30] ends a stream after %s with an error', async (_name, line, message) => {
  await start()
  const writer = await ContentStream.open(server, opening)
  writer.raw(`${line}\n`)
  expect(await writer.error()).toMatchObject({ status: 'INVALID_ARGUMENT', message })
})

it('[STRM-30] cuts a stream whose body ends without its end', async () => {
  await start()
  const writer = await ContentStream.open(server, { ...opening, streamId: 's' })
  writer.text('abc').endBody()
  expect(await writer.error()).toMatchObject({ details: { code: 'crdt/invalid-stream' } })
  const again = await ContentStream.open(server, { ...opening, streamId: 's' })
  expect(again.opened.received).toBe(3)
  await again.end()
})

it('[STRM-31] limits the bytes and the seconds of a stream', async () => {
  await start({ streamBytes: 1_024, streamSeconds: 1 })
  const large = await ContentStream.open(server, opening)
  large.text('é'.repeat(512)).text('x')
  expect(await large.error()).toMatchObject({
    status: 'INVALID_ARGUMENT',
    details: { code: 'crdt/stream-limit', limit: 'streamBytes', value: 1_024 },
  })
  const slow = await ContentStream.open(server, opening)
  expect(await slow.error()).toMatchObject({
    details: { code: 'crdt/stream-limit', limit: 'streamSeconds', value: 1 },
  })
  expect((await textOf()).length).toBeLessThanOrEqual(512)
})

it('[STRM-31] limits the open streams of an API key', async () => {
  await start({ streamsPerKey: 1 })
  const one = await ContentStream.open(server, opening)
  const two = ContentStream.send(server, opening)
  expect(await two.error()).toMatchObject({ details: { code: 'limit/exceeded', limit: 'streamsPerKey' } })
  expect(two.status).toBe(429)
  await one.end()
  await (await ContentStream.open(server, opening)).end()
  expect(await metric(server, 'weft_streams_open')).toBe(0)
})

it('[STRM-107] takes over a stream when the limit of open streams is reached', async () => {
  await start({ streamsPerKey: 1 })
  const own = { ...opening, streamId: 's' }
  const one = await ContentStream.open(server, own)
  one.text('abc')
  await one.received(3)
  const different = ContentStream.send(server, { ...own, name: 'Another' })
  expect(await different.error()).toMatchObject({ details: { code: 'crdt/stream-conflict' } })
  const two = ContentStream.send(server, own)
  const { opened } = await two.until((line) => line.opened !== undefined || line.error !== undefined)
  expect(opened).toMatchObject({ received: 3 })
  expect(await one.error()).toMatchObject({ details: { code: 'crdt/stream-taken-over' } })
  const other = ContentStream.send(server, { ...opening, streamId: 'other' })
  expect(await other.error()).toMatchObject({ details: { limit: 'streamsPerKey' } })
  await two.text('d').end()
  expect(await textOf()).toBe('abcd')
  expect(await metric(server, 'weft_streams_open')).toBe(0)
})

it('[STRM-31] limits the bytes of a line, however they arrive', async () => {
  await start()
  const writer = await ContentStream.open(server, opening)
  for (let sent = 0; sent < 300_000; sent += 1_000) writer.raw('x'.repeat(1_000))
  expect(await writer.error()).toMatchObject({
    message: 'line 2 of the stream must have at most 262144 bytes',
  })
})

it('[STRM-32] completes a stream whose writer reads the response only at the end', async () => {
  await start()
  const { port } = new URL(server.url)
  const socket = connect(Number(port), '127.0.0.1')
  await once(socket, 'connect')
  socket.pause()
  const { apiKey, authToken } = server.credentials
  const send = (line: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const chunk = `${Buffer.byteLength(line).toString(16)}\r\n${line}\r\n`
      socket.write(chunk, (error) => (error ? reject(error) : resolve()))
    })
  socket.write(
    [
      'POST /v2/crdt/stream HTTP/1.1',
      'host: a',
      'content-type: application/x-ndjson',
      'transfer-encoding: chunked',
      `x-service-api-key: ${apiKey}`,
      `x-service-auth-token: ${authToken}`,
      '\r\n',
    ].join('\r\n'),
  )
  await send(`${JSON.stringify(opening)}\n`)
  const line = `${JSON.stringify({ text: 'word '.repeat(10) })}\n`
  for (let index = 0; index < 20_000; index += 1) await send(line)
  await send('{"end":true}\n')
  socket.write('0\r\n\r\n')
  let text = ''
  socket.on('data', (bytes) => {
    text += bytes.toString()
  })
  socket.resume()
  await eventually(() => text.includes('"done"'))
  expect((await textOf()).length).toBe(1_000_000)
  socket.destroy()
})

it('[STRM-33] applies credentials, readiness and the audit log', async () => {
  await start({ audit: 'all' })
  const writer = ContentStream.send(server, opening, { 'x-service-auth-token': 'wrong' })
  expect(await writer.error()).toMatchObject({ status: 'UNAUTHENTICATED' })
  const open = await ContentStream.open(server, opening)
  await open.end()
  const records = dataOf(
    await server.post('/v2/workspace/audit/get', {}, { ...workspaceHeaders(server) }),
  ) as readonly { operation: string }[]
  expect(JSON.stringify(records)).toContain('/v2/crdt/stream')
})

const workspaceHeaders = ({ credentials }: TestServer): Record<string, string> => ({
  'x-service-workspace-id': credentials.workspaceId,
  'x-service-workspace-auth-token': credentials.workspaceAuthToken,
})

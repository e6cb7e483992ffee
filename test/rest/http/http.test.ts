import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createHttpServer, httpTimeouts } from '../../../src/rest/http/http-server.ts'
import { sendRaw } from '../../support/clients/raw-websocket.ts'
import { type Envelope, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer({ maxBodyBytes: 200_000 })
})
afterAll(() => server.stop())

const path = '/v2/auth/generate_token'
const valid = { userId: 'ann', userProperties: { name: 'Ann', email: 'ann@example.com' } }
const validBody = JSON.stringify({ data: valid })

interface Call {
  readonly path?: string
  readonly method?: string
  readonly body?: string | Uint8Array<ArrayBuffer> | null
  readonly headers?: Record<string, string>
}

async function call({ path: to = path, method = 'POST', body = validBody, headers = {} }: Call = {}) {
  const { apiKey, authToken } = server.credentials
  const own = {
    'content-type': 'application/json',
    'x-service-api-key': apiKey,
    'x-service-auth-token': authToken,
  }
  const response = await fetch(server.url + to, { method, body, headers: { ...own, ...headers } })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: (text && JSON.parse(text)) as Envelope }
}

async function expectError(given: Call, code: number, status: string, message: RegExp) {
  const { headers, ...answer } = await call(given)
  expect(answer).toMatchObject({
    status: code,
    body: { error: { status, message: expect.stringMatching(message) } },
  })
  expect(Object.keys(answer.body)).toEqual(['error'])
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(headers.get('x-request-id')).toBeTruthy()
  return { headers, ...answer }
}

it('[API-1] returns a success in an envelope with status, message and data', async () => {
  const { status, body } = await call()
  expect(status).toBe(200)
  expect(body.result).toMatchObject({
    status: 'success',
    message: expect.any(String),
    data: expect.any(Object),
  })
  expect(Object.keys(body)).toEqual(['result'])
})

it.each([
  '/v2/nothing',
  '/v1',
  '/v2/auth/generate_token/',
  '/V2/auth/generate_token',
  '/v2//auth',
  '//v2/auth/generate_token',
  '/nothing',
  '/healthz/',
  '/Healthz',
  '/docs/errors/',
  '/sync-http/',
])('[API-2] returns NOT_FOUND for an unknown path: %s', async (unknown) => {
  await expectError({ path: unknown }, 404, 'NOT_FOUND', /nothing at this path/)
  await expectError({ path: unknown, method: 'GET', body: null }, 404, 'NOT_FOUND', /nothing/)
})

it('[API-2] returns INVALID_ARGUMENT for a path with invalid percent-encoding', async () => {
  await expectError({ path: '/v2/%zz' }, 400, 'INVALID_ARGUMENT', /percent-encoding/)
  await expectError({ path: '/v2/%C3%28' }, 400, 'INVALID_ARGUMENT', /percent-encoding/)
})

it.each(['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])(
  '[API-3] answers 405 to a call with the method %s, and states POST in the header Allow',
  async (method) => {
    const { headers } = await expectError(
      { method, body: null },
      405,
      'INVALID_ARGUMENT',
      /method must be POST/,
    )
    expect(headers.get('allow')).toBe('POST')
  },
)

it('[API-3] accepts HEAD for a page; answers 405 to POST, and lists GET and HEAD in the header Allow', async () => {
  const { headers } = await expectError({ path: '/healthz' }, 405, 'INVALID_ARGUMENT', /method/)
  expect(headers.get('allow')).toBe('GET, HEAD')
  expect((await call({ method: 'HEAD', body: null })).status).toBe(405)
  expect((await call({ path: '/healthz', method: 'HEAD', body: null })).status).toBe(200)
})

it.each([
  ['/v2/feed/stream', 'GET'],
  ['/sync-http', 'GET, POST'],
  ['/mcp', 'POST'],
])('[API-3] answers 405 to HEAD for a stream: %s', async (stream, allowed) => {
  const { status, headers } = await call({ path: stream, method: 'HEAD', body: null })
  expect([status, headers.get('allow')]).toEqual([405, allowed])
})

it.each([
  'text/plain',
  'application/jsonp',
  'application/json; charset=latin1',
  'application/json; x=1',
  'application/x-www-form-urlencoded',
  'application/json, text/plain',
])('[API-4] rejects the content type %s', async (type) => {
  await expectError({ headers: { 'content-type': type } }, 400, 'INVALID_ARGUMENT', /application\/json/)
})

it('[API-4] accepts JSON in UTF-8 with any spelling of the charset, and rejects compressed bodies', async () => {
  for (const type of [
    'application/json',
    'Application/JSON; Charset="UTF-8"',
    'application/json;charset=utf-8',
  ])
    expect((await call({ headers: { 'content-type': type } })).status).toBe(200)
  await expectError({ headers: { 'content-encoding': 'gzip' } }, 400, 'INVALID_ARGUMENT', /compressed/)
})

it.each([
  ['no JSON', '{"data":', /not JSON/],
  ['empty', '', /not JSON/],
  ['an array', '[]', /must be a JSON object/],
  ['null', 'null', /must be a JSON object/],
  ['no data', '{}', /\/data is required/],
  ['data null', '{"data":null}', /\/data must be object/],
  ['data an array', '{"data":[]}', /\/data must be object/],
  ['data inherited', '{"__proto__":{"data":{}}}', /\/data is required/],
  ['not UTF-8', new Uint8Array([0x7b, 0xff, 0x7d]), /not UTF-8/],
  ['deep', `{"data":${'['.repeat(5000)}${']'.repeat(5000)}}`, /levels deep/],
  ['deep and broken', '['.repeat(100_000), /levels deep/],
])('[API-5] rejects a body that is %s', async (_name, body, message) => {
  await expectError({ body }, 400, 'INVALID_ARGUMENT', message)
})

it('[API-5] accepts JSON that begins with a byte order mark', async () => {
  expect((await call({ body: `\uFEFF${validBody}` })).status).toBe(200)
})

it('[API-6] answers 413 to a body over the limit, with or without a content-length header, and keeps the connection usable', async () => {
  const body = JSON.stringify({ data: { ...valid, filler: 'x'.repeat(400_000) } })
  await expectError({ body }, 413, 'INVALID_ARGUMENT', /larger than 200000 bytes/)
  const { apiKey, authToken } = server.credentials
  const head = [
    `POST ${path} HTTP/1.1`,
    'host: localhost',
    'content-type: application/json',
    'transfer-encoding: chunked',
    `x-service-api-key: ${apiKey}`,
    `x-service-auth-token: ${authToken}`,
  ]
  const chunk = `${body.length.toString(16)}\r\n${body}\r\n`
  const answer = await sendRaw(server.port, `${head.join('\r\n')}\r\n\r\n`, chunk, '0\r\n\r\n')
  expect(answer.status).toBe(413)
  expect(JSON.parse(answer.body)).toMatchObject({ error: { status: 'INVALID_ARGUMENT' } })
  expect((await call()).status).toBe(200)
})

it('[API-6] accepts a body that is exactly at the limit', async () => {
  const filler = ' '.repeat(200_000 - validBody.length)
  expect((await call({ body: validBody + filler })).status).toBe(200)
  await expectError({ body: `${validBody}${filler} ` }, 413, 'INVALID_ARGUMENT', /./)
})

it('[API-7] lists each problem of the data with a JSON pointer to its position', async () => {
  const body = JSON.stringify({ data: { userId: 1, userProperties: { name: 'Ann' } } })
  const answer = await expectError({ body }, 400, 'INVALID_ARGUMENT', /\/data/)
  expect(answer.body.error?.details?.issues).toEqual([
    { path: '/data/userId', message: 'must be string' },
    { path: '/data/userProperties/email', message: 'is required' },
  ])
})

it('[API-8] returns the request id of the caller if it is valid, else a new one', async () => {
  const given = await call({ headers: { 'x-request-id': 'abc-1.2:3_4' } })
  expect(given.headers.get('x-request-id')).toBe('abc-1.2:3_4')
  for (const bad of ['a b', '<x>', 'x'.repeat(129)]) {
    const { headers } = await call({ headers: { 'x-request-id': bad } })
    expect(headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/)
  }
})

it('[SEC-1] does not reveal the software in responses, and forbids sniffing, framing and caching', async () => {
  for (const to of [path, '/', '/healthz', '/nothing']) {
    const { headers } = await call({
      path: to,
      method: to === path ? 'POST' : 'GET',
      body: to === path ? validBody : null,
    })
    expect(headers.get('x-powered-by')).toBeNull()
    expect(headers.get('server')).toBeNull()
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
  }
})

it.each<[string, string, number]>([
  ['no HTTP', 'hello\r\n\r\n', 400],
  ['an unknown method', 'BREW / HTTP/1.1\r\nhost: x\r\n\r\n', 400],
  ['TLS', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001', 400],
  ['no host', 'GET / HTTP/1.1\r\n\r\n', 400],
  ['two lengths', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n', 400],
  [
    'length and chunks',
    'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
  ],
  ['an invalid length', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n', 400],
  ['a bad header', 'GET / HTTP/1.1\r\nhost: x\r\nbad header: x\r\n\r\n', 400],
  ['a NUL in a header', 'GET / HTTP/1.1\r\nhost: x\r\na: \u0000\r\n\r\n', 400],
  ['headers too large', `GET / HTTP/1.1\r\nhost: x\r\na: ${'x'.repeat(40_000)}\r\n\r\n`, 431],
  ['an unknown expectation', 'POST / HTTP/1.1\r\nhost: x\r\nexpect: tea\r\n\r\n', 417],
])('[API-10] answers malformed HTTP with an error in the envelope: %s', async (_name, request, code) => {
  const answer = await sendRaw(server.port, request)
  expect(answer.status).toBe(code)
  expect(JSON.parse(answer.body)).toMatchObject({ error: { status: 'INVALID_ARGUMENT' } })
  expect(answer.head).toMatch(/^x-request-id: \S+/m)
  expect((await call()).status).toBe(200)
})

it('[API-13] ignores an offer to upgrade to HTTP/2', async () => {
  const { apiKey, authToken } = server.credentials
  const credentials = `x-service-api-key: ${apiKey}\r\nx-service-auth-token: ${authToken}\r\n`
  const offer = 'connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP__\r\n'
  const head = `POST ${path} HTTP/1.1\r\nhost: x\r\n${offer}content-type: application/json\r\n${credentials}`
  const answer = await sendRaw(server.port, `${head}content-length: ${validBody.length}\r\n\r\n${validBody}`)
  expect(answer.status).toBe(200)
  expect((await sendRaw(server.port, `GET /healthz HTTP/1.1\r\nhost: x\r\n${offer}\r\n`)).status).toBe(200)
})

it.each(['CONNECT example.com:443', 'GET foo', 'GET foo:bar', 'OPTIONS *', 'GET http://'])(
  '[API-14] answers with an error in the envelope if the request target is not a path: %s',
  async (target) => {
    const answer = await sendRaw(server.port, `${target} HTTP/1.1\r\nhost: x\r\n\r\n`)
    expect([400, 404]).toContain(answer.status)
    expect(JSON.parse(answer.body)).toMatchObject({
      error: { status: expect.stringMatching(/INVALID_ARGUMENT|NOT_FOUND/) },
    })
    expect(answer.head).toMatch(/^x-request-id: \S+/m)
  },
)

it.each(['/%ff', '/docs/errors/%ff'])(
  '[API-14] rejects a path with invalid percent-encoding: %s',
  async (target) => {
    const answer = await sendRaw(server.port, `GET ${target} HTTP/1.1\r\nhost: x\r\n\r\n`)
    expect(answer.status).toBe(400)
    expect(JSON.parse(answer.body)).toMatchObject({ error: { details: { code: 'request/malformed' } } })
  },
)

it('[API-14] ignores the query and the fragment of a request target', async () => {
  for (const target of ['/healthz?a=/b', '/healthz#a', '/healthz?'])
    expect((await sendRaw(server.port, `GET ${target} HTTP/1.1\r\nhost: x\r\n\r\n`)).status).toBe(200)
})

it('[API-14] if the request target is an absolute URL, serves the path of this URL', async () => {
  expect((await sendRaw(server.port, 'GET http://x/healthz HTTP/1.1\r\nhost: x\r\n\r\n')).status).toBe(200)
})

it.each(['/a/../healthz', 'http://x/a/../healthz', 'http://x/%2e%2e/healthz', 'http://x/a\\..\\healthz'])(
  '[API-14] does not resolve the dot segments of a path: %s',
  async (target) => {
    expect((await sendRaw(server.port, `GET ${target} HTTP/1.1\r\nhost: x\r\n\r\n`)).status).toBe(404)
  },
)

it('[API-11] continues to serve when a client disconnects in the middle of its body', async () => {
  const { apiKey, authToken } = server.credentials
  const socket = connect(server.port, '127.0.0.1')
  const credentials = `x-service-api-key: ${apiKey}\r\nx-service-auth-token: ${authToken}\r\n`
  const head = `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${credentials}`
  await new Promise<void>((resolve) => {
    socket.write(`${head}content-length: 1000\r\n\r\n{"data"`, () => resolve())
  })
  socket.resetAndDestroy()
  expect((await call()).status).toBe(200)
})

it('[SEC-2] answers 408 to a client that sends its headers or body too slowly', async () => {
  expect(httpTimeouts).toMatchObject({
    headersTimeout: 10_000,
    requestTimeout: 20_000,
    connectionsCheckingInterval: 2000,
  })
  const short = { ...httpTimeouts, headersTimeout: 50, requestTimeout: 100, connectionsCheckingInterval: 20 }
  const http = createHttpServer((request) => request.resume(), short)
  await new Promise<void>((resolve) => {
    http.listen(0, '127.0.0.1', resolve)
  })
  const { port } = http.address() as AddressInfo
  const slow = [
    'POST / HTTP/1.1\r\nhost: x\r\n',
    'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n12345',
  ]
  for (const request of slow) {
    const answer = await sendRaw(port, request)
    expect(answer.status).toBe(408)
    expect(JSON.parse(answer.body)).toMatchObject({ error: { status: 'INVALID_ARGUMENT' } })
  }
  http.close()
})

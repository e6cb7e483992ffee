import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operationList } from '../../../src/capabilities/list.ts'
import { sendRaw } from '../../support/clients/raw-websocket.ts'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer({ maxBodyBytes: 2_000 })
})
afterAll(() => server?.stop())

const upgrade = (path: string, ...lines: readonly string[]): string =>
  [`GET ${path} HTTP/1.1`, 'host: x', 'connection: upgrade', 'upgrade: websocket', ...lines, '', ''].join(
    '\r\n',
  )
const healthy = 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n'
const handshake = ['sec-websocket-version: 13', 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==']

/** A request for each kind of response, also ones that no HTTP client would send. */
const requests: Readonly<Record<string, readonly [number, string]>> = {
  'a page': [302, 'GET / HTTP/1.1\r\nhost: x\r\naccept: text/html\r\n\r\n'],
  JSON: [200, 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n'],
  'the OpenAPI document': [200, 'GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n'],
  metrics: [200, 'GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n'],
  HEAD: [200, 'HEAD /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'],
  'no such page': [404, 'GET /nothing HTTP/1.1\r\nhost: x\r\n\r\n'],
  'a wrong method': [405, 'PUT /healthz HTTP/1.1\r\nhost: x\r\n\r\n'],
  'no credentials': [
    400,
    `POST ${operationList[0]?.path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}`,
  ],
  'a bad path': [400, 'GET /%zz HTTP/1.1\r\nhost: x\r\n\r\n'],
  'a target that is not a path': [400, 'CONNECT a:1 HTTP/1.1\r\nhost: x\r\n\r\n'],
  'no host': [400, 'GET / HTTP/1.1\r\n\r\n'],
  'no HTTP': [400, 'hello\r\n\r\n'],
  'too many bytes of headers': [431, `GET / HTTP/1.1\r\nhost: x\r\na: ${'x'.repeat(40_000)}\r\n\r\n`],
  'too many headers': [431, `GET / HTTP/1.1\r\nhost: x\r\n${'a: b\r\n'.repeat(300)}\r\n`],
  'an expectation': [417, 'POST / HTTP/1.1\r\nhost: x\r\nexpect: tea\r\n\r\n'],
  'a websocket elsewhere': [404, upgrade('/elsewhere', ...handshake)],
  'a websocket without a key': [400, upgrade('/sync/a/b/c', 'sec-websocket-version: 13')],
  'a websocket of another version': [
    400,
    upgrade('/sync/a/b/c', 'sec-websocket-version: 99', 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=='),
  ],
  'a websocket of broken protocols': [
    400,
    upgrade('/sync/a/b/c', ...handshake, 'sec-websocket-protocol: a,,b'),
  ],
}

const headerOf = (head: string, name: string): string | undefined =>
  new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1]

describe.each(Object.entries(requests))('%s', (name, [status, request]) => {
  it('[SEC-1] sends the security headers, and sends every error as JSON', async () => {
    const answer = await sendRaw(server.port, request)
    expect(answer.status).toBe(status)
    expect(headerOf(answer.head, 'x-content-type-options')).toBe('nosniff')
    expect(headerOf(answer.head, 'cache-control')).toBe(
      name === 'the OpenAPI document' ? 'no-cache' : 'no-store',
    )
    expect(headerOf(answer.head, 'referrer-policy')).toBe('no-referrer')
    expect(headerOf(answer.head, 'cross-origin-resource-policy')).toBe('same-origin')
    const policy = headerOf(answer.head, 'content-security-policy')
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('unsafe-eval')
    expect(headerOf(answer.head, 'x-request-id')).toBeTruthy()
    expect(answer.head).not.toMatch(/^(server|x-powered-by):/im)
    if (status < 400) return
    expect(headerOf(answer.head, 'content-type')).toBe('application/json; charset=utf-8')
    expect(Object.keys(JSON.parse(answer.body) as object)).toEqual(['error'])
  })
})

it('[SEC-1] if a malformed request follows a valid one on the same connection, answers each of them once', async () => {
  const answers = (await readAll(healthy, 'nonsense\r\n\r\n')).split('HTTP/1.1 ').slice(1)
  expect(answers.map((answer) => answer.slice(0, 3))).toEqual(['200', '400'])
})

it('[SEC-1] if an upgrade request follows another request on the same connection, answers the other request first', async () => {
  const answers = (await readAll(healthy, upgrade('/elsewhere', ...handshake))).split('HTTP/1.1 ').slice(1)
  expect(answers.map((answer) => answer.slice(0, 3))).toEqual(['200', '404'])
})

it.each([
  ['bytes that are no HTTP', 'nonsense\r\n\r\n'],
  ['an upgrade elsewhere', upgrade('/elsewhere', ...handshake)],
  ['an upgrade that is taken', upgrade('/sync/a/b/c', ...handshake)],
])(
  '[SEC-1] answers a request with its own response, even if %s follows on the same connection',
  async (_name, after) => {
    const { apiKey, authToken } = server.credentials
    const body = JSON.stringify({
      data: { userId: 'ann', userProperties: { name: 'Ann', email: 'ann@example.com' } },
    })
    const head = [
      'POST /v2/auth/generate_token HTTP/1.1',
      'host: x',
      'content-type: application/json',
      `x-service-api-key: ${apiKey}`,
      `x-service-auth-token: ${authToken}`,
      `content-length: ${body.length}`,
    ]
    const text = await readAll(`${head.join('\r\n')}\r\n\r\n${body}${after}`)
    expect(text).not.toMatch(/^HTTP\/1\.1 (?!200)/)
  },
)

/** Sends each part after the response to the one before. Returns everything received until the end. */
function readAll(...parts: readonly string[]): Promise<string> {
  const socket = connect(server.port, '127.0.0.1').setEncoding('utf8')
  let text = ''
  let next = 0
  const write = (): void => {
    const part = parts[next++]
    if (part !== undefined) socket.write(part)
  }
  return new Promise((resolve) => {
    socket.on('data', (chunk: string) => {
      text += chunk
      write()
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(text))
    write()
  })
}

import { createServer as createHttp, request as httpRequest, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import express, { type Request } from 'express'
import fastify from 'fastify'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { createEndpoint } from '../../src/client/rest/index.ts'
import { createServer, nodeHandler, type WeftServer } from '../../src/server/library/index.ts'

let weft: WeftServer
const ends: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  weft = await createServer({ engine: 'memory', log: false, shutdownSeconds: 2 })
})
afterAll(() => weft?.close())
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

const body = JSON.stringify({ organizationId: 'acme', documentId: 'plan', editorId: 'main' })
const headers = { 'content-type': 'application/json', cookie: 'user=ada' }
const post = { method: 'POST', headers, body }

/** Creates a handler. It records its faults, the users of cookies, and the sessions of the framework. */
function application() {
  const faults: string[] = []
  const seen: unknown[] = []
  const endpoint = createEndpoint<{ readonly session?: string; readonly method: string }>({
    api: weft.api,
    authorize(request, _document, context) {
      seen.push([request.url, request.headers.get('cookie'), context.session, context.method])
      return { userId: 'ada', role: 'editor' }
    },
    onError: (error) => faults.push(String(error)),
  })
  return { faults, seen, handler: nodeHandler(endpoint) }
}

async function listen(listener: RequestListener): Promise<string> {
  const server = createHttp(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ends.push(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function tokenAt(url: string, init: RequestInit = post): Promise<[number, unknown]> {
  const response = await fetch(url, init)
  const answer = (await response.json()) as { token?: string; error?: { details: { code: string } } }
  return [response.status, answer.error?.details.code ?? answer.token?.slice(0, 3)]
}

it('[END-16] serves an endpoint in node:http', async () => {
  const { handler, seen, faults } = application()
  const url = await listen((request, response) => void handler(request, response))
  expect(await tokenAt(`${url}/any/path/token`)).toEqual([200, 'eyJ'])
  expect(seen).toEqual([[`${url}/any/path/token`, 'user=ada', undefined, 'POST']])
  expect(await tokenAt(`${url}/token`, { method: 'GET' })).toEqual([405, 'request/method'])
  expect(await tokenAt(`${url}/other`)).toEqual([404, 'request/unknown-path'])
  expect(faults).toEqual([])
})

it('[END-16] serves an endpoint below a path of Express, with its session', async () => {
  const { handler, seen } = application()
  const app = express()
  app.use((request: Request & { session?: string }, _response, next) => {
    request.session = 'session of ada'
    next()
  })
  app.use('/weft', handler)
  const url = await listen(app)
  expect(await tokenAt(`${url}/weft/token`)).toEqual([200, 'eyJ'])
  expect(seen).toEqual([[`${url}/weft/token`, 'user=ada', 'session of ada', 'POST']])
})

it('[END-16] [END-17] serves an endpoint in Fastify, which parses bodies', async () => {
  const { handler, seen, faults } = application()
  const app = fastify()
  ends.push(() => app.close())
  app.all('/weft/*', handler)
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  expect(await tokenAt(`${url}/weft/token`)).toEqual([200, 'eyJ'])
  expect(seen).toEqual([[`${url}/weft/token`, 'user=ada', undefined, 'POST']])
  expect(await tokenAt(`${url}/weft/token`, { method: 'GET' })).toEqual([405, 'request/method'])
  expect(await tokenAt(`${url}/weft/token`, { ...post, body: '[]' })).toEqual([400, 'request/invalid-member'])
  expect(faults).toEqual([])
})

it('[END-17] accepts a body that Express has parsed', async () => {
  for (const parser of [express.json(), express.text({ type: () => true })]) {
    const { handler, faults } = application()
    const app = express()
    app.use(parser)
    app.use('/weft', handler)
    const url = await listen(app)
    expect(await tokenAt(`${url}/weft/token`)).toEqual([200, 'eyJ'])
    const inherited = `${body.slice(0, -1)},"__proto__":{"role":"editor"}}`
    expect(await tokenAt(`${url}/weft/token`, { ...post, body: inherited })).toEqual([
      400,
      'request/unknown-member',
    ])
    expect(faults).toEqual([])
  }
})

it('[END-17] reports at once that other code has taken the body', async () => {
  const { handler, faults } = application()
  const url = await listen((request, response) => {
    request.resume().on('end', () => setImmediate(() => void handler(request, response)))
  })
  expect(await tokenAt(`${url}/token`)).toEqual([500, 'server/internal'])
  expect(faults).toEqual([expect.stringContaining('put Weft before parsers of bodies')])
})

it('[END-6] [END-17] answers a body that is too large, with and without its length', async () => {
  const { handler, seen } = application()
  const url = await listen((request, response) => void handler(request, response))
  for (const chunked of [false, true]) {
    const status = await new Promise((resolve, reject) => {
      const length = chunked ? {} : { 'content-length': 5_000_000 }
      const sent = httpRequest(
        `${url}/token`,
        { method: 'POST', headers: { ...headers, ...length } },
        (response) => resolve(response.resume().statusCode),
      )
      sent.on('error', reject)
      for (let at = 0; at < 5; at++) sent.write(Buffer.alloc(1_000_000, 32))
      sent.end()
    })
    expect([chunked, status]).toEqual([chunked, 413])
  }
  expect(seen).toEqual([])
})

it('[END-16] survives requests without a form in the web standard, and clients that disconnect', async () => {
  const { handler, faults } = application()
  const url = await listen((request, response) => void handler(request, response))
  const { port } = new URL(url)
  const raw = (text: string) =>
    new Promise<string>((resolve) => {
      const socket = connect(Number(port), '127.0.0.1')
      let received = ''
      socket.on('data', (chunk) => {
        received += String(chunk)
        socket.end()
      })
      socket.on('close', () => resolve(received.split('\r\n')[0] ?? ''))
      socket.write(text)
    })
  expect(await raw('TRACE /token HTTP/1.1\r\nhost: x\r\n\r\n')).toContain('400')
  expect(await raw('POST /token HTTP/1.1\r\nhost: a b\r\ncontent-length: 0\r\n\r\n')).toContain('400')
  const socket = connect(Number(port), '127.0.0.1')
  await new Promise<void>((resolve) =>
    socket.write(
      `POST /token HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{`,
      () => resolve(),
    ),
  )
  await new Promise((resolve) => setTimeout(resolve, 50))
  socket.destroy()
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(await tokenAt(`${url}/token`)).toEqual([200, 'eyJ'])
  expect(faults).toEqual([])
})

import { closeSync, openSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HocuspocusProvider, HocuspocusProviderWebsocket } from '@hocuspocus/provider'
import { afterEach, expect, it } from 'vitest'
import { eventually, message, typed } from '../../support/clients/clients.ts'
import { frame, isAbout, tokenFrame } from '../../support/clients/hocuspocus-frames.ts'
import { type EventStream, HttpSession, randomSessionId } from '../../support/clients/http-session.ts'
import { pageSocket } from '../../support/clients/page-sockets.ts'
import { startProcess } from '../../support/servers/process.ts'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'

const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

async function start(...[overrides, given]: Parameters<typeof startTestServer>): Promise<TestServer> {
  const server = await startTestServer(overrides, given)
  stops.push(() => server.stop())
  return server
}

async function streamOf(session: HttpSession): Promise<EventStream> {
  const stream = await session.stream({ position: 0 })
  stops.push(() => stream.cut())
  return stream
}

/** A session of HocuspocusProvider with a value of `Authorization`. */
const hocuspocus = (url: string, authorization: string | null, id = randomSessionId()): HttpSession =>
  new HttpSession(`${url}/sync-http`, null, {
    id,
    query: { dialect: 'hocuspocus' },
    headers: authorization === null ? {} : { authorization },
  })

it('[TRANS-84] a session needs an id of 128 bits, and a session of Hocuspocus also a secret of 128 bits', async () => {
  const { url, token } = await start()
  const ada = await token('ada')
  for (const id of ['', 'a'.repeat(31), 'a'.repeat(33), 'A'.repeat(32), 'g'.repeat(32)]) {
    const session = new HttpSession(`${url}/sync-http/acme/plan/main`, ada, { id })
    expect((await session.stream()).response.status).toBe(400)
    expect((await session.post([])).status).toBe(400)
  }
  for (const authorization of [null, 'Session', `Session ${'a'.repeat(31)}`, `Bearer ${'a'.repeat(31)}`]) {
    const session = hocuspocus(url, authorization)
    expect((await session.stream()).response.status).toBe(400)
    expect((await session.post([])).status).toBe(400)
  }
  const session = hocuspocus(url, `Session ${randomSessionId()}`)
  expect((await streamOf(session)).response.status).toBe(200)
  expect((await session.post([])).status).toBe(200)
})

it('[TRANS-84] the id of a session does not give access to it without its secret', async () => {
  const { url, token } = await start()
  const ada = await token('ada')
  const owner = hocuspocus(url, `Session ${randomSessionId()}`)
  const stream = await streamOf(owner)
  for (const authorization of [`Session ${randomSessionId()}`, `Bearer ${ada}`]) {
    const other = hocuspocus(url, authorization, owner.id)
    expect((await other.post([tokenFrame('acme/plan/main', ada)])).status).toBe(403)
    expect((await other.poll(0)).events).toMatchObject([{ event: 'close' }])
  }
  expect((await owner.post([])).body).toEqual({ received: 0 })
  expect(stream.closed()).toBeUndefined()
})

it('[TRANS-84] a session without a token needs its secret if the server requires no tokens', async () => {
  const { url } = await start({ auth: 'none' })
  const path = `${url}/sync-http/acme/plan/main`
  const withSecret = (id?: string): HttpSession =>
    new HttpSession(path, null, {
      headers: { authorization: `Session ${randomSessionId()}` },
      ...(id !== undefined && { id }),
    })
  const owner = withSecret()
  await streamOf(owner)
  expect((await owner.post([])).status).toBe(200)
  expect((await withSecret(owner.id).post([])).status).toBe(403)
  expect((await new HttpSession(path, null, { id: owner.id }).post([])).status).toBe(403)
  const empty = new HttpSession(path, null, { id: owner.id, query: { token: '' } })
  expect((await empty.post([])).status).toBe(403)
  expect((await owner.post([])).status).toBe(200)
})

it('[TRANS-85] ids and secrets of sessions are in no log line, metric, trace or list', async () => {
  const data = await mkdtemp(join(tmpdir(), 'weft-secrets-'))
  stops.push(() => rm(data, { recursive: true, force: true, maxRetries: 20 }))
  const log = join(data, 'log')
  const file = openSync(log, 'w')
  stops.push(() => closeSync(file))
  const options = { WEFT_LOG_LEVEL: 'trace', WEFT_DEBUG: 'document:acme/plan' }
  const server = await startProcess(join(data, 'data'), options, undefined, undefined, file)
  stops.push(() => server.end('SIGKILL'))
  const { url } = server
  const token = await server.token()
  const id = randomSessionId()
  const secret = randomSessionId()
  const authorization = `Session ${secret}`
  const several = hocuspocus(url, authorization, id)
  await streamOf(several)
  await several.post([
    tokenFrame('acme/plan/main', token),
    tokenFrame('acme/plan/other', secret),
    Uint8Array.of(1),
  ])
  await hocuspocus(url, `Session ${'b'.repeat(32)}`, id).post([])
  const single = new HttpSession(`${url}/sync-http/acme/plan/main`, token, { id: id.replace(/./, 'c') })
  await streamOf(single)
  await single.post([message([0, 2], typed('words', 1))])
  const rejected = [
    `acme/plan?session=${id}`,
    `acme/plan/main?sesion=${id}&session=${id}`,
    `a/b/c?session=${id}&position=5`,
  ]
  for (const path of [...rejected, `%3fsession=${id}`])
    for (const method of ['GET', 'POST', 'PUT'])
      await (await fetch(`${url}/sync-http/${path}`, { method, headers: { authorization } })).text()
  const seen = [
    await (await fetch(`${url}/metrics`)).text(),
    JSON.stringify((await server.post('/v2/requests/get', {})).data),
    JSON.stringify((await server.post('/v2/connections/get', {})).data),
  ]
  await single.post([], { close: 1000 })
  await several.post([], { close: 1000 })
  expect(await server.end('SIGTERM')).toBe(0)
  const lines = readFileSync(log, 'utf8')
  expect(lines).toContain('/sync-http messages')
  expect(lines).toContain('"acme"')
  // The ids of both sessions have the same end.
  for (const text of [...seen, lines]) {
    expect(text).not.toContain(id.slice(1))
    expect(text).not.toContain(secret)
  }
})

it('[TRANS-86] the class sends a random secret with all requests of a session without a token', async () => {
  const server = await start()
  const sent: { readonly session: string | null; readonly authorization: string | null }[] = []
  const watching: typeof fetch = (input, init) => {
    const { searchParams } = new URL(String(input))
    const authorization = new Headers(init?.headers).get('authorization')
    sent.push({ session: searchParams.get('session'), authorization })
    return fetch(input, init)
  }
  const websocketProvider = new HocuspocusProviderWebsocket({
    url: `${server.wsUrl}/hocuspocus`,
    WebSocketPolyfill: await pageSocket({ WebSocket: null, fetch: watching }),
  })
  const token = await server.token('ada')
  const provider = new HocuspocusProvider({ websocketProvider, name: 'acme/plan/main', token })
  provider.attach()
  stops.push(() => {
    provider.destroy()
    websocketProvider.destroy()
  })
  await eventually(() => provider.isSynced && sent.length > 2)
  const [first] = sent
  expect(first?.session).toMatch(/^[0-9a-f]{32}$/)
  expect(first?.authorization).toMatch(/^Session [0-9a-f]{32}$/)
  expect(first?.authorization).not.toContain(first?.session)
  expect(sent.filter(({ session }) => session === first?.session)).toEqual(
    sent.filter(({ authorization }) => authorization === first?.authorization),
  )
})

it('[TRANS-87] a session of Hocuspocus with the path of a document carries this document only', async () => {
  const { url, token } = await start()
  const ada = await token('ada')
  const session = new HttpSession(`${url}/sync-http/acme/plan/main`, ada, {
    query: { dialect: 'hocuspocus' },
  })
  const stream = await streamOf(session)
  const about = (name: string, ...types: readonly number[]): boolean =>
    stream.messages().some(({ bytes }) => isAbout(bytes, name, ...types))
  // An empty token means the token of the request.
  await session.post([tokenFrame('acme/plan/main', ''), tokenFrame('acme/other/main', ada)])
  await eventually(() => about('acme/plan/main', 2, 2) && about('acme/other/main', 2, 1))
  expect(about('acme/other/main', 2, 2)).toBe(false)
  await session.post([Buffer.concat([frame('acme/plan/main', 0, 2), message([], typed('hello', 1))])])
  const other = new HttpSession(`${url}/sync-http/acme/plan/main`, ada)
  const reader = await streamOf(other)
  await other.post([message([0, 0], Uint8Array.of(0))])
  await eventually(() => reader.messages().some(({ bytes }) => bytes.includes('hello')))
})

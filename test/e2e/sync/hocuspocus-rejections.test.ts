import { afterEach, beforeEach, expect, it } from 'vitest'
import type * as Y from 'yjs'
import { type Clock, systemClock } from '../../../src/core/base/clock.ts'
import type { Config } from '../../../src/core/config/config.ts'
import { StoreUnavailableError } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { eventually, RawClient } from '../../support/clients/clients.ts'
import { frame, isAbout, ping, pong, tokenFrame } from '../../support/clients/hocuspocus-frames.ts'
import {
  type HocuspocusVersion,
  hocuspocusProvider,
  hocuspocusSocket,
} from '../../support/clients/protocol-clients.ts'
import { newKey, TestProvider } from '../../support/servers/identity-provider.ts'
import { metric, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { withLog } from '../../support/stores/pausable-engine.ts'
import { itLong } from '../../support/time/full-run.ts'

let server: TestServer
/** Part of the ids of documents that the store cannot load at the moment. */
let away: string | null
/** Keys of these documents, one for each attempt to load one. */
let loads: string[]
let aheadMs: number

beforeEach(() => {
  away = null
  loads = []
  aheadMs = 0
})

afterEach(() => server.stop())

async function start(overrides: Partial<Config> = {}): Promise<void> {
  const engine = withLog(await openMemoryEngine(), (log) => ({
    load(key, ...parameters) {
      const text = JSON.stringify(key)
      if (away === null || !text.includes(away)) return log.load(key, ...parameters)
      loads.push(text)
      return Promise.reject(new StoreUnavailableError('away'))
    },
  }))
  const clock: Clock = { ...systemClock, now: () => Date.now() + aheadMs }
  server = await startTestServer(overrides, { engine, clock })
}

const textOf = ({ document }: { document: Y.Doc }): Y.Text => document.getText('content')
const connect = (query = ''): Promise<RawClient> => RawClient.connect(`${server.wsUrl}/hocuspocus${query}`)
const contentOf = async (documentId: string): Promise<string> =>
  JSON.stringify((await server.post('/v2/crdt/get', { organizationId: 'acme', documentId })).body)

/** The versions are tested at the same time, because each one waits before it reconnects. */
const versions: readonly HocuspocusVersion[] = [2, 3, 4]

/** Opens the documents `${prefix} 2` to `${prefix} 4`, each with its version of HocuspocusProvider. */
async function openWith(prefix: string, sockets: readonly ReturnType<typeof hocuspocusSocket>[]) {
  const token = await server.token('ada')
  return versions.map((version, index) => {
    const documentId = `${prefix} ${version}`
    const options = { version, socket: sockets[index] as ReturnType<typeof hocuspocusSocket> }
    const provider = hocuspocusProvider(server, `acme/${documentId}/main`, token, options)
    return { documentId, provider, text: textOf(provider) }
  })
}

type Opened = Awaited<ReturnType<typeof openWith>>
const allSaved = (opened: Opened): Promise<void> =>
  eventually(
    () => opened.every(({ provider }) => provider.isSynced && !provider.hasUnsyncedChanges),
    () => opened.map(({ documentId, provider }) => [documentId, provider.isSynced]),
  )
const allLoaded = (opened: Opened, times: number): Promise<void> =>
  eventually(
    () => opened.every(({ documentId }) => loads.filter((key) => key.includes(documentId)).length >= times),
    () => loads,
  )
const allContain = async (opened: Opened, text: string): Promise<void> => {
  for (const { documentId } of opened)
    await eventually(
      async () => (await contentOf(documentId)).includes(text),
      () => documentId,
    )
}

it('[DIA-24] versions 2 to 4: if the document cannot be opened for some time, the client reconnects, and keeps all edits', async () => {
  await start()
  const sockets = versions.map((version) => hocuspocusSocket(server, version))
  away = 'plan'
  const opened = await openWith('plan', sockets)
  const failed: unknown[] = []
  for (const { provider, text } of opened) {
    provider.on('authenticationFailed', (event: unknown) => failed.push(event))
    text.insert(0, 'before, ')
  }
  await allLoaded(opened, 2)
  for (const { text } of opened) text.insert(8, 'meanwhile, ')
  away = null
  await allSaved(opened)
  for (const { text } of opened) text.insert(19, 'after')
  await allContain(opened, 'before, meanwhile, after')
  expect(failed).toEqual([])
  for (const { provider } of opened) provider.destroy()
  for (const socket of sockets) socket.destroy()
})

it('[DIA-24] versions 2 to 4: if one document cannot be opened, other documents of the socket stay open at first; later, all of them reconnect', async () => {
  await start()
  const codes: number[] = []
  const sockets = versions.map((version) => hocuspocusSocket(server, version))
  for (const socket of sockets)
    socket.on('close', ({ event }: { event: { code: number } }) => codes.push(event.code))
  const ones = await openWith('one', sockets)
  await allSaved(ones)
  away = 'plan'
  const others = await openWith('plan', sockets)
  for (const { text } of others) text.insert(0, 'early')
  await allLoaded(others, 1)
  for (const { text } of ones) text.insert(0, 'undisturbed')
  await allContain(ones, 'undisturbed')
  expect(codes).toEqual([])
  away = null
  for (const { text } of others) text.insert(5, ' and late')
  await allSaved([...others, ...ones])
  await allContain(others, 'early and late')
  expect(codes).toEqual(versions.map(() => 1013))
  for (const { provider } of [...ones, ...others]) provider.destroy()
  for (const socket of sockets) socket.destroy()
})

const name = 'acme/tokens/main'
/** A message that leaves a document, in the form of version 4. */
const leaving = (document: string): Uint8Array => frame(document, 7)
const failures = (): Promise<number> => metric(server, 'weft_auth_failures_total{reason="malformed"}')
const exceeded = (limit: string): Promise<number> => metric(server, `weft_limit_hits_total{limit="${limit}"}`)
const isIn = (client: RawClient, document = name): boolean =>
  client.received.some((bytes) => isAbout(bytes, document, 2, 2))
const refusals = (client: RawClient, document = name): number =>
  client.received.filter((bytes) => isAbout(bytes, document, 2, 1)).length

/** A client that is admitted to `name`. */
async function letIn(token: string, query = ''): Promise<RawClient> {
  const client = await connect(query)
  client.send(tokenFrame(name, token))
  await eventually(() => isIn(client))
  return client
}

it('[DIA-25] counts a rejected newer token in the metrics in the same way as a rejected first token', async () => {
  await start()
  const client = await letIn(await server.token('ada'))
  client.send(tokenFrame(name, 'not a token'))
  await eventually(() => refusals(client) === 1)
  expect(await failures()).toBe(1)
  client.end()
})

it('[DIA-25] uses the token of the URL when a client sends an empty newer token', async () => {
  await start()
  const short = await server.token('ada', { expiresInSeconds: 60 })
  const renewing = await letIn(short, `?token=${await server.token('ada', { expiresInSeconds: 3_600 })}`)
  const other = await letIn(short)
  aheadMs += 45_000
  await eventually(() => renewing.received.some((bytes) => isAbout(bytes, name, 2, 0)))
  renewing.send(tokenFrame(name, ''))
  renewing.send(ping)
  await eventually(() => renewing.received.some((bytes) => Buffer.from(bytes).equals(pong)))
  aheadMs += 30_000
  // The server checks both sessions together.
  await eventually(() => refusals(other) === 1)
  expect(refusals(renewing)).toBe(0)
  for (const client of [renewing, other]) client.end()
})

it('[DIA-26] [LIM-11] closes the socket of an authenticated client after 100 rejected tokens', async () => {
  await start()
  const client = await letIn(await server.token('ada'))
  for (let tried = 0; tried < 120; tried++) client.send(tokenFrame(`acme/${tried}/main`, 'not a token'))
  expect(await client.closed).toEqual({
    code: 1013,
    reason: 'too many rejected tokens (limit 100)',
  })
  expect(await exceeded('rejectedTokens')).toBe(1)
  expect(await failures()).toBe(101)
})

it('[DIA-26] counts a rejected token even if the client leaves the document before the server has checked the token', async () => {
  await start()
  const client = await letIn(await server.token('ada'))
  for (let tried = 0; tried < 120; tried++) {
    client.send(tokenFrame('acme/other/main', 'not a token'))
    client.send(leaving('acme/other/main'))
  }
  expect(await client.closed).toMatchObject({ code: 1013 })
})

it('[DIA-26] rejects expired tokens for any number of documents, and does not count them toward the limit of rejected tokens', async () => {
  await start({ connectsPerAddress: { perSecond: 1, burst: 10 } })
  const old = await server.token('ada', { expiresInSeconds: 60 })
  const client = await letIn(await server.token('ada', { expiresInSeconds: 3_600 }))
  aheadMs += 120_000
  const others = Array.from({ length: 120 }, (_, number) => `acme/${number}/main`)
  for (const other of others) client.send(tokenFrame(other, old))
  client.send(ping)
  await eventually(() => client.received.some((bytes) => Buffer.from(bytes).equals(pong)))
  await eventually(() => others.every((other) => refusals(client, other) === 1))
  expect(client.socket.readyState).toBe(client.socket.OPEN)
  client.end()
})

/** An admitted client, and a token that the provider does not check in time. */
async function withUndecided(): Promise<{ client: RawClient; undecided: string; provider: TestProvider }> {
  const provider = new TestProvider()
  const jwtJwksUrl = await provider.start()
  provider.state = 'silent'
  const { issuer: jwtIssuer, audience: jwtAudience } = provider
  await start({ jwtJwksUrl, jwtIssuer, jwtAudience, authTimeoutSeconds: 1 })
  const undecided = await provider.sign(await newKey('one', 'ES256'))
  return { client: await letIn(await server.token('ada')), undecided, provider }
}

itLong('[DIA-24] if a token cannot be checked in time, closes with 1013, without a rejection', async () => {
  const { client, undecided, provider } = await withUndecided()
  client.send(tokenFrame('acme/other/main', undecided))
  expect(await client.closed).toMatchObject({ code: 1013 })
  expect(refusals(client, 'acme/other/main')).toBe(0)
  provider.stop()
})

it('[DIA-24] if the first token of a websocket cannot be checked in time, closes with 1013', async () => {
  const { client: admitted, undecided, provider } = await withUndecided()
  const client = await connect()
  client.send(tokenFrame(name, undecided))
  expect(await client.closed).toMatchObject({ code: 1013 })
  expect(refusals(client)).toBe(0)
  admitted.end()
  provider.stop()
})

it('[DIA-25] when a newer token cannot be checked in time, keeps the current token valid', async () => {
  const { client, undecided, provider } = await withUndecided()
  client.send(tokenFrame(name, undecided))
  await eventually(async () => (await metric(server, 'weft_auth_failures_total{reason="timeout"}')) === 1)
  client.send(ping)
  await eventually(() => client.received.some((bytes) => Buffer.from(bytes).equals(pong)))
  expect(refusals(client)).toBe(0)
  client.end()
  provider.stop()
})

it('[DIA-26] reads nothing from a client while the server checks its token, even if the client has left the document', async () => {
  const { client, undecided, provider } = await withUndecided()
  client.send(tokenFrame('acme/other/main', undecided))
  client.send(leaving('acme/other/main'))
  await eventually(() => provider.fetches > 0)
  client.send(ping)
  await eventually(() => client.received.some((bytes) => Buffer.from(bytes).equals(pong)))
  expect(await metric(server, 'weft_auth_failures_total{reason="timeout"}')).toBe(1)
  client.end()
  provider.stop()
})

it('[DIA-26] counts each rejected token after the first one, also a rejected newer token, as a new websocket of its address', async () => {
  await start({ connectsPerAddress: { perSecond: 1, burst: 10 } })
  const token = await server.token('ada')
  const client = await letIn(token)
  const isClosed = client.closed.then(() => true)
  for (let tried = 1; client.socket.readyState === client.socket.OPEN; tried++) {
    client.send(tokenFrame(name, 'not a token'))
    await Promise.race([isClosed, eventually(() => refusals(client) >= tried)])
    client.received.length = 0
    client.send(tokenFrame(name, token))
    await Promise.race([isClosed, eventually(() => isIn(client))])
    if (tried > 100) throw new Error('nothing ends it')
    client.received.push(...Array.from({ length: tried }, () => frame(name, 2, 1)))
  }
  expect(await client.closed).toMatchObject({
    code: 1013,
    reason: expect.stringContaining('connectsPerAddress') as string,
  })
  expect(await exceeded('connectsPerAddress')).toBeGreaterThan(0)
})

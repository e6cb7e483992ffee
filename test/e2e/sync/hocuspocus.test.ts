import { afterAll, beforeAll, expect, it } from 'vitest'
import type * as Y from 'yjs'
import { type Clock, systemClock } from '../../../src/core/base/clock.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { eventually, RawClient } from '../../support/clients/clients.ts'
import { connectionOf, frame, tokenFrame } from '../../support/clients/hocuspocus-frames.ts'
import {
  type HocuspocusVersion,
  hocuspocusProvider,
  hocuspocusSocket,
} from '../../support/clients/protocol-clients.ts'
import { dataOf, metric, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { otherKey } from '../../support/servers/tenants.ts'
import { withLog } from '../../support/stores/pausable-engine.ts'
import { itLong } from '../../support/time/full-run.ts'

let server: TestServer
let documents = 0
const newName = (): string => `acme/hocuspocus-${++documents}/main`
const documentOf = (name: string): string => name.split('/')[1] as string

beforeAll(async () => {
  server = await startTestServer({ authTimeoutSeconds: 1 })
})

afterAll(() => server.stop())

const textOf = ({ document }: { document: Y.Doc }): Y.Text => document.getText('content')

it('[DIA-10] serves several documents on one socket, and keeps the others open when the client leaves one', async () => {
  const token = await server.token('ada')
  const [socket, names] = [hocuspocusSocket(server), [newName(), newName(), newName()]]
  const providers = names.map((name) => hocuspocusProvider(server, name, token, { socket }))
  await eventually(() => providers.every(({ isSynced }) => isSynced))
  const others = names.map((name) => hocuspocusProvider(server, name, token))
  for (const [index, provider] of providers.entries()) textOf(provider).insert(0, `text ${index}`)
  await eventually(() => others.every((other, index) => textOf(other).toString() === `text ${index}`))
  providers[0]?.destroy()
  await eventually(() => (others[0]?.awareness?.getStates().size ?? 0) === 1)
  for (const [index, provider] of providers.slice(1).entries()) textOf(provider).insert(0, `more ${index} `)
  await eventually(() => textOf(others[2] as never).toString() === 'more 1 text 2')
  expect(textOf(others[1] as never).toString()).toBe('more 0 text 1')
  for (const provider of [...providers.slice(1), ...others]) provider.destroy()
  for (const { configuration } of others) configuration.websocketProvider.destroy()
  socket.destroy()
})

it('[DIA-11] opens one document several times on one socket, each time in a separate session', async () => {
  const [token, name, socket] = [await server.token('ada'), newName(), hocuspocusSocket(server)]
  const [one, two] = [1, 2].map(() =>
    hocuspocusProvider(server, name, token, { socket, sessionAwareness: true }),
  )
  if (one === undefined || two === undefined) throw new Error('no providers')
  await eventually(() => one.isSynced && two.isSynced)
  textOf(one).insert(0, 'one')
  await eventually(() => textOf(two).toString() === 'one')
  one.destroy()
  textOf(two).insert(3, ' and two')
  await eventually(() => !two.hasUnsyncedChanges)
  const answer = await server.post('/v2/crdt/get', { organizationId: 'acme', documentId: documentOf(name) })
  expect(JSON.stringify(answer.body)).toContain('one and two')
  two.destroy()
  socket.destroy()
})

it.each<HocuspocusVersion>([2, 3, 4])(
  '[DIA-12] version %i: rejects one document, and keeps the socket open',
  async (version) => {
    const [name, socket] = [newName(), hocuspocusSocket(server, version)]
    const options = { version, socket }
    const good = hocuspocusProvider(server, name, await server.token('ada'), options)
    await eventually(() => good.isSynced)
    const reasons: string[] = []
    const refused = (documentName: string, token: string): void => {
      const provider = hocuspocusProvider(server, documentName, token, options)
      provider.on('authenticationFailed', ({ reason }: { reason: string }) => reasons.push(reason))
    }
    refused(newName(), 'not a token')
    refused('no address', await server.token('ada'))
    await eventually(
      () => reasons.length === 2,
      () => reasons,
    )
    expect(reasons.some((reason) => reason.includes('{organizationId}/{documentId}/{editorId}'))).toBe(true)
    textOf(good).insert(0, 'still here')
    await eventually(() => !good.hasUnsyncedChanges)
    good.destroy()
    socket.destroy()
  },
)

it('[DIA-13] sends the scope when a client joins and after each change of its role, and sends a rejection when its token is revoked', async () => {
  const name = newName()
  const admin = hocuspocusProvider(server, name, await server.token('admin', { isAdmin: true }))
  await eventually(() => admin.isSynced)
  textOf(admin).insert(0, 'kept')
  const provider = hocuspocusProvider(server, name, await server.token('ada'))
  const failed: string[] = []
  provider.on('authenticationFailed', ({ reason }: { reason: string }) => failed.push(reason))
  await eventually(() => provider.authorizedScope === 'read-write')
  const documentId = documentOf(name)
  const give = async (accessRole: string): Promise<void> => {
    const resources = [{ type: 'document', id: documentId, organizationId: 'acme', accessRole }]
    const change = { user: { userId: 'ada' }, permissions: { resources } }
    dataOf(await server.post('/v2/auth/permissions/add', change))
  }
  await give('viewer')
  await eventually(() => provider.authorizedScope === 'readonly')
  await give('editor')
  await eventually(() => provider.authorizedScope === 'read-write')
  dataOf(await server.post('/v2/auth/revoke_tokens', { userId: 'ada' }))
  await eventually(() => failed.length > 0)
  for (const each of [admin, provider]) {
    each.destroy()
    each.configuration.websocketProvider.destroy()
  }
})

it("[DIA-14] sends broadcasts of a backend as stateless messages, and forwards a client's messages with its user to the other clients", async () => {
  const name = newName()
  const [ada, bob] = await Promise.all(
    ['ada', 'bob'].map(async (userId) => hocuspocusProvider(server, name, await server.token(userId))),
  )
  if (ada === undefined || bob === undefined) throw new Error('no providers')
  const heard: [string, unknown][] = []
  ada.on('stateless', ({ payload }: { payload: string }) => heard.push(['ada', JSON.parse(payload)]))
  bob.on('stateless', ({ payload }: { payload: string }) => heard.push(['bob', JSON.parse(payload)]))
  await eventually(() => ada.isSynced && bob.isSynced)
  const said = { organizationId: 'acme', documentId: documentOf(name), event: 'build', data: 7 }
  // Connecting does not create the document.
  expect((await server.post('/v2/livestate/broadcast', said)).status).toBe(404)
  ada.document.getText('content').insert(0, 'x')
  await eventually(() => bob.document.getText('content').length === 1)
  ada.sendStateless('hello')
  await eventually(() => heard.length === 1)
  expect(heard).toEqual([['bob', { event: 'stateless', data: 'hello', userId: 'ada' }]])
  dataOf(await server.post('/v2/livestate/broadcast', said))
  await eventually(() => heard.length === 3)
  expect(heard.slice(1).map(([, message]) => message)).toEqual([
    { event: 'build', data: 7 },
    { event: 'build', data: 7 },
  ])
  for (const each of [ada, bob]) {
    each.destroy()
    each.configuration.websocketProvider.destroy()
  }
})

const connect = (): Promise<RawClient> => RawClient.connect(`${server.wsUrl}/hocuspocus`)

it('[DIA-15] closes with 1013 when a client does not send a token in time, so that it may try again', async () => {
  const client = await connect()
  expect(await client.closed).toMatchObject({ code: 1013 })
})

it('[DIA-16] limits the bytes and messages that a client may send before it sends a token', async () => {
  const name = newName()
  const bytes = await connect()
  for (let sent = 0; sent < 20; sent++) bytes.send(frame(name, 0, 2, ...new Uint8Array(60_000)))
  expect(await bytes.closed).toMatchObject({ code: 4401 })
  const messages = await connect()
  for (let sent = 0; sent < 1_100; sent++) messages.send(frame(name, 3))
  expect(await messages.closed).toMatchObject({ code: 4401 })
})

it('[DIA-16] [LIM-11] closes the socket of a client that sends an endless message before a token', async () => {
  const client = await connect()
  const connection = connectionOf(client)
  // The header and a part of a masked binary message of 15 MB.
  connection.write(Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0, 0xe4, 0xe1, 0xc0, 0, 0, 0, 0]))
  for (let sent = 0; sent < 3_000_000; sent += 65_536) connection.write(Buffer.alloc(65_536))
  expect((await client.closed).code).toBe(1006)
  expect(await metric(server, 'weft_limit_hits_total{limit="incompleteMessageBytes"}')).toBe(1)
})

it('[DIA-16] accepts messages up to the general limit after the client has opened a document', async () => {
  const name = newName()
  const provider = hocuspocusProvider(server, name, await server.token('ada'))
  await eventually(() => provider.isSynced)
  textOf(provider).insert(0, 'x'.repeat(3_000_000))
  await eventually(() => !provider.hasUnsyncedChanges)
  provider.destroy()
  provider.configuration.websocketProvider.destroy()
})

it('[DIA-17] answers a ping of one byte with a pong, and closes the socket with 4400 after a malformed message', async () => {
  const client = await connect()
  client.send(Uint8Array.of(9))
  await eventually(() => client.received.length === 1)
  expect([...(client.received[0] as Uint8Array)]).toEqual([10])
  client.send(Uint8Array.of(200, 200, 200, 200, 200, 200))
  expect(await client.closed).toMatchObject({ code: 4400 })
})

it('[DIA-18] requests a newer token before the current one expires, and rejects a newer token of another user', async () => {
  let aheadMs = 0
  const clock: Clock = { ...systemClock, now: () => Date.now() + aheadMs }
  const ahead = await startTestServer({}, { clock })
  const name = newName()
  let next = await ahead.token('ada', { expiresInSeconds: 60 })
  const asked: string[] = []
  const provider = hocuspocusProvider(ahead, name, () => {
    asked.push(next)
    return next
  })
  const failed: string[] = []
  provider.on('authenticationFailed', ({ reason }: { reason: string }) => failed.push(reason))
  await eventually(() => provider.isSynced)
  expect(asked.length).toBe(1)
  aheadMs += 45_000
  next = await ahead.token('ada', { expiresInSeconds: 60 })
  await eventually(() => asked.length === 2)
  aheadMs += 40_000
  next = await ahead.token('bob', { expiresInSeconds: 60 })
  textOf(provider).insert(0, 'still here')
  await eventually(() => !provider.hasUnsyncedChanges)
  expect(failed).toEqual([])
  await eventually(() => asked.length === 3)
  await eventually(
    () => failed.length > 0,
    () => asked.length,
  )
  expect(failed[0]).toContain('another user')
  provider.destroy()
  provider.configuration.websocketProvider.destroy()
  await ahead.stop()
})

it('[DIA-19] at shutdown, closes the socket with 1012, and the client opens its documents again after the next start', async () => {
  const first = await startTestServer()
  const socket = hocuspocusSocket(first)
  const codes: number[] = []
  socket.on('close', ({ event }: { event: { code: number } }) => codes.push(event.code))
  const names = [newName(), newName()]
  const token = await first.token('ada')
  const providers = names.map((name) => hocuspocusProvider(first, name, token, { socket }))
  await eventually(() => providers.every(({ isSynced }) => isSynced))
  await first.stop()
  await eventually(() => codes.length > 0)
  expect(codes[0]).toBe(1012)
  for (const provider of providers) provider.destroy()
  socket.destroy()
})

it('[DIA-12] if a client has no access to a document, drops the messages that follow its token', async () => {
  const name = newName()
  const owner = hocuspocusProvider(server, name, await server.token('ada'))
  await eventually(() => owner.isSynced)
  textOf(owner).insert(0, 'kept')
  await eventually(() => !owner.hasUnsyncedChanges)
  const client = await connect()
  const other = { type: 'document', id: 'another', organizationId: 'acme', accessRole: 'viewer' } as const
  const resources = [other]
  const token = await server.token('eve', { resources })
  // All of them arrive in one read.
  client.send(tokenFrame(name, token))
  for (let sent = 0; sent < 3; sent++) client.send(frame(name, 3))
  client.send(Uint8Array.of(9))
  const isRefusal = (bytes: Uint8Array): boolean =>
    bytes[name.length + 1] === 2 && bytes[name.length + 2] === 1
  await eventually(
    () => client.received.some(isRefusal) && client.received.some(({ length }) => length === 1),
  )
  client.end()
  owner.destroy()
  owner.configuration.websocketProvider.destroy()
})

/** A client that is admitted to a document and then reads nothing. */
async function deafClient(name: string): Promise<RawClient> {
  const client = await connect()
  client.send(tokenFrame(name, await server.token('ada')))
  await eventually(() => client.received.length > 0)
  client.socket.pause()
  return client
}

const lengthy = 'n'.repeat(8_000)
const floods = 6_000

itLong.each([
  ['rejections', lengthy, [2, 0, 0], [2, 1]],
  ['acknowledgments', '', [0, 2, 2, 0, 0], [8, 1]],
] as const)(
  '[DIA-21] when a client does not read, stops reading from it, so that %s wait at the client',
  async (_, other, said, answer) => {
    const name = `${newName()}\0${lengthy}`
    const client = await deafClient(name)
    const message = frame(other === '' ? name : other, ...said)
    for (let sent = 0; sent < floods; sent++) client.send(message)
    let before = -1
    while (client.socket.bufferedAmount !== before) {
      before = client.socket.bufferedAmount
      await new Promise((resolve) => setTimeout(resolve, 1_500))
    }
    expect(before).toBeGreaterThan(0)
    client.socket.resume()
    const at = message.length - said.length
    const isAnswer = (bytes: Uint8Array): boolean => bytes[at] === answer[0] && bytes[at + 1] === answer[1]
    await eventually(() => client.received.filter(isAnswer).length === floods)
    client.end()
  },
)

itLong(
  '[DIA-22] keeps a client connected while its socket is not read because one of its documents loads',
  async () => {
    let aheadMs = 0
    const clock: Clock = { ...systemClock, now: () => Date.now() + aheadMs }
    let gate: Promise<void> | null = null
    let loading = 0
    let open = (): void => {}
    const engine = withLog(await openMemoryEngine(), (log) => ({
      async load(...parameters) {
        loading += 1
        await gate
        return log.load(...parameters)
      },
    }))
    const held = await startTestServer({}, { clock, engine })
    const [socket, token] = [hocuspocusSocket(held), await held.token('ada')]
    const codes: number[] = []
    socket.on('close', ({ event }: { event: { code: number } }) => codes.push(event.code))
    const one = hocuspocusProvider(held, newName(), token, { socket })
    await eventually(() => one.isSynced)
    loading = 0
    gate = new Promise((resolve) => {
      open = resolve
    })
    const other = hocuspocusProvider(held, newName(), token, { socket })
    await eventually(() => loading > 0)
    for (let times = 0; times < 4; times++) {
      aheadMs += 16_000
      await new Promise((resolve) => setTimeout(resolve, 700))
    }
    open()
    await eventually(() => other.isSynced)
    expect(codes).toEqual([])
    one.destroy()
    other.destroy()
    socket.destroy()
    await held.stop()
  },
)

it('[ACC-10] separates documents of two API keys that have the same name, even on one socket', async () => {
  const [name, socket] = [newName(), hocuspocusSocket(server)]
  const other = await otherKey(server)
  const tokens = [await server.token('ada'), other.token]
  const providers = tokens.map((token) =>
    hocuspocusProvider(server, name, token, { socket, sessionAwareness: true }),
  )
  const strangers = tokens.map((token) => hocuspocusProvider(server, name, token))
  const all = [...providers, ...strangers]
  const heard: string[] = []
  for (const [index, provider] of all.entries()) provider.on('stateless', () => heard.push(`${index}`))
  await eventually(() => all.every(({ isSynced }) => isSynced))
  for (const [index, provider] of providers.entries()) textOf(provider).insert(0, `of key ${index}`)
  await eventually(() => strangers.every((each, index) => textOf(each).toString() === `of key ${index}`))
  providers[0]?.sendStateless('only to my own')
  await eventually(() => heard.length > 0)
  for (const [index, { awareness }] of all.entries()) awareness?.setLocalState({ ofKey: index % 2 })
  const seen = (index: number) => [...(all[index]?.awareness?.getStates().values() ?? [])]
  await eventually(() => all.every((_, index) => seen(index).length === 2))
  const theirs = (index: number) => ({ ofKey: index % 2 })
  for (const index of all.keys()) expect(seen(index)).toMatchObject([theirs(index), theirs(index)])
  expect(heard).toEqual(['2'])
  expect(providers.map((each) => textOf(each).toString())).toEqual(['of key 0', 'of key 1'])
  for (const provider of all) provider.destroy()
  for (const { configuration } of strangers) configuration.websocketProvider.destroy()
  socket.destroy()
})

import { afterEach, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import * as Y from 'yjs'
import type { DocumentProvider } from '../../../src/client/provider/index.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { eventually, syncedEditor } from '../../support/clients/clients.ts'
import { openProvider, recorded, settled, textOf } from '../../support/clients/provider.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { type HeldEngine, holdable } from '../../support/stores/pausable-engine.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

async function start(...options: Parameters<typeof startTestServer>): Promise<TestServer> {
  const server = await startTestServer(...options)
  ends.push(() => server.stop())
  return server
}

/** Opens a provider for a user, which ends with the test. */
function open(
  server: TestServer,
  userId: string,
  options: Partial<Parameters<typeof openProvider>[0]> = {},
): DocumentProvider {
  const provider = openProvider({ url: server.url, getToken: () => server.token(userId), ...options })
  ends.push(() => provider.destroy())
  return provider
}

const contentOf = async (server: TestServer): Promise<unknown> => {
  const address = { organizationId: 'acme', documentId: 'plan', editorId: 'main' }
  const found = dataOf(await server.post('/v2/crdt/get', address)) as { data: unknown }[]
  return found[0]?.data
}

it('[PROV-1] keeps two providers and a stock client in sync, and shows all of them with the names of their tokens', async () => {
  const server = await start()
  const ada = open(server, 'ada', {
    getToken: () => server.token('ada', { name: 'Ada' }),
    user: { color: 'red' },
  })
  const grace = open(server, 'grace', { getToken: () => server.token('grace', { name: 'Grace' }) })
  await Promise.all([settled(ada), settled(grace)])
  const stock = await syncedEditor(server.wsUrl, 'acme/plan/main', await server.token('lin', { name: 'Lin' }))
  ends.push(() => stock.close())
  stock.provider.awareness.setLocalStateField('user', { name: 'somebody else' })
  textOf(ada).insert(0, 'Ada. ')
  textOf(grace).insert(0, 'Grace. ')
  stock.text.insert(0, 'Lin. ')
  const texts = (): string[] => [textOf(ada), textOf(grace), stock.text].map(String)
  await eventually(() => texts().every((each) => each.length === 17 && each === String(stock.text)), texts)
  await settled(ada)
  await settled(grace)
  expect(await contentOf(server)).toBe(String(stock.text))
  const namesOf = (provider: DocumentProvider) => provider.users().map(({ name }) => name)
  // Earlier than the first renewal of a state, which also shows users.
  const beforeRenewalMs = 10_000
  await eventually(
    () => [ada, grace].every((each) => namesOf(each).length === 3),
    () => namesOf(ada),
    beforeRenewalMs,
  )
  expect(namesOf(ada)).toEqual(['Ada', ...namesOf(ada).slice(1)])
  expect(namesOf(ada).toSorted()).toEqual(['Ada', 'Grace', 'Lin'])
  expect(namesOf(grace).toSorted()).toEqual(['Ada', 'Grace', 'Lin'])
  expect(grace.users().find(({ id }) => id === 'ada')).toMatchObject({
    name: 'Ada',
    color: 'red',
    isSelf: false,
  })
  expect(ada.users()[0]).toMatchObject({ id: 'ada', isSelf: true, clientIds: [ada.doc.clientID] })
  const seen = recorded(ada, 'users')
  grace.destroy()
  await eventually(() => namesOf(ada).length === 2)
  expect(seen.length).toBeGreaterThan(0)
  expect(ada.users().map(({ kind }) => kind)).toEqual(['user', 'user'])
  const users = [{ userId: 'bot', name: 'Bot', kind: 'agent' }]
  const document = { organizationId: 'acme', documentId: 'plan' }
  expect((await server.post('/v2/presence/add', { ...document, users })).status).toBe(200)
  await eventually(() => ada.users().some(({ id, kind }) => id === 'bot' && kind === 'agent'))
})

it('[PROV-1] shows several windows of a user as one user, also if one provider has each window', async () => {
  const server = await start()
  const [one, other] = [open(server, 'ada', { user: {} }), open(server, 'ada', { user: {} })]
  const grace = open(server, 'grace', { user: {} })
  await Promise.all([one, other, grace].map(settled))
  await eventually(() => grace.users().length === 2 && grace.users()[1]?.clientIds.length === 2)
  await eventually(() => one.users()[0]?.clientIds.length === 2)
  expect(one.users()[0]).toMatchObject({ id: 'ada', isSelf: true })
})

it('[PROV-2] is saved only when the disk has every change', async () => {
  const engine: HeldEngine = holdable(await openMemoryEngine())
  const server = await start({}, { engine })
  const ada = open(server, 'ada')
  expect(ada.saved).toBe(true)
  await settled(ada)
  const saved = recorded(ada, 'saved')
  textOf(ada).insert(0, 'one')
  expect(ada.saved).toBe(false)
  await settled(ada)
  engine.hold()
  textOf(ada).insert(0, 'two')
  await eventually(() => engine.waiting() > 0)
  textOf(ada).insert(0, 'three')
  await new Promise((resolve) => setTimeout(resolve, 150))
  expect(ada.saved).toBe(false)
  engine.release()
  await settled(ada)
  expect(saved).toEqual([[false], [true], [false], [true]])
  expect(await contentOf(server)).toBe('threetwoone')
})

it('[PROV-2] is not saved when it opens with content that the server lacks, until the disk has it', async () => {
  const server = await start()
  const doc = new Y.Doc()
  doc.getText('content').insert(0, 'written before')
  const ada = open(server, 'ada', { doc, connect: false })
  expect(ada.saved).toBe(false)
  expect(ada.status).toBe('closed')
  ada.connect()
  await settled(ada)
  expect(await contentOf(server)).toBe('written before')
})

it('[PROV-2] is saved again after the server has requested a missing change', async () => {
  const server = await start()
  const ada = open(server, 'ada')
  await settled(ada)
  // A change arrives without the one before it, as from an application that merges files.
  const other = new Y.Doc()
  const updates: Uint8Array[] = []
  other.on('update', (update) => updates.push(update))
  other.getText('content').insert(0, 'a')
  other.getText('content').insert(1, 'b')
  Y.applyUpdate(ada.doc, updates[1] as Uint8Array, 'file')
  await new Promise((resolve) => setTimeout(resolve, 100))
  Y.applyUpdate(ada.doc, updates[0] as Uint8Array, 'file')
  await settled(ada)
  expect(await contentOf(server)).toBe('ab')
})

it('[PROV-3] reports the role and its changes, does not count dropped changes as saved, and sends them when the user may write', async () => {
  const server = await start()
  const grace = open(server, 'grace')
  await settled(grace)
  textOf(grace).insert(0, 'text')
  await settled(grace)
  const set = async (path: string, accessRole: string): Promise<void> => {
    const resources = [{ type: 'document', id: 'plan', organizationId: 'acme', accessRole }]
    dataOf(await server.post(path, { user: { userId: 'ada' }, permissions: { resources } }))
  }
  dataOf(
    await server.post('/v2/organizations/documents/access/update', {
      organizationId: 'acme',
      documentIds: ['plan'],
      accessType: 'restricted',
    }),
  )
  await set('/v2/auth/permissions/add', 'viewer')
  const ada = open(server, 'ada')
  const [roles, statuses] = [recorded(ada, 'role'), recorded(ada, 'status')]
  await settled(ada)
  expect([ada.role, ada.canWrite]).toEqual(['viewer', false])
  textOf(ada).insert(0, 'dropped ')
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(ada.saved).toBe(false)
  await set('/v2/auth/permissions/add', 'editor')
  await settled(ada)
  expect(roles).toEqual([
    ['viewer', false],
    ['editor', true],
  ])
  expect(await contentOf(server)).toBe('dropped text')
  await set('/v2/auth/permissions/add', 'viewer')
  await eventually(() => !ada.canWrite)
  expect([...new Set(statuses.map(([status]) => status))]).toEqual(['connected'])
  expect(ada.saved).toBe(true)
})

it('[PROV-9] reports the messages of backends', async () => {
  const server = await start()
  const ada = open(server, 'ada')
  await settled(ada)
  textOf(ada).insert(0, 'text')
  await settled(ada)
  const messages = recorded(ada, 'message')
  const where = { organizationId: 'acme', documentId: 'plan' }
  dataOf(
    await server.post('/v2/livestate/broadcast', { ...where, event: 'build.finished', data: { build: 7 } }),
  )
  await eventually(() => messages.length > 0)
  expect(messages).toEqual([[{ event: 'build.finished', data: { build: 7 } }]])
})

it('[PROV-16] serves several documents in one page, each with its own connection', async () => {
  const server = await start()
  const providers = ['one', 'two', 'three'].map((documentId) => open(server, 'ada', { documentId }))
  await Promise.all(providers.map(settled))
  for (const [index, provider] of providers.entries()) textOf(provider).insert(0, `text ${index}`)
  await Promise.all(providers.map(settled))
  const copies = ['one', 'two', 'three'].map((documentId) => open(server, 'grace', { documentId }))
  await Promise.all(copies.map(settled))
  expect(copies.map((provider) => String(textOf(provider)))).toEqual(['text 0', 'text 1', 'text 2'])
})

it('[PROV-11] uses HTTP if websockets do not work', async () => {
  const server = await start()
  class Rejected extends WebSocket {
    constructor() {
      super('ws://127.0.0.1:1')
    }
  }
  const ada = open(server, 'ada', { WebSocket: Rejected as never })
  const grace = open(server, 'grace')
  await Promise.all([settled(ada), settled(grace)])
  textOf(ada).insert(0, 'over HTTP')
  await eventually(() => String(textOf(grace)) === 'over HTTP')
  await settled(ada)
})

it('[PRUNE-1] keeps text that was on its way into a paragraph when the connection broke after a prune', async () => {
  const server = await start()
  const sockets: WebSocket[] = []
  let isBroken = false
  class Breakable extends WebSocket {
    constructor(url: string) {
      super(url)
      sockets.push(this)
    }
    override send(data: Uint8Array): void {
      if (!isBroken) super.send(data)
    }
  }
  const ada = open(server, 'ada', { WebSocket: Breakable as never })
  await settled(ada)
  const fragment = ada.doc.getXmlFragment('body')
  const paragraph = new Y.XmlElement('paragraph')
  const text = new Y.XmlText('one three')
  paragraph.insert(0, [text])
  fragment.insert(0, [paragraph])
  await settled(ada)
  isBroken = true
  text.insert(4, 'two ')
  text.delete(8, 5)
  text.insert(8, '!')
  const where = { organizationId: 'acme', documentId: 'plan', editorId: 'main' }
  dataOf(await server.post('/v2/crdt/prune', where))
  await eventually(() => fragment.get(0) !== paragraph)
  expect(String(fragment)).toBe('<paragraph>one three</paragraph>')
  isBroken = false
  for (let round = 0; round < 2; round += 1) {
    sockets.at(-1)?.terminate()
    await eventually(() => ada.status !== 'connected')
    await settled(ada)
    await eventually(
      () => String(fragment) === '<paragraph>one two !</paragraph>',
      () => String(fragment),
    )
  }
  const stock = await syncedEditor(server.wsUrl, 'acme/plan/main', await server.token('lin'))
  expect(String(stock.doc.getXmlFragment('body'))).toBe(String(fragment))
  stock.close()
})

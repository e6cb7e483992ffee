import { afterEach, expect, it } from 'vitest'
import * as Y from 'yjs'
import {
  type BrowserStorage,
  type DocumentProvider,
  type DocumentRole,
  TokenDeniedError,
} from '../../../src/client/provider/index.ts'
import { eventually } from '../../support/clients/clients.ts'
import { openProvider, recorded, settled, textOf } from '../../support/clients/provider.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

/** An address at which no server listens. */
const unreachable = 'http://127.0.0.1:1'
/** Milliseconds after which a wrong problem would have been shown. */
const problemMs = 2_500

const document = { organizationId: 'acme', documentId: 'plan' }
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Returns the class of a store that keeps its data as long as the test runs, as a browser does. */
function newStorage(): BrowserStorage {
  const updates: Uint8Array[] = []
  const values = new Map<string, ArrayBuffer | string>()
  return class {
    readonly whenSynced: Promise<void>
    readonly #doc: Y.Doc
    constructor(_name: string, doc: Y.Doc) {
      this.#doc = doc
      this.whenSynced = Promise.resolve().then(() => {
        for (const update of updates) Y.applyUpdate(doc, update, this)
        doc.on('update', this.#store)
      })
    }
    readonly #store = (update: Uint8Array): void => void updates.push(update)
    async get(key: string): Promise<ArrayBuffer | string | undefined> {
      return values.get(key)
    }
    async set(key: string, value: ArrayBuffer | string): Promise<void> {
      values.set(key, value)
    }
    async destroy(): Promise<void> {
      this.#doc.off('update', this.#store)
    }
    async clearData(): Promise<void> {
      await this.destroy()
      values.clear()
      updates.length = 0
    }
  }
}

/** Starts a server with a document in which only users with a role can do something. */
async function start(): Promise<TestServer> {
  const server = await startTestServer()
  ends.push(() => server.stop())
  dataOf(await server.post('/v2/crdt/add', { ...document, editorId: 'main', type: 'text', data: 'Text.' }))
  const access = { organizationId: 'acme', documentIds: ['plan'], accessType: 'restricted' }
  dataOf(await server.post('/v2/organizations/documents/access/update', access))
  return server
}

async function setRole(server: TestServer, accessRole: DocumentRole, userId = 'ada'): Promise<void> {
  const resources = [{ type: 'document', id: 'plan', organizationId: 'acme', accessRole }]
  dataOf(await server.post('/v2/auth/permissions/add', { user: { userId }, permissions: { resources } }))
}

type Options = Partial<Parameters<typeof openProvider>[0]>

/** Opens a provider, which ends with the test. */
function open(server: TestServer, offline: BrowserStorage, options: Options = {}): DocumentProvider {
  const common = { url: server.url, getToken: () => server.token('ada'), offline }
  const provider = openProvider({ ...common, ...options })
  ends.push(() => provider.destroy())
  return provider
}

/** Opens the document once with a network, so that the store has it. */
async function visit(server: TestServer, offline: BrowserStorage): Promise<void> {
  const provider = open(server, offline)
  await settled(provider)
  provider.destroy()
  await pause(20)
}

/** Options of a page without a network. */
const withoutNetwork: Options = {
  url: unreachable,
  getToken: () => Promise.reject(new Error('no network')),
}

const roleOf = ({ role, canWrite }: DocumentProvider) => [role, canWrite]

for (const [role, canWrite] of [
  ['editor', true],
  ['viewer', false],
] as const)
  it(`[PROV-19] knows without a network that the user is ${role}`, async () => {
    const [server, offline] = [await start(), newStorage()]
    await setRole(server, role)
    await visit(server, offline)
    for (const connect of [true, false]) {
      const provider = open(server, offline, { ...withoutNetwork, connect })
      const roles = recorded(provider, 'role')
      expect(roleOf(provider)).toEqual([null, true])
      await provider.whenLoaded()
      expect([...roleOf(provider), roles]).toEqual([role, canWrite, [[role, canWrite]]])
      expect([String(textOf(provider)), provider.isStoredOffline]).toEqual(['Text.', true])
      provider.destroy()
    }
  })

for (const [kind, change, after] of [
  ['insertions', (text: Y.Text) => text.insert(0, 'Offline. '), 'Offline. Text.'],
  ['deletions', (text: Y.Text) => text.delete(0, 3), 't.'],
] as const)
  it(`[PROV-20] keeps offline ${kind} of a user who has become a viewer, reports that, and sends them later`, async () => {
    const [server, offline] = [await start(), newStorage()]
    await setRole(server, 'editor')
    await visit(server, offline)
    const away = open(server, offline, withoutNetwork)
    await away.whenLoaded()
    change(textOf(away))
    away.destroy()
    await pause(20)
    await setRole(server, 'viewer')
    const back = open(server, offline)
    const statuses = recorded(back, 'status')
    await eventually(
      () => back.problem?.code === 'read-only',
      () => [back.status, back.problem, back.saved],
    )
    expect([back.status, back.problem?.action, back.saved]).toEqual(['connected', 'wait', false])
    expect([...roleOf(back), String(textOf(back))]).toEqual(['viewer', false, after])
    const stored = async () =>
      (dataOf(await server.post('/v2/crdt/get', { ...document, editorId: 'main' })) as { data: string }[])[0]
        ?.data
    expect(await stored()).toBe('Text.')
    expect(statuses.map(([status]) => status)).toEqual(['connected', 'connected'])
    await setRole(server, 'editor')
    await settled(back)
    expect([await stored(), back.problem]).toEqual([after, null])
  })

it('[PROV-20] reports no problem to a viewer who has changed nothing', async () => {
  const [server, offline] = [await start(), newStorage()]
  await setRole(server, 'editor')
  await visit(server, offline)
  await setRole(server, 'viewer')
  const provider = open(server, offline)
  const statuses = recorded(provider, 'status')
  await settled(provider)
  await pause(problemMs)
  expect([statuses, roleOf(provider)]).toEqual([[['connected', null]], ['viewer', false]])
})

it('[PROV-19] does not use the role of another user', async () => {
  const [server, offline] = [await start(), newStorage()]
  await setRole(server, 'editor')
  await visit(server, offline)
  const grace = open(server, offline, { url: unreachable, getToken: () => server.token('grace') })
  await eventually(() => grace.status === 'offline')
  expect(roleOf(grace)).toEqual([null, false])
  // The server decides.
  await setRole(server, 'editor', 'grace')
  const connected = open(server, offline, { getToken: () => server.token('grace') })
  await settled(connected)
  expect(roleOf(connected)).toEqual(['editor', true])
})

it('[PROV-19] forgets the role of a user who gets no token', async () => {
  const [server, offline] = [await start(), newStorage()]
  await setRole(server, 'editor')
  await visit(server, offline)
  const getToken = () => Promise.reject(new TokenDeniedError('removed'))
  const denied = open(server, offline, { getToken })
  await eventually(() => denied.problem?.code === 'token-denied')
  denied.destroy()
  const away = open(server, offline, withoutNetwork)
  await away.whenLoaded()
  expect(roleOf(away)).toEqual([null, true])
})

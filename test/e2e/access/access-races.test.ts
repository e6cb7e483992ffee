import { afterEach, beforeEach, expect, it } from 'vitest'
import type { DocumentLog, Engine, Kv } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { RawClient, typed } from '../../support/clients/clients.ts'
import { editRecorded } from '../../support/data/recorded-edits.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

/** A real engine that can delay one kind of read. */
interface Slowed {
  readonly engine: Engine
  /** Delays the next load of a log, or the next read of a grant, until the returned function is called. */
  slow(what: 'load' | 'grants'): () => void
  /** Number of read keys that name a document. */
  readsOf(documentId: string): number
}

async function slowed(): Promise<Slowed> {
  const engine = await openMemoryEngine()
  const gates: { load: Promise<void> | null; grants: Promise<void> | null } = { load: null, grants: null }
  const wait = async (what: 'load' | 'grants'): Promise<void> => {
    const gate = gates[what]
    gates[what] = null
    await gate
  }
  const load: DocumentLog['load'] = async (...parameters) => {
    await wait('load')
    return engine.log.load(...parameters)
  }
  const read: unknown[] = []
  const get: Kv['get'] = async (part, keys) => {
    read.push(...keys.flat())
    const values = await engine.kv.get(part, keys)
    if (keys.some(([kind]) => kind === 'grants')) await wait('grants')
    return values
  }
  const scan: Kv['scan'] = async (part, range) => {
    const found = await engine.kv.scan(part, range)
    if (range.prefix?.[0] === 'grants') await wait('grants')
    return found
  }
  const log = withOthers<DocumentLog>(engine.log, { load })
  const kv = withOthers<Kv>(engine.kv, { get, scan })
  return {
    engine: withOthers<Engine>(engine, { log, kv }),
    readsOf: (documentId) => read.filter((name) => name === documentId).length,
    slow: (what) => {
      let release = (): void => {}
      gates[what] = new Promise((resolve) => {
        release = resolve
      })
      return () => release()
    },
  }
}

/** Returns `target` with some members replaced. Its other methods run on `target` itself. */
const withOthers = <T extends object>(target: T, others: Partial<T>): T =>
  new Proxy(target, {
    get: (_, name) => {
      const value: unknown = Reflect.get(name in others ? others : target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })

let store: Slowed
let server: TestServer

beforeEach(async () => {
  store = await slowed()
  server = await startTestServer({}, { engine: store.engine })
})

afterEach(() => server.stop())

const done = async (path: string, data: object): Promise<unknown> => dataOf(await server.post(path, data))
const url = async (documentId: string, userId: string): Promise<string> =>
  `${server.wsUrl}/sync/acme/${documentId}/main?token=${await server.token(userId)}`
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

it('[ACC-75] rejects a client that connects to a document while the document is created as restricted', async () => {
  await done('/v2/organizations/add', { organizations: [{ organizationId: 'acme' }] })
  const release = store.slow('load')
  const client = await RawClient.connect(await url('secret', 'mallory'))
  await sleep(50)
  const documents = [{ documentId: 'secret', accessType: 'restricted' }]
  expect(await done('/v2/organizations/documents/add', { organizationId: 'acme', documents })).toMatchObject({
    secret: { success: true },
  })
  release()
  expect([4403, 4404]).toContain((await client.closed).code)
})

it('[ACC-76] when two reads of a permission overlap and the earlier read ends last, keeps the result of the later read', async () => {
  const address = (documentId: string) => ({ organizationId: 'acme', documentId, editorId: 'main' })
  for (const documentId of ['plan', 'other']) {
    await done('/v2/crdt/add', { ...address(documentId), type: 'text', data: '' })
  }
  const clients = []
  for (const documentId of ['plan', 'other']) {
    const client = await RawClient.connect(await url(documentId, 'ada'))
    await client.roundTrip()
    clients.push(client)
  }
  const release = store.slow('grants')
  const documents = [{ documentId: 'plan', documentName: 'renamed' }]
  await done('/v2/organizations/documents/update', { organizationId: 'acme', documents })
  await sleep(20)
  await done('/v2/auth/permissions/add', {
    user: { userId: 'ada' },
    permissions: {
      resources: [{ type: 'document', id: 'plan', organizationId: 'acme', accessRole: 'viewer' }],
    },
  })
  await sleep(50)
  release()
  await sleep(200)
  const [plan, other] = clients as [RawClient, RawClient]
  plan.sendUpdate(typed('still an editor', 7))
  await plan.roundTrip()
  expect(await done('/v2/crdt/get', address('plan'))).toMatchObject([{ data: '' }])
  for (const client of [plan, other]) client.end()
})

it('does not read the permissions of open or connecting clients again when other users create documents', async () => {
  const inside = await RawClient.connect(await url('inside', 'ada'))
  await inside.roundTrip()
  /** Number of reads of a document while a client connects to it and `others` documents are created. */
  const readsWith = async (documentId: string, others: number): Promise<number> => {
    const other = { organizationId: 'acme', documentId, editorId: 'other' }
    await done('/v2/crdt/add', { ...other, type: 'text', data: '' })
    await editRecorded(server, other)
    const before = store.readsOf(documentId)
    const release = store.slow('load')
    const client = await RawClient.connect(await url(documentId, 'bob'))
    await sleep(50)
    for (let index = 0; index < others; index++) {
      const made = await RawClient.connect(await url(`${documentId}-${index}`, 'carol'))
      await made.roundTrip()
      made.end()
    }
    release()
    await client.roundTrip()
    client.end()
    return store.readsOf(documentId) - before
  }
  const [before, alone] = [store.readsOf('inside'), await readsWith('alone', 0)]
  expect(alone).toBeGreaterThan(0)
  expect(await readsWith('among', 5)).toBe(alone)
  expect(store.readsOf('inside')).toBe(before)
  inside.end()
})

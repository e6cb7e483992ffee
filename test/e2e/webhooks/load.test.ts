import { expect, it } from 'vitest'
import type { Engine, Key } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { eventually, syncedEditor } from '../../support/clients/clients.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import {
  type Behavior,
  callsOf,
  HookReceiver,
  hanging,
  hookCalls,
  hookTests,
  organizationId,
} from '../../support/servers/webhook-servers.ts'
import { webhookOptions } from '../../support/servers/webhooks.ts'
import { HeldClock } from '../../support/time/clock.ts'
import { itLong } from '../../support/time/full-run.ts'

const { start, receiving } = hookTests()

/** A store that measures the most bytes in progress for messages of targets. */
async function openWeighed(clock: HeldClock) {
  const engine = await openMemoryEngine({ clock })
  let [bytes, most] = [0, 0]
  const commit: Engine['kv']['commit'] = async (part, change) => {
    const size =
      part[0] === 'deliveries' ? (change.puts ?? []).reduce((sum, put) => sum + put.value.length, 0) : 0
    bytes += size
    most = Math.max(most, bytes)
    try {
      return await engine.kv.commit(part, change)
    } finally {
      bytes -= size
    }
  }
  const kv: Engine['kv'] = {
    get: (...call) => engine.kv.get(...call),
    scan: (...call) => engine.kv.scan(...call),
    commit,
  }
  return { engine: { ...engine, kv }, most: () => most }
}

/** A store with a hook before commits to messages of targets. */
async function openMinded(clock: HeldClock) {
  const engine = await openMemoryEngine({ clock })
  const minded = { before: async (_part: Key): Promise<void> => {}, failures: 0 }
  const kv: Engine['kv'] = {
    get: (...call) => engine.kv.get(...call),
    scan: (...call) => engine.kv.scan(...call),
    commit: async (part, change) => {
      if (part[0] === 'deliveries') await minded.before(part)
      return engine.kv.commit(part, change)
    },
  }
  const queue: Engine['queue'] = {
    claim: (...call) => engine.queue.claim(...call),
    extend: (...call) => engine.queue.extend(...call),
    done: (...call) => engine.queue.done(...call),
    moveToDeadLetters: (...call) => engine.queue.moveToDeadLetters(...call),
    retry: (token, delayMs, error) => {
      if (error !== '') minded.failures += 1
      return engine.queue.retry(token, delayMs, error)
    },
  }
  return { engine: { ...engine, kv, queue }, minded }
}

/** Adds many comments with one call, an event for each. */
async function comment(server: TestServer, count: number, text: string): Promise<void> {
  const actionUser = { userId: 'ann' }
  const comments = Array.from({ length: count }, () => ({ from: actionUser, text }))
  const data = { organizationId, documentId: 'd', actionUser, annotations: [{ comments }] }
  dataOf(await server.post('/v2/commentannotations/add', data))
}

itLong(
  '[HOOK-240] when many endpoints get large events, limits the bytes that are written at the same time',
  async () => {
    const clock = new HeldClock(Date.now())
    const { engine, most } = await openWeighed(clock)
    const server = await startTestServer({ webhookAllowlist: ['127.0.0.1'] }, { engine, clock })
    const receiver = await HookReceiver.start(hanging)
    try {
      const { begin, endpoint, document, log } = callsOf(server)
      await begin()
      await document('d')
      const filterTypes = ['comment.add']
      const ids = await Promise.all(
        Array.from({ length: 100 }, () => endpoint(receiver.url, { filterTypes })),
      )
      await comment(server, 150, 'x'.repeat(16_000))
      const waiting = async (id: string) => (await log(id, { limit: 250 })).deliveries.length
      for (const id of ids) await eventually(async () => (await waiting(id)) === 150)
      expect(most()).toBeGreaterThan(16_000)
      expect(most()).toBeLessThan(8 * 2 ** 20)
    } finally {
      await receiver.stop()
      await server.stop()
    }
  },
  60_000,
)

it('[HOOK-241] applies a change of an endpoint to its next request, even while many messages wait', async () => {
  const { endpoint, update, document, log } = await start()
  const [receiver, other] = [await receiving(), await receiving()]
  const id = await endpoint(receiver.url, { filterTypes: ['document.create'] })
  let answered = 0
  /** Answers the first request when all messages wait, and the next one after a change. */
  const changing =
    (waiting: number, change: object): Behavior =>
    async (response) => {
      if (answered === 0)
        await eventually(async () => (await log(id, { status: 'pending' })).deliveries.length === waiting)
      else await update(id, change)
      answered += 1
      response.writeHead(200).end()
    }
  receiver.behavior = changing(5, { url: other.url })
  await Promise.all(['a', 'b', 'c', 'd', 'e'].map(document))
  await eventually(() => other.hooks.length === 3)
  expect(receiver.hooks).toHaveLength(2)
  answered = 0
  other.behavior = changing(4, { disabled: true })
  await Promise.all(['f', 'g', 'h', 'i'].map(document))
  await eventually(async () => (await log(id, { status: 'failed' })).deliveries.length === 2)
  expect(other.hooks).toHaveLength(5)
})

/** Creates API keys of a new workspace, each with the maximum number of endpoints, and an event for them. */
async function endpointsOfOne(server: TestServer, keys: number, url: string): Promise<void> {
  const made = dataOf(
    await server.post(
      '/v2/workspace/create',
      { ownerEmail: 'eve@example.com' },
      { 'x-service-admin-token': webhookOptions.adminToken },
    ),
  ) as { id: string; authToken: string }
  const headers = { 'x-service-workspace-id': made.id, 'x-service-workspace-auth-token': made.authToken }
  for (let count = 0; count < keys; count++) {
    const key = dataOf(await server.post('/v2/workspace/apikey/create', { type: 'testing' }, headers)) as {
      apiKey: string
      authToken: string
    }
    const own = { 'x-service-api-key': key.apiKey, 'x-service-auth-token': key.authToken }
    const { begin, endpoint, document } = hookCalls(async (path, data) =>
      dataOf(await server.post(path, data, own)),
    )
    await begin()
    const filterTypes = ['document.create']
    await Promise.all(Array.from({ length: 100 }, () => endpoint(url, { filterTypes })))
    await document('d')
  }
}

itLong(
  '[HOOK-207] delivers to another workspace while 1,200 endpoints of one workspace do not answer',
  async () => {
    const { server, endpoint, document } = await start(webhookOptions)
    const [dead, live] = [await receiving(hanging), await receiving()]
    await endpoint(live.url, { filterTypes: ['document.create'] })
    await endpointsOfOne(server, 12, dead.url)
    await eventually(() => dead.hooks.length >= 128)
    await document('d')
    await eventually(() => live.documentIds.includes('d'))
  },
  60_000,
)

it('[HOOK-246] sends nothing more while it cannot store the outcomes of attempts', async () => {
  const clock = new HeldClock(Date.now())
  const { engine, minded } = await openMinded(clock)
  const server = await startTestServer({ webhookAllowlist: ['127.0.0.1'] }, { engine, clock })
  const receiver = await receiving()
  const names = Array.from({ length: 20 }, (_, at) => `d${at}`)
  try {
    const { begin, endpoint, document, log } = callsOf(server)
    await begin()
    const id = await endpoint(receiver.url, { filterTypes: ['document.create'] })
    const allWait = async () => (await log(id, { status: 'pending' })).deliveries.length === names.length
    receiver.behavior = (response) => {
      const allAreRead = receiver.hooks.length === 2
      if (allAreRead) minded.before = () => Promise.reject(new Error('the store is away'))
      const ready = receiver.hooks.length === 1 ? eventually(allWait) : Promise.resolve()
      void ready.then(() => response.writeHead(200).end())
    }
    await Promise.all(names.map(document))
    await eventually(() => minded.failures > 0)
    expect(receiver.hooks.length).toBeLessThan(5)
    minded.before = async () => {}
    clock.advance(60_000)
    await eventually(() => new Set(receiver.documentIds).size === names.length)
  } finally {
    await server.stop()
  }
})

it('[HOOK-247] delivers the events of one API key while the store delays the events of another API key', async () => {
  const clock = new HeldClock(Date.now())
  const { engine, minded } = await openMinded(clock)
  const options = { ...webhookOptions, webhookAllowlist: ['127.0.0.1'] }
  const server = await startTestServer(options, { engine, clock })
  const [busy, other] = [await receiving(), await receiving()]
  let release = (): void => {}
  try {
    const { begin, endpoint, document } = callsOf(server)
    await begin()
    await endpoint(other.url, { filterTypes: ['document.create'] })
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    let held = 0
    minded.before = async ([, workspaceId]) => {
      if (workspaceId === server.credentials.workspaceId) return
      held += 1
      await gate
    }
    await endpointsOfOne(server, 1, busy.url)
    await eventually(() => held > 0)
    await document('d')
    await eventually(() => other.documentIds.includes('d'))
    release()
    await eventually(() => busy.hooks.length === 100)
  } finally {
    release()
    await server.stop()
  }
})

it('[HOOK-249] applies and sends edits of users and backends while webhook receivers do not answer', async () => {
  const { server, endpoint, document, log } = await start(webhookOptions)
  const dead = await receiving(hanging)
  const made = Array.from({ length: 20 }, () => endpoint(dead.url, { filterTypes: ['document.create'] }))
  const ids = await Promise.all(made)
  await document('d')
  await eventually(() => dead.hooks.length === ids.length)
  const come = async (user: string) =>
    syncedEditor(server.wsUrl, `${organizationId}/d/main`, await server.token(user))
  const [ann, bob] = [await come('ann'), await come('bob')]
  ann.text.insert(0, 'typed')
  await eventually(() => bob.text.toString() === 'typed')
  const data = { organizationId, documentId: 'd', editorId: 'main', type: 'text', data: 'replaced' }
  dataOf(await server.post('/v2/crdt/update', data))
  await eventually(() => bob.text.toString() === 'replaced')
  for (const id of ids)
    expect((await log(id)).deliveries).toMatchObject([{ status: 'pending', attempts: [] }])
  for (const editor of [ann, bob]) editor.close()
})

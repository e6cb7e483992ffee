import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { addressKey } from '../../../src/core/model/address.ts'
import { deletedUserId } from '../../../src/core/model/deleted-user.ts'
import type { Engine } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { eventually, RawClient, typed } from '../../support/clients/clients.ts'
import { directoryOn, scopeOf } from '../../support/data/directory.ts'
import { Random } from '../../support/data/random-doc.ts'
import { seed } from '../../support/data/seed.ts'
import { fillOrganization, userDataOf, zoe, zoeTexts } from '../../support/data/user-data.ts'
import { startProcess } from '../../support/servers/process.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { wantTold } from '../../support/servers/webhooks.ts'
import { openRecorded } from '../../support/stores/recorded-engine.ts'
import { keysHolding, notAudited } from '../../support/stores/stored-keys.ts'
import { HeldClock } from '../../support/time/clock.ts'
import { itLong } from '../../support/time/full-run.ts'

const organizationId = 'acme'
const rounds = process.env.WEFT_TEST_LONG === '1' ? 2 : 1

const connect = async (server: TestServer, userId: string, name: string): Promise<RawClient> =>
  RawClient.connect(
    `${server.wsUrl}/sync/${organizationId}/d1/main?token=${await server.token(userId, { name })}`,
  )
const fill = (server: TestServer) =>
  fillOrganization(async (path, data) => dataOf(await server.post(path, data)), organizationId)
const presentIn = async (server: TestServer): Promise<readonly string[]> => {
  const found = dataOf(await server.post('/v2/presence/get', { organizationId, documentId: 'd1' }))
  return (found as { userId: string }[]).map(({ userId }) => userId)
}

it('[DATA-5] revokes the tokens, closes the sockets and removes the presence of the erased user, but of no other user', async () => {
  const server = await startTestServer()
  const data = userDataOf(server)
  await fill(server)
  const old = await server.token(zoe.userId)
  const bob = await connect(server, 'bob', 'Bob')
  bob.sendUpdate(typed('x', 1))
  await bob.roundTrip()
  const own = await connect(server, zoe.userId, zoe.name)
  await own.roundTrip()
  const found = await data.all()
  expect(found.filter(({ kind }) => kind === 'presence')).toMatchObject([{ data: { source: 'socket' } }])
  expect((await data.erase()).status).toBe('done')
  expect(await own.closed).toEqual({ code: 4401, reason: expect.stringContaining('revoked') })
  expect(await presentIn(server)).toEqual(['bob'])
  await bob.roundTrip()
  const again = await RawClient.connect(`${server.wsUrl}/sync/${organizationId}/d1/main?token=${old}`)
  expect((await again.closed).code).toBe(4401)
  expect(await data.all()).toEqual([])
  const fresh = await connect(server, zoe.userId, zoe.name)
  await fresh.roundTrip()
  expect((await data.all()).map(({ kind }) => kind)).toEqual(['presence'])
  await server.stop()
})

it('[DATA-5] records an edit before the erasure without the user, and an edit after the erasure with the user', async () => {
  const [engine, clock] = [await openMemoryEngine(), new HeldClock()]
  const server = await startTestServer({}, { engine, clock })
  await fill(server)
  const scope = scopeOf(server.credentials, organizationId)
  const directory = directoryOn(engine, clock)
  const edit = async (documentId: string): Promise<void> => {
    const address = { ...scope, documentId, editorId: 'main' }
    await directory.documents.ensure(scope, documentId)
    const begun = directory.edits.windows.noted(address, [zoe])
    const update = { bytes: new Uint8Array([0, 0]), by: '' }
    await engine.log.append(addressKey(address), 'create', [update], { jobs: begun?.jobs ?? [] })
  }
  const editors = async (documentId: string) => {
    const found = await server.post('/v2/activities/get', {
      organizationId,
      documentId,
      featureTypes: ['crdt'],
    })
    return (dataOf(found) as { actionUser: object }[]).map(({ actionUser }) => actionUser)
  }
  await edit('before')
  await userDataOf(server).erase()
  await edit('while')
  clock.advance(5_001)
  await edit('after')
  clock.advance(5_000)
  await eventually(async () => (await editors('after')).length === 1)
  expect([await editors('before'), await editors('while'), await editors('after')]).toEqual([
    [{ userId: deletedUserId }],
    [{ userId: deletedUserId }],
    [zoe],
  ])
  await directory.edits.stop()
  await server.stop()
})

it('[DATA-5] records the leave of an erased user without the user, and the leave of other users with the user', async () => {
  const [{ engine, told }, clock] = [await openRecorded(), new HeldClock(Date.now())]
  const server = await startTestServer({}, { engine, clock })
  await wantTold(server, ['presence.join', 'presence.leave'])
  await fill(server)
  const bob = await connect(server, 'bob', 'Bob')
  bob.sendUpdate(typed('x', 1))
  await bob.roundTrip()
  const own = await connect(server, zoe.userId, zoe.name)
  await own.roundTrip()
  own.end()
  await eventually(async () => (await presentIn(server)).length === 1)
  bob.end()
  await eventually(async () => (await presentIn(server)).length === 0)
  expect(told().map(({ actionUser }) => actionUser.userId)).toContain(zoe.userId)
  await userDataOf(server).erase()
  const before = told().length
  clock.advance(60_000)
  await eventually(() => told().length >= before + 2)
  const left = told().slice(before)
  expect(left).toMatchObject([
    {
      type: 'presence.leave',
      actionUser: { userId: deletedUserId },
      data: { user: { userId: deletedUserId } },
    },
    { type: 'presence.leave', actionUser: { userId: 'bob' }, data: { user: { userId: 'bob' } } },
  ])
  for (const text of zoeTexts) expect(JSON.stringify(left)).not.toContain(text)
  await server.stop()
})

/** A real engine that delays commits in organizations after `hold`. */
async function holdingEngine() {
  const engine = await openMemoryEngine()
  let release: () => void = () => {}
  let gate: Promise<void> | null = null
  const { kv } = engine
  const held: Engine['kv'] = {
    get: (part, keys) => kv.get(part, keys),
    scan: (part, range) => kv.scan(part, range),
    async commit(part, commit) {
      if (part[0] === 'organization') await gate
      return kv.commit(part, commit)
    },
  }
  const hold = (): void => {
    gate = new Promise((resolve) => {
      release = resolve
    })
  }
  const heldEngine: Engine = {
    log: engine.log,
    blobs: engine.blobs,
    bus: engine.bus,
    kv: held,
    fences: engine.fences,
    queue: engine.queue,
    foreignChanges: engine.foreignChanges,
    leases: engine.leases,
    cluster: engine.cluster,
    health: () => engine.health(),
    pendingBytes: () => engine.pendingBytes(),
    storedBytes: (under) => engine.storedBytes(under),
    dump: () => engine.dump(),
    close: () => engine.close(),
  }
  return { engine: heldEngine, hold, release: () => release() }
}

it('[DATA-6] reports the progress of a running erasure, and does not start a second one', async () => {
  const { engine, hold, release } = await holdingEngine()
  const clock = new HeldClock()
  const server = await startTestServer({}, { engine, clock })
  const { erase, all } = userDataOf(server)
  await fill(server)
  hold()
  const first = erase()
  let answered = false
  void first.then(() => {
    answered = true
  })
  await eventually(async () => {
    clock.advance(100)
    return answered
  })
  expect(await first).toMatchObject({ status: 'running', removed: { presence: 1, activities: 0 } })
  expect(await first).not.toHaveProperty('endedAt')
  expect((await erase()).status).toBe('running')
  release()
  await eventually(async () => (await all()).length === 0)
  await eventually(async () => (await erase()).status === 'done')
  expect((await erase()).removed).toMatchObject({ users: 1, activities: 12, comments: 4 })
  await server.stop()
})

itLong(
  `[DATA-6] after ${rounds} SIGKILLs, continues an erasure without another call until everything is erased (seed ${seed})`,
  async () => {
    const random = new Random(seed)
    const directory = await mkdtemp(join(tmpdir(), 'weft-user-data-'))
    const start = () => startProcess(directory, { WEFT_CALLS_PER_KEY: '0' })
    try {
      let server = await start()
      const post = async (path: string, data: object) => (await server.post(path, data)).data
      /** An unanswered call may not have started. */
      const isBegun = async (activityIds: readonly string[]) => {
        const data = { organizationId, userId: deletedUserId, activityIds }
        return ((await post('/v2/activities/get', data)) as readonly object[]).length > 0
      }
      const page = async () => (await post('/v2/users/data/get', { userId: zoe.userId })) as readonly object[]
      // A call that ended before the kill proves nothing. It is tried again with an earlier kill.
      for (let [cut, tries] = [0, 0]; cut < rounds; tries += 1) {
        expect(tries, `seed ${seed}`).toBeLessThan(6 * rounds)
        await fillOrganization(post, organizationId)
        await post('/v2/commentannotations/add', {
          organizationId,
          documentId: 'd1',
          actionUser: zoe,
          annotations: Array.from({ length: 250 }, (_, index) => ({
            annotationId: `${tries}-${index}`,
            comments: [{ from: zoe, text: 'said' }],
          })),
        })
        for (let at = 0; at < 2_500; at += 500)
          await post('/v2/activities/add', {
            organizationId,
            documentId: 'd1',
            activities: Array.from({ length: 500 }, (_, index) => ({
              id: `${tries}-${at + index}`,
              featureType: 'comment',
              actionType: 'comment.add',
              actionUser: zoe,
            })),
          })
        const erasing = server.post('/v2/users/data/delete', { userId: zoe.userId }).catch(() => null)
        await eventually(() => isBegun([`${tries}-0`, `${tries}-2499`]))
        await new Promise((resolve) => setTimeout(resolve, random.below(100 / (1 + tries - cut))))
        await server.end('SIGKILL')
        const wasDone = (await erasing) !== null
        server = await start()
        if (!wasDone) cut += 1
        // The lease of the killed process ends first, after 10 seconds.
        const left = () => 'some of the user is left'
        await eventually(async () => (await page()).length === 0, left, 60_000)
      }
      await eventually(
        async () =>
          ((await post('/v2/users/data/delete', { userId: zoe.userId })) as { status: string }).status ===
          'done',
      )
      await server.end('SIGTERM')
      expect(notAudited(await keysHolding(directory, zoeTexts))).toEqual([
        expect.stringContaining('revocations'),
      ])
    } finally {
      await rm(directory, { recursive: true, force: true, maxRetries: 20 })
    }
  },
  300_000,
)

import { expect, it } from 'vitest'
import { VersionStore } from '../../../src/capabilities/history/version-store.ts'
import { addressKey } from '../../../src/core/model/address.ts'
import type { Queue } from '../../../src/core/store/engine.ts'
import { openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { temporaryDirectory } from '../../contract/level/store-tools.ts'
import { type Editor, eventually, syncedEditor, typed } from '../../support/clients/clients.ts'
import { directoryOn, tenant } from '../../support/data/directory.ts'
import { dataOf, metric, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { withLog } from '../../support/stores/pausable-engine.ts'
import { heldStore } from '../../support/stores/pausable-store.ts'
import { keysHolding } from '../../support/stores/stored-keys.ts'
import { HeldClock } from '../../support/time/clock.ts'
import { itLong } from '../../support/time/full-run.ts'

const document = { organizationId: 'acme', documentId: 'd' }
const editor = { ...document, editorId: 'main' }
const path = 'acme/d/main'
const minuteMs = 60_000

interface Version {
  readonly versionId: string
  readonly kind: string
  readonly authors: readonly { readonly userId: string }[]
}

const call = async (server: TestServer, operation: string, data: object = {}) =>
  dataOf(await server.post(`/v2/crdt/${operation}`, { ...editor, ...data }))
const write = (server: TestServer, data: unknown, more: object = {}) =>
  call(server, 'update', { type: 'text', data, upsert: true, ...more })
const create = async (server: TestServer, more: object = {}) =>
  (await call(server, 'versions/create', more)) as Version
const list = async (server: TestServer) => (await call(server, 'versions/list')) as Version[]
const textOf = async (server: TestServer) => ((await call(server, 'get')) as [{ data: string }])[0].data

it('[VER-12] creates a version only of durable content, and responds after the version is durable', async () => {
  const directory = await temporaryDirectory()
  const disk = heldStore()
  const engine = await openLevelEngine({ directory: directory.path, openStore: disk.openStore })
  const server = await startTestServer({}, { engine })
  await write(server, 'first')
  const client = await syncedEditor(server.wsUrl, path, await server.token('ann'))
  disk.hold()
  client.text.insert(0, 'not yet ')
  let answered = false
  const making = create(server).finally(() => {
    answered = true
  })
  for (let round = 0; round < 10; round++) await server.post('/v2/organizations/get', {})
  expect(answered).toBe(false)
  disk.release()
  const { versionId } = await making
  const { data } = (await call(server, 'versions/get', { versionId })) as { data: string }
  expect(['first', 'not yet first']).toContain(data)
  client.close()
  await server.stop()
  await directory.remove()
})

const removals: readonly [what: string, remove: (server: TestServer) => Promise<unknown>][] = [
  ['an editor', (server) => server.post('/v2/crdt/delete', { ...document, editorIds: [editor.editorId] })],
  [
    'a document',
    (server) =>
      server.post('/v2/organizations/documents/delete', { organizationId: 'acme', documentIds: ['d'] }),
  ],
  ['an organization', (server) => server.post('/v2/organizations/delete', { organizationIds: ['acme'] })],
  [
    'a folder',
    async (server) => {
      await server.post('/v1/organizations/folders/add', {
        organizationId: 'acme',
        folders: [{ folderId: 'f' }],
      })
      const moved = { organizationId: 'acme', documentIds: ['d'], folderId: 'f' }
      await server.post('/v2/organizations/documents/move', moved)
      return server.post('/v2/organizations/folders/delete', { organizationId: 'acme', folderId: 'f' })
    },
  ],
]

it.each(removals)('[VER-13] when it deletes %s, also deletes all data of the versions', async (_, remove) => {
  const directory = await temporaryDirectory()
  const engine = await openLevelEngine({ directory: directory.path })
  const server = await startTestServer({ deletedRetentionDays: 0 }, { engine })
  for (const [at, text] of ['marker-content one', 'marker-content two'].entries()) {
    await write(server, text, { userId: 'ann' })
    await create(server, { label: `marker-label ${at}` })
  }
  await write(server, 'marker-content three', { userId: 'bob' })
  await remove(server)
  expect(await engine.blobs.list([], { limit: 10 })).toEqual([])
  const scope = { ...server.credentials, organizationId: 'acme' }
  for (const key of ['versions', 'versionsState', 'versionsBy'])
    expect(
      await directoryOn(engine)
        .store.read(scope)
        .scan({ prefix: [key], limit: 10 }),
    ).toEqual([])
  await server.stop()
  expect(await keysHolding(directory.path, ['marker-content', 'marker-label'])).toEqual([])
  await directory.remove()
})

itLong('[VER-14] after a crash between two writes, removes content without a version record', async () => {
  const directory = await temporaryDirectory()
  const engine = await openLevelEngine({ directory: directory.path })
  let crashed = false
  const dead = (): Promise<never> => Promise.reject(new Error('the process has died'))
  const { kv, blobs, queue } = engine
  const mortal = {
    ...withLog(engine, () => ({})),
    kv: {
      get: kv.get.bind(kv),
      scan: kv.scan.bind(kv),
      commit: (...given: Parameters<typeof kv.commit>) => (crashed ? dead() : kv.commit(...given)),
    },
    blobs: {
      get: blobs.get.bind(blobs),
      list: blobs.list.bind(blobs),
      delete: (key: readonly string[]) => (crashed ? dead() : blobs.delete(key)),
      put: async (key: readonly string[], bytes: Uint8Array) => {
        await blobs.put(key, bytes)
        crashed = true
      },
    },
    queue: {
      extend: queue.extend.bind(queue),
      moveToDeadLetters: queue.moveToDeadLetters.bind(queue),
      retry: queue.retry.bind(queue),
      done: (token: string) => (crashed ? dead() : queue.done(token)),
      claim: (...given: Parameters<typeof queue.claim>) => (crashed ? dead() : queue.claim(...given)),
    },
  }
  const server = await startTestServer({}, { engine: mortal })
  await write(server, 'text')
  expect((await server.post('/v2/crdt/versions/create', editor)).status).toBe(500)
  expect(await blobs.list([], { limit: 10 })).toHaveLength(1)
  await server.stop()
  const clock = new HeldClock(Date.now() + 60 * minuteMs)
  const after = await openLevelEngine({ directory: directory.path, clock })
  const next = await startTestServer({}, { engine: after, clock })
  await eventually(async () => (await after.blobs.list([], { limit: 10 })).length === 0)
  await next.stop()
  await directory.remove()
})

it.each([
  ['a small document', 1],
  ['a large one, on a thread', 8_000],
])('[VER-15] restores %s while users type; clients converge and keep later edits', async (_, repeated) => {
  const server = await startTestServer({ maxBodyBytes: 2 ** 26 })
  const then = 'the words of then. '.repeat(repeated)
  await write(server, then)
  const { versionId } = await create(server)
  await write(server, 'something else. '.repeat(repeated))
  const people: Editor[] = []
  for (const name of ['ann', 'bob', 'cy'])
    people.push(await syncedEditor(server.wsUrl, path, await server.token(name)))
  let count = 0
  const type = (): void => {
    for (const { text } of people) text.insert(text.length, `[${count++}]`)
  }
  const timer = setInterval(type, 3)
  const restored = await call(server, 'versions/restore', { versionId })
  expect(restored).toMatchObject({ changed: true })
  const typedBefore = count
  await eventually(() => count > typedBefore + 30)
  clearInterval(timer)
  await eventually(async () => {
    const text = await textOf(server)
    return text.includes(`[${count - 1}]`) && people.every((each) => each.text.toString() === text)
  })
  const text = await textOf(server)
  for (let number = typedBefore; number < count; number++) expect(text).toContain(`[${number}]`)
  expect(text.replace(/\[\d+\]/g, '')).toBe(then)
  const thread = await metric(server, 'weft_replacements_total{mode="thread"}')
  const held = await metric(server, 'weft_replacements_total{mode="thread_locked"}')
  if (repeated > 1) expect((thread || 0) + (held || 0)).toBeGreaterThan(0)
  for (const each of people) each.close()
  await server.stop()
})

/** @param changed receives the change of the number of claimed, unfinished jobs */
const counted = (queue: Queue, changed: (more: number) => void): Queue => ({
  extend: queue.extend.bind(queue),
  retry: queue.retry.bind(queue),
  moveToDeadLetters: queue.moveToDeadLetters.bind(queue),
  claim: async (...asked) => {
    const claimed = await queue.claim(...asked)
    changed(claimed.length)
    return claimed
  },
  done: async (token) => {
    const isDone = await queue.done(token)
    changed(-1)
    return isDone
  },
})

it('[VER-16] saves an automatic version of each edited editor at the set time, even after a restart, and none of other editors', async () => {
  const directory = await temporaryDirectory()
  const clock = new HeldClock()
  let jobs = 0
  const start = async () => {
    const engine = await openLevelEngine({ directory: directory.path, clock })
    const queue = counted(engine.queue, (more) => {
      jobs += more
    })
    return startTestServer({ autoVersionMinutes: 10 }, { engine: { ...engine, queue }, clock })
  }
  let server = await start()
  await write(server, 'first')
  await write(server, 'second', { userId: 'ann' })
  clock.advance(minuteMs / 10)
  expect(await list(server)).toEqual([])
  clock.advance(10 * minuteMs)
  // The job that saves the version runs again when its lease ends before it is done.
  await eventually(async () => (await list(server)).length === 1 && jobs === 0)
  expect(await list(server)).toMatchObject([
    { kind: 'automatic', authors: [{ userId: 'ann' }], createdBy: '' },
  ])
  for (let round = 0; round < 5; round++) clock.advance(10 * minuteMs)
  await write(server, 'third')
  await server.stop()
  server = await start()
  expect(await list(server)).toHaveLength(1)
  clock.advance(10 * minuteMs)
  await eventually(async () => (await list(server)).length === 2)
  const [{ versionId }] = (await list(server)) as [Version]
  expect(await call(server, 'versions/get', { versionId })).toMatchObject({ data: 'third' })
  await server.stop()
  await directory.remove()
})

it('[VER-19] exports the entries of versions that refer to a user, and erases these entries when the user is erased', async () => {
  const clock = new HeldClock(Math.floor(Date.now() / 1000) * 1000)
  const engine = await openMemoryEngine({ clock })
  const server = await startTestServer({}, { engine, clock })
  const namesOf = async () => (await list(server)).map(({ authors }) => authors.map(({ userId }) => userId))
  const kept = async () => {
    const data = dataOf(await server.post('/v2/users/data/get', { userId: 'ann' })) as { kind: string }[]
    return data.filter(({ kind }) => kind === 'version').length
  }
  await write(server, 'a', { userId: 'ann' })
  clock.advance(1)
  await write(server, 'ab', { userId: 'bob' })
  const { versionId } = await create(server, { userId: 'ann' })
  clock.advance(1)
  await write(server, 'abc', { userId: 'ann' })
  await create(server, { userId: 'bob' })
  clock.advance(1)
  await write(server, 'abcd', { userId: 'ann' })
  await eventually(async () => (await kept()) === 3)
  clock.advance(1)
  dataOf(await server.post('/v2/users/data/delete', { userId: 'ann' }))
  await eventually(async () => (await kept()) === 0)
  expect(await namesOf()).toEqual([['deleted-user'], ['deleted-user', 'bob']])
  expect(await call(server, 'versions/get', { versionId })).toMatchObject({ createdBy: 'deleted-user' })
  await create(server)
  clock.advance(10_000)
  await write(server, 'abcde', { userId: 'ann' })
  await create(server)
  expect((await namesOf()).slice(0, 2)).toEqual([['ann'], ['deleted-user']])
  await server.stop()
})

it('[VER-18] keeps the authors of edits after a crash, and adds an author who is stored late to the first version after the edit', async () => {
  const clock = new HeldClock()
  const engine = await openMemoryEngine({ clock })
  const directory = directoryOn(engine, clock)
  const address = { ...tenant, ...editor }
  await directory.organizations.ensure(address)
  await directory.documents.ensure(address, 'd')
  const { windows } = directory.edits
  const begun = windows.noted(address, [{ userId: 'ann', name: 'Ann' }, { userId: '' }])
  expect(windows.noted(address, [{ userId: 'ann' }])).toBeNull()
  const bytes = typed('text', 1)
  const jobs = begun?.jobs ?? []
  const appended = await engine.log.append(addressKey(address), 'create', [{ bytes, by: 'ann' }], { jobs })
  const { epoch } = appended

  const store = new VersionStore(engine, directory.store, clock)
  const { edits } = directoryOn(engine, clock)
  edits.recordAuthors({
    record: (transaction, authors) => store.recordAuthors(transaction, authors),
    recorded: (authors) => store.removeDeleted(authors),
  })
  const record = (userId: string, at: number) =>
    edits.record([{ address, user: { userId }, at, isAuthor: true }])
  edits.start()
  await edits.drain()
  const made = {
    kind: 'manual',
    label: '',
    metadata: {},
    createdBy: '',
    bytes,
    version: '1.1',
    epoch,
  } as const
  const authorsOf = async () =>
    (await store.all(address)).map(({ authors }) => authors.map(({ userId }) => userId))
  const [first, second] = [clock.now() + 10, clock.now() + 20]
  await store.add(address, { ...made, createdAt: first })
  await record('bob', first - 5)
  await record('cy', first + 5)
  await record('cy', first + 6)
  await store.add(address, { ...made, createdAt: second })
  await record('ann', first - 6)
  await record('dan', second)
  expect(await authorsOf()).toEqual([
    ['ann', 'bob'],
    ['cy', 'dan'],
  ])
  await edits.stop()
  await engine.close()
})

it('[UPG-4] carries out the jobs of edits and of authors that an older server version has stored', async () => {
  const clock = new HeldClock()
  const engine = await openMemoryEngine({ clock })
  const server = await startTestServer({}, { engine, clock })
  await write(server, 'text', { userId: 'ann' })
  const { workspaceId, apiKey } = server.credentials
  const address = { workspaceId, apiKey, ...editor }
  const jobOf = (queue: string, userId: string) => {
    const edit = { activityId: `by ${userId}`, address, user: { userId }, at: clock.now() + 1 }
    return { queue, id: userId, at: 0, payload: Buffer.from(JSON.stringify(edit)) }
  }
  await engine.kv.commit(['any'], { jobs: [jobOf('edits', 'bob'), jobOf('versionAuthors', 'cy')] })
  clock.advance(5_000)
  const activities = { organizationId: editor.organizationId, actionTypes: ['crdt.editor_edit'] }
  const usersOf = async () =>
    (dataOf(await server.post('/v2/activities/get', activities)) as { actionUser: { userId: string } }[])
      .map(({ actionUser }) => actionUser.userId)
      .toSorted()
  await eventually(async () => JSON.stringify(await usersOf()) === JSON.stringify(['ann', 'bob']))
  await create(server)
  const authorsOf = async () => (await list(server)).map(({ authors }) => authors.map(({ userId }) => userId))
  await eventually(async () => JSON.stringify(await authorsOf()) === JSON.stringify([['ann', 'cy']]))
  await server.stop()
})

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import type { Engine } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { eventually, syncedEditor } from '../../support/clients/clients.ts'
import { dataOf, metric, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { HeldClock } from '../../support/time/clock.ts'

interface Run {
  readonly text?: string
  readonly userId: string | null
  readonly at: string | null
  readonly source: string | null
  readonly meta: unknown
}

interface Change extends Omit<Run, 'at' | 'text'> {
  readonly changeId: string
  readonly firstAt: string
  readonly inserted: number
  readonly deleted: number
  readonly hunks: readonly { readonly inserted: string; readonly deleted: string }[]
}

interface Changes {
  readonly from: string
  readonly to: string
  readonly changes: readonly Change[]
}

interface OriginRange {
  readonly length: number
  readonly origin: number
}

interface AttributedHistory {
  readonly version: string
  readonly update: string
  readonly origins: readonly Run[]
  readonly inserted: readonly OriginRange[]
  readonly deleted: readonly OriginRange[]
}

interface Undone {
  readonly version: string
  readonly changed: boolean
  readonly undone: number
  readonly overlaps?: readonly object[]
  readonly notUndone: readonly { readonly changeId: string; readonly hunk: number; readonly reason: string }[]
}

let clock: HeldClock
let engine: Engine
let server: TestServer
beforeAll(async () => {
  clock = new HeldClock(Math.floor(Date.now() / 1000) * 1000)
  engine = await openMemoryEngine({ clock })
  server = await startTestServer({}, { engine, clock })
})
afterAll(() => server.stop())

let documents = 0
const nextEditor = () => {
  documents += 1
  return { organizationId: 'acme', documentId: `document-${documents}`, editorId: 'main' }
}
type EditorIds = ReturnType<typeof nextEditor>

const call = (operation: string, data: object, headers: Readonly<Record<string, string>> = {}) =>
  server.post(`/v2/crdt/${operation}`, data, headers)
const done = async (operation: string, data: object) => dataOf(await call(operation, data))
const codeOf = async (operation: string, data: object) =>
  (await call(operation, data)).body.error?.details?.code
const write = async (editor: EditorIds, data: unknown, more: object = {}) =>
  ((await done('update', { ...editor, type: 'text', data, upsert: true, ...more })) as { version: string })
    .version
const entryOf = async (editor: EditorIds, more: object = {}) =>
  ((await done('get', { ...editor, ...more })) as { data: unknown; version: string; attribution: Run[] }[])[0]
const textOf = async (editor: EditorIds) => (await entryOf(editor))?.data
const runsOf = async (editor: EditorIds, more: object = {}) =>
  (await entryOf(editor, { attribution: true, ...more }))?.attribution ?? []
const changesOf = async (editor: EditorIds, more: object) =>
  (await done('changes', { ...editor, ...more })) as Changes
const undo = async (editor: EditorIds, more: object) => (await done('undo', { ...editor, ...more })) as Undone
const readJobs = async () =>
  (await metric(server, 'weft_thread_jobs_total{purpose="read",outcome="done"}')) || 0
/** Opens an editor of a user. */
const live = async ({ documentId }: EditorIds, userId: string) =>
  syncedEditor(server.wsUrl, `acme/${documentId}/main`, await server.token(userId))
const appended = (editor: EditorIds, content: string, more: object) =>
  done('edit', { ...editor, edits: [{ insert: { at: 'end', content } }], ...more })

it('[ATT-64] returns the current content in runs with the author, the time, the source and the meta of each', async () => {
  const editor = nextEditor()
  await write(editor, 'By REST. ', { userId: 'ann', meta: { job: 1 } })
  const at = new Date(clock.now()).toISOString()
  const bob = await live(editor, 'bob')
  bob.text.insert(bob.text.length, 'By socket.')
  await eventually(async () => (await textOf(editor)) === 'By REST. By socket.')
  expect(
    (await runsOf(editor)).map(({ text, userId, source, meta, at: time }) => [
      text,
      userId,
      source,
      meta,
      time,
    ]),
  ).toEqual([
    ['By REST. ', 'ann', 'rest', { job: 1 }, at],
    ['By socket.', 'bob', 'socket', null, at],
  ])
  bob.text.delete(0, 3)
  await eventually(async () => (await textOf(editor)) === 'REST. By socket.')
  expect((await runsOf(editor)).map(({ text }) => text)).toEqual(['REST. ', 'By socket.'])
  bob.close()
})

it('[ATT-65] lists the changes between two versions by author, with counts and hunks', async () => {
  const editor = nextEditor()
  const from = await write(editor, 'We ship on Monday.', { userId: 'ann' })
  clock.advance(1_000)
  await appended(editor, ' The budget is small.', { userId: 'agent', meta: { job: 'summary' } })
  clock.advance(1_000)
  const bob = await live(editor, 'bob')
  bob.text.delete(11, 6)
  bob.text.insert(11, 'Friday')
  await eventually(async () => String(await textOf(editor)).startsWith('We ship on Friday'))
  bob.close()
  const to = (await entryOf(editor))?.version
  const found = await changesOf(editor, { from })
  expect({ from: found.from, to: found.to }).toEqual({ from, to })
  expect(
    found.changes.map(({ userId, source, meta, inserted, deleted, hunks }) => [
      userId,
      source,
      meta,
      inserted,
      deleted,
      hunks.map((hunk) => [hunk.deleted, hunk.inserted]),
    ]),
  ).toEqual([
    ['agent', 'rest', { job: 'summary' }, 21, 0, [['', ' The budget is small.']]],
    ['bob', 'socket', null, 6, 6, [['Monday', 'Friday']]],
  ])
  expect(await changesOf(editor, { from })).toEqual(found)
  const ids = async (filter: object) =>
    (await changesOf(editor, { from, ...filter })).changes.map(({ userId }) => userId)
  expect(await ids({ by: 'bob' })).toEqual(['bob'])
  expect(await ids({ meta: { job: 'summary' } })).toEqual(['agent'])
  expect(await ids({ meta: { job: 'summary', more: 1 } })).toEqual([])
  expect(await ids({ by: 'bob', meta: { job: 'summary' } })).toEqual([])
  expect(await ids({ from: to })).toEqual([])
})

it('[ATT-66] starts a new change set after a pause of groupSeconds', async () => {
  const editor = nextEditor()
  const from = await write(editor, 'a', { userId: 'ann' })
  for (const text of ['b', 'c', 'd']) {
    clock.advance(100_000)
    await appended(editor, text, { userId: 'ann' })
  }
  const countOf = async (more: object) => (await changesOf(editor, { from, ...more })).changes.length
  expect([
    await countOf({}),
    await countOf({ groupSeconds: 60 }),
    await countOf({ groupSeconds: 100 }),
  ]).toEqual([1, 3, 1])
})

it('[ATT-67] divides the change sets into pages of one version, also while users edit', async () => {
  const editor = nextEditor()
  const from = await write(editor, '', { userId: 'ann' })
  const users = Array.from({ length: 7 }, (_, index) => `user-${index}`)
  for (const userId of users) {
    clock.advance(1_000)
    await appended(editor, `${userId} `, { userId })
  }
  const seen: (string | null)[] = []
  let pageToken: string | undefined
  do {
    const answer = await call('changes', {
      ...editor,
      from,
      pageSize: 3,
      ...(pageToken !== undefined && { pageToken }),
    })
    const { changes } = dataOf(answer) as Changes
    expect(changes.length).toBeLessThanOrEqual(3)
    seen.push(...changes.map(({ userId }) => userId))
    pageToken = (answer.body.result as { pageToken?: string }).pageToken
    await appended(editor, 'later', { userId: `late-${seen.length}` })
  } while (pageToken !== undefined)
  expect(seen).toEqual(users)
})

it('[ATT-68] compares saved versions of any age, and rejects other versions that it cannot rebuild', async () => {
  const editor = nextEditor()
  const first = await write(editor, 'one', { userId: 'ann' })
  const { versionId } = (await done('versions/create', editor)) as { versionId: string }
  await write(editor, 'one two', { userId: 'bob' })
  const foundBy = async (from: string) =>
    (await changesOf(editor, { from })).changes.map(({ userId, hunks }) => [userId, hunks[0]?.inserted])
  expect(await foundBy(versionId)).toEqual([['bob', ' two']])
  expect(await foundBy(first)).toEqual([['bob', ' two']])
  for (const from of ['9.1', '1.999', '0.0']) {
    const { body } = await call('changes', { ...editor, from })
    expect([body.error?.status, body.error?.details?.code]).toEqual([
      'FAILED_PRECONDITION',
      'crdt/version-too-old',
    ])
  }
  expect(await codeOf('changes', { ...editor, from: 'no-such-version' })).toBe('version/not-found')
  expect(await codeOf('changes', { ...editor, documentId: 'nowhere', from: first })).toBe(
    'document/not-found',
  )
  const { version } = (await entryOf(editor)) as { version: string }
  expect(await codeOf('changes', { ...editor, from: version, to: first })).toBe('request/invalid-member')
})

it('[ATT-70] undoes the changes of an agent while a user types, and every character of the user stays', async () => {
  const editor = nextEditor()
  const from = await write(editor, 'First line.\nLast line.\n', { userId: 'ann' })
  const bob = await live(editor, 'bob')
  let typed = ''
  const type = (text: string) => {
    typed += text
    bob.text.insert(bob.text.toString().indexOf('Last'), text)
  }
  type('bob writes ')
  const edits = [
    { replace: { find: 'First line', with: 'Opening sentence' } },
    { insert: { at: 'end', content: 'A paragraph of the agent.\n' } },
  ]
  await done('edit', { ...editor, edits, userId: 'agent', meta: { job: 'rewrite' } })
  await eventually(() => bob.text.toString().includes('of the agent'))
  const typing = setInterval(() => type('more '), 2)
  const outcome = await undo(editor, { from, meta: { job: 'rewrite' }, userId: 'ann' })
  clearInterval(typing)
  expect(outcome).toMatchObject({ changed: true, notUndone: [] })
  await eventually(() => !bob.text.toString().includes('agent'))
  const text = bob.text.toString()
  expect(text).toBe(`First line.\n${typed}Last line.\n`)
  await eventually(async () => (await textOf(editor)) === text)
  expect(await undo(editor, { from, meta: { job: 'rewrite' } })).toMatchObject({ changed: false })
  bob.close()
})

it('[ATT-71] changes nothing with dryRun, and selects change sets by id', async () => {
  const editor = nextEditor()
  const from = await write(editor, 'start', { userId: 'ann' })
  clock.advance(1_000)
  await appended(editor, ' one', { userId: 'bob' })
  clock.advance(1_000)
  await appended(editor, ' two', { userId: 'cem' })
  const { changes } = await changesOf(editor, { from })
  const changeIds = changes.filter(({ userId }) => userId === 'bob').map(({ changeId }) => changeId)
  const dry = await undo(editor, { from, changeIds, dryRun: true })
  expect([dry.undone, await textOf(editor)]).toEqual([1, 'start one two'])
  await undo(editor, { from, changeIds, userId: 'dan' })
  expect(await textOf(editor)).toBe('start two')
  await undo(editor, { from, by: 'cem' })
  expect(await textOf(editor)).toBe('start')
  const unknown = { changeId: 'unknown', hunk: null, reason: 'unknown-change' }
  expect(await undo(editor, { from, changeIds: ['unknown'] })).toMatchObject({
    changed: false,
    notUndone: [unknown],
  })
})

it('[ATT-106] keeps a word that a user has changed meanwhile, and lists it', async () => {
  const { editor, from } = await overlapping()
  const dry = await undo(editor, { from, by: 'agent', dryRun: true })
  const done = await undo(editor, { from, by: 'agent' })
  expect([dry.overlaps, done.overlaps]).toEqual([[overlapOf('theirs')], [overlapOf('theirs')]])
  expect(done).toMatchObject({ changed: true, notUndone: [{ reason: 'overlap' }] })
  expect(await textOf(editor)).toBe('Budget: 1705 EUR on Monday.')
})

it('[ATT-106] restores a word of another user that was replaced directly after it was written', async () => {
  const editor = nextEditor()
  await write(editor, 'Hello world', { userId: 'ann' })
  await done('edit', { ...editor, edits: [{ replace: { find: 'world', with: 'Weft' } }], userId: 'bob' })
  expect(await textOf(editor)).toBe('Hello Weft')
  expect(await undo(editor, { by: 'bob' })).toMatchObject({ changed: true, undone: 1, notUndone: [] })
  expect(await textOf(editor)).toBe('Hello world')
})

it('[ATT-107] gives the word its earlier text with `keepMine`, and changes nothing with `fail`', async () => {
  const { editor, from } = await overlapping()
  for (const dryRun of [true, false]) {
    const { status, body } = await call('undo', { ...editor, from, by: 'agent', onOverlap: 'fail', dryRun })
    expect({ status, error: body.error }).toMatchObject({
      status: 409,
      error: { details: { code: 'crdt/overlap', overlaps: [overlapOf('theirs')] } },
    })
  }
  expect(await textOf(editor)).toBe('Budget: 1705 EUR on Friday.')
  const done = await undo(editor, { from, by: 'agent', onOverlap: 'keepMine' })
  expect(done).toMatchObject({ notUndone: [], overlaps: [overlapOf('mine')] })
  expect(await textOf(editor)).toBe('Budget: 100 EUR on Monday.')
})

/** An agent and then a user change a number, and the agent another word. */
async function overlapping() {
  const editor = nextEditor()
  const from = await write(editor, 'Budget: 100 EUR on Monday.', { userId: 'ann' })
  const edits = [
    { text: { index: 9, delete: 1, insert: '7' } },
    { replace: { find: 'Monday', with: 'Friday' } },
  ]
  await done('edit', { ...editor, edits, userId: 'agent' })
  await done('edit', { ...editor, edits: [{ text: { index: 11, insert: '5' } }], userId: 'bob' })
  return { editor, from }
}

const overlapOf = (kept: string) => ({ path: '', base: '170', theirs: '1705', mine: '100', kept })

it('[ATT-72] stores an undo as a change with its author, the source undo and its meta, which can be undone', async () => {
  const editor = nextEditor()
  const from = await write(editor, 'start', { userId: 'ann' })
  await appended(editor, ' end', { userId: 'bob' })
  const before = (await entryOf(editor))?.version ?? ''
  await undo(editor, { from, by: 'bob', userId: 'dan', undoMeta: { ticket: 7 } })
  const { changes } = await changesOf(editor, { from: before })
  expect(changes.map(({ userId, source, meta, deleted }) => [userId, source, meta, deleted])).toEqual([
    ['dan', 'undo', { ticket: 7 }, 4],
  ])
  await undo(editor, { from: before, by: 'dan' })
  expect(await textOf(editor)).toBe('start end')
  const { body } = await server.post('/v2/crdt/undo', { ...editor, from, undoMeta: { '': 1 } })
  expect(body.error?.details?.issues).toMatchObject([{ path: '/data/undoMeta' }])
})

it('[ATT-73] names the parts that it does not undo because another change has replaced them', async () => {
  const editor = { ...nextEditor(), type: 'map' }
  await done('add', { ...editor, data: { color: 'red', size: 1 }, userId: 'ann' })
  const { type: _, ...ids } = editor
  const from = (await entryOf(ids))?.version ?? ''
  await done('update', { ...editor, data: { color: 'blue', size: 2 }, userId: 'bob' })
  const to = (await entryOf(ids))?.version ?? ''
  await done('update', { ...editor, data: { color: 'green', size: 2 }, userId: 'cem' })
  const outcome = await undo(ids, { from, to, by: 'bob' })
  expect(outcome.notUndone).toEqual([
    { changeId: expect.any(String), hunk: expect.any(Number), reason: 'changed-since' },
  ])
  expect(await textOf(ids)).toEqual({ color: 'green', size: 1 })
})

it('[ATT-73] warns about an undo that no change meets, and names the users who have changed the editor', async () => {
  const editor = nextEditor()
  const from = await write(editor, 'start', { userId: 'ann' })
  const nothing = await call('undo', { ...editor, from, by: 'bob' })
  expect(nothing.body.result?.warnings).toEqual([expect.stringMatching(/no user has changed the editor/)])
  await appended(editor, ' end', { userId: 'cem' })
  const { status, body } = await call('undo', { ...editor, from, by: 'bob' })
  expect(status).toBe(200)
  expect(body.result).toMatchObject({ message: 'Nothing to undo.', data: { changed: false, undone: 0 } })
  expect(body.result?.warnings).toEqual([expect.stringMatching(/these users have changed it: "cem"/)])
  const done = await call('undo', { ...editor, from, by: 'cem' })
  expect(done.body.result).toMatchObject({ data: { undone: 1 } })
  expect(done.body.result?.warnings).toBeUndefined()
})

it('[ATT-74] repeats an undo with the same idempotency-key without effect', async () => {
  const editor = nextEditor()
  const from = await write(editor, 'start', { userId: 'ann' })
  await appended(editor, ' end', { userId: 'bob' })
  const once = () =>
    call('undo', { ...editor, from, by: 'bob' }, { 'idempotency-key': `undo-${editor.documentId}` })
  const first = await once()
  await appended(editor, ' more', { userId: 'bob' })
  expect((await once()).body).toEqual(first.body)
  expect(await textOf(editor)).toBe('start more')
})

it('[ATT-75] answers FAILED_PRECONDITION while the workspace has disabled attribution', async () => {
  const editor = nextEditor()
  const from = await write(editor, 'start', { userId: 'ann' })
  const { workspaceId, workspaceAuthToken } = server.credentials
  const enable = (enabled: boolean) =>
    server.post(
      '/v2/workspace/attribution/update',
      { enabled },
      { 'x-service-workspace-id': workspaceId, 'x-service-workspace-auth-token': workspaceAuthToken },
    )
  await enable(false)
  const calls = [
    ['get', { attribution: true }],
    ['changes', { from }],
    ['undo', { from }],
  ] as const
  for (const [operation, more] of calls)
    expect([operation, await codeOf(operation, { ...editor, ...more })]).toEqual([
      operation,
      'crdt/attribution-disabled',
    ])
  await enable(true)
  expect((await runsOf(editor)).map(({ userId }) => userId)).toEqual(['ann'])
})

it('[ATT-64] [ATT-65] [ATT-72] reads and undoes the changes of a large document on a thread', async () => {
  const editor = nextEditor()
  const long = Array.from({ length: 4_000 }, (_, index) => `line ${index} of a long text`).join('\n')
  const from = await write(editor, long, { userId: 'ann' })
  clock.advance(1_000)
  const edits = [{ replace: { find: 'line 2000 of', with: 'the agent changes 2000 of' } }]
  await done('edit', { ...editor, edits, userId: 'agent', meta: { job: 'large' } })
  const { changes } = await changesOf(editor, { from })
  expect(changes.map(({ userId }) => userId)).toEqual(['agent'])
  expect((await runsOf(editor)).map(({ userId }) => userId)).toEqual(['ann', 'agent', 'ann'])
  expect(await undo(editor, { from, by: 'agent' })).toMatchObject({ changed: true, notUndone: [] })
  expect(await textOf(editor)).toBe(long)
})

it('[ATT-108] undoes many changed words of a small document on a thread, and a few on the event loop', async () => {
  const words = (count: number, word: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => word(index)).join(' ')
  for (const [count, expected] of [
    [400, 1],
    [40, 0],
  ] as const) {
    const editor = nextEditor()
    const from = await write(
      editor,
      words(count, (index) => `w${index}`),
      { userId: 'ann' },
    )
    await write(
      editor,
      words(count, (index) => `x${index}`),
      { userId: 'bot' },
    )
    await write(
      editor,
      words(count, (index) => `x${index}z`),
      { userId: 'ann' },
    )
    const before = await readJobs()
    expect(await undo(editor, { from, by: 'bot' })).toMatchObject({ changed: false })
    expect((await readJobs()) - before).toBe(expected)
  }
})

it('[ATT-64] requires an editorId for the attribution', async () => {
  const editor = nextEditor()
  await write(editor, 'text', { userId: 'ann' })
  const { editorId: _, ...document } = editor
  expect(await codeOf('get', { ...document, attribution: true })).toBe('request/invalid-member')
})

it('[ATT-70] undoes a restoration, and an update that was applied, in rich text with other changes between', async () => {
  const editor = nextEditor()
  const xml = (text: string) => ({ type: 'xml', data: `<paragraph>${text}</paragraph>` })
  await done('add', { ...editor, ...xml('first'), userId: 'ann' })
  const { versionId } = (await done('versions/create', editor)) as { versionId: string }
  await done('update', { ...editor, ...xml('first and second'), userId: 'bob' })
  const from = (await entryOf(editor))?.version ?? ''
  await done('versions/restore', { ...editor, versionId, userId: 'cem', meta: { reason: 'mistake' } })
  expect(await textOf(editor)).toBe('<paragraph>first</paragraph>')
  await undo(editor, { from, meta: { reason: 'mistake' } })
  expect(await textOf(editor)).toBe('<paragraph>first and second</paragraph>')
})

it('[ATT-68] compares and undoes after a restart that has compacted the log', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'weft-authorship-'))
  const start = () => startTestServer({ engine: 'level', dataDir, baseVersionSeconds: 0 })
  const editor = nextEditor()
  const first = await start()
  const callFirst = async (operation: string, data: object) =>
    dataOf(await first.post(`/v2/crdt/${operation}`, { ...editor, ...data })) as never
  const { version } = await callFirst('add', { type: 'text', data: 'start', userId: 'ann' })
  const { versionId } = await callFirst('versions/create', {})
  // The log is compacted only if it has become large compared with the document.
  for (let round = 0; round < 40; round += 1)
    await callFirst('update', {
      type: 'text',
      data: `start ${String(round % 10).repeat(2_000)}`,
      userId: 'bob',
    })
  await first.stop()
  const second = await start()
  const callSecond = (operation: string, data: object) =>
    second.post(`/v2/crdt/${operation}`, { ...editor, ...data })
  const old = await callSecond('changes', { from: version })
  expect(old.body.error?.details).toMatchObject({ code: 'crdt/version-too-old', oldest: expect.any(String) })
  const { details } = old.body.error as { readonly details: unknown }
  const { oldest } = details as { readonly oldest: string }
  expect(dataOf(await callSecond('changes', { from: oldest }))).toMatchObject({ from: oldest })
  const { changes } = dataOf(await callSecond('changes', { from: versionId })) as Changes
  expect(changes.map(({ userId, source }) => [userId, source])).toEqual([['bob', 'rest']])
  const undone = dataOf(await callSecond('undo', { from: versionId, by: 'bob' })) as Undone
  expect(undone).toMatchObject({ changed: true, notUndone: [] })
  expect(dataOf(await callSecond('get', {}))).toMatchObject([{ data: 'start' }])
  await second.stop()
  await rm(dataDir, { recursive: true, force: true, maxRetries: 20 })
}, 30_000)

it('[ATT-110] reads an editor with its deleted content, and the origins of all its insertions and deletions', async () => {
  const editor = nextEditor()
  await write(editor, 'We ship on Monday.', { userId: 'ann', meta: { job: 1 } })
  clock.advance(60_000)
  await done('edit', { ...editor, userId: 'bob', edits: [{ replace: { find: ' on Monday', with: '' } }] })
  const history = (await done('history', editor)) as AttributedHistory
  const doc = new Y.Doc({ gc: false })
  Y.applyUpdate(doc, Buffer.from(history.update, 'base64'))
  expect(doc.getText('content').toString()).toBe('We ship.')
  const whole = Array.from(itemsOf(doc.getText('content')), ({ content }) => content.getContent().join(''))
  expect(whole.join('')).toBe('We ship on Monday.')
  const described = (ranges: AttributedHistory['inserted']) =>
    ranges.map(({ length, origin }) => [
      length,
      history.origins[origin]?.userId,
      history.origins[origin]?.meta,
    ])
  expect(described(history.inserted)).toEqual([[18, 'ann', { job: 1 }]])
  expect(described(history.deleted)).toEqual([[10, 'bob', null]])
  expect(history.version).toBe((await entryOf(editor))?.version)
  expect(await codeOf('history', nextEditor())).toBe('document/not-found')
})

/** Returns an update in which each of the clients has inserted one character. */
function updateOfClients(count: number): string {
  const doc = new Y.Doc()
  for (let client = 1; client <= count; client += 1) {
    doc.clientID = client
    doc.getText('content').insert(0, 'x')
  }
  return Buffer.from(Y.encodeStateAsUpdate(doc)).toString('base64')
}

it('[ATT-113] lists the origins of many ids of a small document on a thread, and of a few on the event loop', async () => {
  for (const [clients, expected] of [
    [2_000, 1],
    [200, 0],
  ] as const) {
    const editor = nextEditor()
    await done('apply', { ...editor, update: updateOfClients(clients), create: true, userId: 'ann' })
    const before = await readJobs()
    const { inserted, deleted, origins } = (await done('history', editor)) as AttributedHistory
    expect((await readJobs()) - before).toBe(expected)
    expect(inserted).toHaveLength(clients)
    expect(inserted).toContainEqual({ client: 7, clock: 0, length: 1, origin: 0 })
    expect([deleted, origins]).toMatchObject([[], [{ userId: 'ann', source: 'rest', meta: null }]])
  }
})

it('[ATT-113] rejects a history whose parts together are larger than a response', async () => {
  const small = await startTestServer({ maxResponseBytes: 65_536 })
  for (const [clients, status] of [
    [600, 200],
    [1_100, 429],
    [2_000, 429],
  ] as const) {
    const editor = nextEditor()
    const change = { ...editor, update: updateOfClients(clients), create: true }
    dataOf(await small.post('/v2/crdt/apply', change))
    const history = await small.post('/v2/crdt/history', editor)
    expect([clients, history.status]).toEqual([clients, status])
    if (status === 429)
      expect(history.body.error?.details).toMatchObject({ limit: 'maxResponseBytes', value: 65_536 })
  }
  await small.stop()
})

function* itemsOf({ _start }: { readonly _start: Y.Item | null }): Generator<Y.Item> {
  for (let item = _start; item !== null; item = item.right) yield item
}

it('[ATT-111] lists and undoes the changes since the first one without a version, with content that was deleted meanwhile', async () => {
  const editor = nextEditor()
  await write(editor, 'One. ', { userId: 'ann' })
  clock.advance(1_000)
  await appended(editor, 'Two. ', { userId: 'bob' })
  clock.advance(1_000)
  await done('edit', { ...editor, userId: 'cem', edits: [{ replace: { find: 'One. ', with: '' } }] })
  expect(
    (await changesOf(editor, {})).changes.map(({ userId, inserted, deleted }) => [userId, inserted, deleted]),
  ).toEqual([
    ['ann', 5, 0],
    ['bob', 5, 0],
    ['cem', 0, 5],
  ])
  await undo(editor, { by: 'cem' })
  expect(await textOf(editor)).toBe('One. Two. ')
  await undo(editor, { by: 'ann' })
  expect(await textOf(editor)).toBe('Two. ')
})

it('[ATT-112] undoes nothing if no version, user, data or change is named', async () => {
  const editor = nextEditor()
  await write(editor, 'kept', { userId: 'ann' })
  expect(await server.post('/v2/crdt/undo', editor)).toMatchObject({
    status: 400,
    body: { error: { status: 'INVALID_ARGUMENT', details: { code: 'request/invalid-member' } } },
  })
  expect(await textOf(editor)).toBe('kept')
})

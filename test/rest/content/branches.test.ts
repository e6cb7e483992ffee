import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import { branchKeys } from '../../../src/core/directory/branches/branch-records.ts'
import { addressKey } from '../../../src/core/model/address.ts'
import type { Engine } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { type Editor, eventually, RawClient, syncedEditor, typed } from '../../support/clients/clients.ts'
import { type Answer, dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { times } from '../../support/time/full-run.ts'

interface Branch {
  readonly name: string
  readonly branchEditorId: string
  readonly status: string
}

let engine: Engine
let server: TestServer
beforeAll(async () => {
  engine = await openMemoryEngine()
  server = await startTestServer({ idleUnloadSeconds: 1 }, { engine })
})
afterAll(() => server.stop())

let documents = 0
const nextEditor = () => {
  documents += 1
  return { organizationId: 'acme', documentId: `branched ${documents}`, editorId: 'main' }
}
type EditorIds = ReturnType<typeof nextEditor>

const call = (operation: string, data: object): Promise<Answer> => server.post(`/v2/crdt/${operation}`, data)
const done = async (operation: string, data: object): Promise<unknown> => dataOf(await call(operation, data))
const codeOf = async (answer: Promise<Answer>): Promise<string | undefined> =>
  (await answer).body.error?.details?.code

const write = (editor: EditorIds, data: string, more: object = {}) =>
  done('update', { ...editor, type: 'text', data, upsert: true, ...more })
const branchOf = (editor: EditorIds, name = 'draft'): EditorIds => ({
  ...editor,
  editorId: `${editor.editorId}@${name}`,
})
const create = async (editor: EditorIds, name = 'draft', userId = 'ann') =>
  (await done('branches/create', { ...editor, name, userId })) as Branch
const decide = (how: 'merge' | 'reject', editor: EditorIds, more: object = {}) =>
  call(`branches/${how}`, { ...editor, name: 'draft', userId: 'rex', ...more })

interface Read {
  readonly id: string
  readonly data: unknown
  readonly version: string
  readonly stateVector: string
}
const read = async (editor: object) => (await done('get', editor)) as Read[]
const textOf = async (editor: EditorIds): Promise<unknown> => (await read(editor))[0]?.data
const stateOf = async (editor: EditorIds): Promise<Y.Doc> => {
  const [{ data }] = (await read({ ...editor, format: 'update' })) as unknown as [{ data: string }]
  const doc = new Y.Doc()
  Y.applyUpdate(doc, Buffer.from(data, 'base64'))
  return doc
}
const pathOf = ({ organizationId, documentId, editorId }: EditorIds): string =>
  [organizationId, documentId, editorId].map(encodeURIComponent).join('/')
const open = async (editor: EditorIds, userId = 'ann'): Promise<Editor> =>
  syncedEditor(server.wsUrl, pathOf(editor), await server.token(userId))
const addressOf = (editor: EditorIds) => ({
  workspaceId: server.credentials.workspaceId,
  apiKey: server.credentials.apiKey,
  ...editor,
})
const organizationPart = () => {
  const { workspaceId, apiKey } = server.credentials
  return ['organization', workspaceId, apiKey, 'acme']
}

/** Creates an editor with a branch. */
async function branched(text = 'kept'): Promise<EditorIds> {
  const editor = nextEditor()
  await write(editor, text)
  await create(editor)
  return editor
}

it('[BRANCH-1] creates a branch with the content and the ids of its editor', async () => {
  const editor = nextEditor()
  await write(editor, 'kept')
  const [{ version, stateVector }] = (await read(editor)) as [Read]
  const created = await create(editor)
  expect(created).toEqual({
    name: 'draft',
    editorId: 'main',
    branchEditorId: 'main@draft',
    createdBy: 'ann',
    createdAt: expect.any(String),
    baseVersion: version,
    status: 'open',
    decidedBy: '',
    decidedAt: null,
  })
  expect(await done('branches/get', { ...editor, name: 'draft' })).toEqual(created)
  const [branch] = (await read(branchOf(editor))) as [Read]
  expect(branch).toMatchObject({ id: 'main@draft', data: 'kept', stateVector })
})

it('[BRANCH-2] lists many branches in pages by name, each once', async () => {
  const editor = nextEditor()
  await write(editor, 'kept')
  const names = Array.from(
    { length: times(50, 1_000) },
    (_, index) => `branch-${String(index).padStart(4, '0')}`,
  )
  for (let at = 0; at < names.length; at += 50)
    await Promise.all(names.slice(at, at + 50).map((name) => create(editor, name)))
  const listed: string[] = []
  let pageToken: string | undefined
  do {
    const page = { pageSize: 20, ...(pageToken !== undefined && { pageToken }) }
    const answer = await call('branches/list', { ...editor, ...page })
    listed.push(...(dataOf(answer) as Branch[]).map(({ name }) => name))
    pageToken = (answer.body.result as { pageToken?: string }).pageToken
  } while (pageToken !== undefined)
  expect(listed).toEqual(names)
  expect((await read({ organizationId: 'acme', documentId: editor.documentId })).map(({ id }) => id)).toEqual(
    ['main'],
  )
})

it('[BRANCH-3] rejects names and editors that cannot have a branch', async () => {
  const editor = await branched()
  const creating = (more: object) => codeOf(call('branches/create', { ...editor, userId: 'ann', ...more }))
  expect(await creating({ name: 'draft' })).toBe('branch/exists')
  expect(await creating({ name: 'a@b' })).toBe('branch/invalid-name')
  expect(await creating({ name: 'x'.repeat(101) })).toBe('request/invalid-member')
  expect(await creating({ name: 'second', editorId: 'main@draft' })).toBe('branch/of-branch')
  expect(await creating({ name: 'second', editorId: 'missing' })).toBe('crdt/no-content')
  await write({ ...editor, editorId: 'main@ordinary' }, 'other')
  expect(await creating({ name: 'ordinary' })).toBe('branch/exists')
  const unknown = { ...editor, name: 'unknown' }
  expect(await codeOf(call('branches/get', unknown))).toBe('branch/not-found')
  expect(await codeOf(call('branches/delete', unknown))).toBe('branch/not-found')
  expect(await codeOf(decide('merge', editor, { name: 'unknown' }))).toBe('branch/not-found')
  expect(await codeOf(decide('reject', editor, { name: 'unknown' }))).toBe('branch/not-found')
})

it('[BRANCH-4] an editor id with @ and without a record is an ordinary editor, and a read of all editors has no branches', async () => {
  const editor = await branched()
  const ordinary = { ...editor, editorId: 'ann@example.com' }
  await write(ordinary, 'mail')
  await write(editor, 'changed')
  expect(await textOf(ordinary)).toBe('mail')
  const document = { organizationId: 'acme', documentId: editor.documentId }
  expect((await read(document)).map(({ id }) => id)).toEqual(['ann@example.com', 'main'])
})

it('[BRANCH-15] a branch has the schema of its editor', async () => {
  const editor = nextEditor()
  await done('add', { ...editor, type: 'markdown', data: 'kept', contentKey: 'default', schema: 'tiptap' })
  await create(editor)
  const [branch] = (await read(branchOf(editor))) as unknown as [{ contentKey: string; schema: string }]
  expect(branch).toMatchObject({ contentKey: 'default', schema: 'tiptap' })
  const data = { type: 'doc', content: [{ type: 'unknownNode' }] }
  const written = call('update', { ...branchOf(editor), type: 'prosemirror', data })
  expect(await codeOf(written)).toBe('crdt/schema-violation')
})

it('[BRANCH-5] edits of the editor appear in an open branch, and edits of the branch stay there', async () => {
  const editor = await branched('one two')
  await create(editor, 'other')
  const main = await open(editor)
  const branch = await open(branchOf(editor))
  expect(branch.text.toString()).toBe('one two')
  branch.text.insert(7, ' three')
  main.text.delete(0, 4)
  main.text.insert(0, 'zero ')
  await eventually(
    () => branch.text.toString() === 'zero two three',
    () => branch.text.toString(),
  )
  await eventually(async () => (await textOf(branchOf(editor))) === 'zero two three')
  expect(main.text.toString()).toBe('zero two')
  expect(await textOf(editor)).toBe('zero two')
  expect(await textOf(branchOf(editor, 'other'))).toBe('zero two')
  main.close()
  branch.close()
})

it('[BRANCH-5] a branch has the edits of its editor before each call, while it is closed', async () => {
  const editor = await branched('one two')
  await done('update', { ...branchOf(editor), type: 'text', data: 'one two three' })
  await write(editor, 'two')
  expect(await textOf(branchOf(editor))).toBe('two three')
  await write(editor, '2')
  await done('update', { ...branchOf(editor), type: 'text', data: '2 three four' })
  expect(await textOf(branchOf(editor))).toBe('2 three four')
  expect(await textOf(editor)).toBe('2')
})

it('[BRANCH-5] takes in many edits that two users make in turn', async () => {
  const editor = nextEditor()
  await write(editor, 'words '.repeat(2_000))
  await done('branches/create', { ...editor, name: 'draft', userId: 'ann' })
  const open = async (path: string, userId: string): Promise<Editor> =>
    syncedEditor(server.wsUrl, `acme/${editor.documentId}/${path}`, await server.token(userId))
  const [ada, bob, branch] = await Promise.all([
    open('main', 'ada'),
    open('main', 'bob'),
    open('main@draft', 'ann'),
  ])
  // More than the 500 commits that a branch lets wait.
  const edits = times(1_500, 3_000)
  branch.text.insert(0, 'own ')
  for (let index = 0; index < edits; index += 1) {
    const [user, character] = index % 2 === 0 ? [ada, ','] : [bob, '.']
    user.text.insert(100 + index, character)
    if (index % 20 === 19) await new Promise(setImmediate)
  }
  const isEqual = (): boolean =>
    ada.text.length === 12_000 + edits &&
    ada.text.toJSON() === bob.text.toJSON() &&
    branch.text.toJSON() === `own ${ada.text.toJSON()}`
  await eventually(isEqual, () => [ada, bob, branch].map(({ text }) => text.length))
  for (const each of [ada, bob, branch]) each.close()
})

it('[BRANCH-7] copied edits cause no activities of the branch and no authors', async () => {
  const editor = await branched()
  const branch = await open(branchOf(editor))
  const main = await open(editor, 'bob')
  main.text.insert(0, 'bob ')
  await eventually(() => branch.text.toString() === 'bob kept')
  const of = { organizationId: 'acme', documentId: editor.documentId }
  await eventually(async () => {
    const found = dataOf(await server.post('/v2/activities/get', of)) as { actionUser: { userId: string } }[]
    return found.some(({ actionUser }) => actionUser.userId === 'bob')
  })
  const found = dataOf(await server.post('/v2/activities/get', of)) as { targetEntityId?: string }[]
  expect(found.filter(({ targetEntityId }) => targetEntityId === 'main@draft')).toEqual([])
  const version = (await done('versions/create', branchOf(editor))) as { authors: unknown[] }
  expect(version.authors).toEqual([])
  main.close()
  branch.close()
})

it('[BRANCH-8] a closed branch keeps no room open', async () => {
  const editor = await branched()
  const branch = await open(branchOf(editor))
  await eventually(async () => (await openRooms()) >= 2)
  branch.close()
  await eventually(async () => (await openRooms()) === 0)
})

it('[MERGE-7] keeps the words of a branch that its editor has changed while it was closed', async () => {
  const of = (day: string, budget: string): string => `Budget: ${budget} EUR. We ship on ${day}.`
  const editor = await branched(of('Monday', '100'))
  await write(branchOf(editor), of('Monday', '250'))
  await eventually(async () => (await openRooms()) === 0)
  await write(editor, of('Friday', '170'))
  expect(await textOf(branchOf(editor))).toBe(of('Friday', '250'))
  const merged = dataOf(await decide('merge', editor))
  expect(merged).toMatchObject({ overlaps: [{ path: '', theirs: '170', mine: '250', kept: 'mine' }] })
  expect(await textOf(editor)).toBe(of('Friday', '250'))
})

async function openRooms(): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text()
  return Number(/^weft_rooms_open (\d+)/m.exec(text)?.[1])
}

it('[BRANCH-9] merges all changes of a branch in one update with their ids, next to concurrent edits', async () => {
  const editor = await branched('one two')
  const main = await open(editor)
  const branch = await open(branchOf(editor))
  branch.text.insert(7, ' three')
  branch.text.delete(0, 4)
  await eventually(async () => (await textOf(branchOf(editor))) === 'two three')
  const updates: Uint8Array[] = []
  const dry = dataOf(await decide('merge', editor, { dryRun: true })) as { bytes: number; changed: boolean }
  expect(await textOf(editor)).toBe('one two')
  main.text.insert(0, 'zero ')
  await eventually(async () => (await textOf(editor)) === 'zero one two')
  main.doc.on('update', (update: Uint8Array) => updates.push(update))
  const merged = dataOf(await decide('merge', editor)) as { bytes: number; branch: Branch; version: string }
  expect(merged).toMatchObject({ changed: true, branch: { status: 'merged', decidedBy: 'rex' } })
  expect(dry).toMatchObject({ changed: true, branch: { status: 'open' } })
  expect(dry.bytes).toBe(merged.bytes)
  await eventually(() => main.text.toString() === 'zero two three')
  expect(updates).toHaveLength(1)
  const mine = branch.doc.clientID
  expect(Y.decodeStateVector(Y.encodeStateVector(await stateOf(editor))).get(mine)).toBe(6)
  expect(dataOf(await decide('merge', editor))).toMatchObject({ changed: false, version: merged.version })
  main.close()
  branch.close()
})

it.each(['merge', 'reject'] as const)(
  '[BRANCH-10] after %s, a branch is read-only and does not follow',
  async (how) => {
    const editor = await branched()
    const branch = await open(branchOf(editor))
    dataOf(await decide(how, editor))
    expect(await codeOf(call('update', { ...branchOf(editor), type: 'text', data: 'x' }))).toBe(
      'branch/decided',
    )
    const raw = await RawClient.connect(
      `${server.wsUrl}/sync/${pathOf(branchOf(editor))}?token=${await server.token('ann')}`,
    )
    raw.sendUpdate(typed('mine', 7))
    await eventually(() => raw.bodies(2, 0).length > 0)
    await write(editor, 'changed')
    expect(await textOf(branchOf(editor))).toBe('kept')
    expect(branch.text.toString()).toBe('kept')
    expect(await codeOf(decide(how === 'merge' ? 'reject' : 'merge', editor))).toBe('branch/decided')
    branch.close()
  },
)

it.each([
  ['merge', 'accept'],
  ['reject', 'reject'],
] as const)('[BRANCH-11] %s causes one activity suggestion_%s, also if it is repeated', async (how, is) => {
  const editor = await branched()
  await done('update', { ...branchOf(editor), type: 'text', data: 'kept and more' })
  dataOf(await decide(how, editor))
  dataOf(await decide(how, editor))
  const found = dataOf(
    await server.post('/v2/activities/get', {
      organizationId: 'acme',
      documentId: editor.documentId,
      actionTypes: [`comment_annotation.suggestion_${is}`],
    }),
  ) as object[]
  expect(found).toEqual([
    expect.objectContaining({
      featureType: 'crdt',
      actionUser: { userId: 'rex' },
      targetEntityId: 'main@draft',
      changes: { branch: 'draft', editorId: 'main', status: how === 'merge' ? 'merged' : 'rejected' },
    }),
  ])
})

interface HunkView {
  readonly hunkId: string
  readonly userId: string | null
  readonly deleted: string
  readonly inserted: string
  readonly anchor: Readonly<Record<'before' | 'after' | 'position' | 'positionEnd', string>>
}
const hunksOf = async (editor: EditorIds): Promise<readonly HunkView[]> =>
  ((await done('branches/diff', { ...editor, name: 'draft' })) as { hunks: HunkView[] }).hunks

/** Creates an editor with a branch that has three hunks. */
async function suggested(text = 'one two three four'): Promise<EditorIds> {
  const editor = await branched(text)
  const branch = await open(branchOf(editor), 'sue')
  branch.text.insert(text.length, ' five')
  branch.text.delete(8, 5)
  branch.text.insert(8, '3')
  branch.text.insert(0, 'zero ')
  await eventually(async () => (await textOf(branchOf(editor))) === branch.text.toString())
  branch.close()
  return editor
}

it('[BRANCH-21] returns the hunks of a branch with authors, time, place and both texts', async () => {
  const editor = await suggested()
  const hunks = await hunksOf(editor)
  expect(hunks.map(({ deleted, inserted }) => [deleted, inserted])).toEqual([
    ['', 'zero '],
    ['three', '3'],
    ['', ' five'],
  ])
  for (const hunk of hunks)
    expect(hunk).toMatchObject({ userId: 'sue', userIds: ['sue'], at: expect.any(String), dependsOn: [] })
  expect(hunks[1]?.anchor).toMatchObject({
    contentKey: 'content',
    before: 'zero one two ',
    after: ' four five',
  })
})

it('[BRANCH-26] returns the place of each hunk as positions that both the editor and the branch resolve', async () => {
  const editor = await suggested()
  const main = await open(editor)
  main.text.insert(4, 'and ')
  await eventually(async () => (await textOf(branchOf(editor))) === 'zero one and two 3 four five')
  const hunks = await hunksOf(editor)
  const [inMain, inBranch] = [await stateOf(editor), await stateOf(branchOf(editor))]
  const between = (doc: Y.Doc, { position, positionEnd }: HunkView['anchor']): string => {
    const [from, to] = [position, positionEnd].map((text) => {
      const relative = Y.decodeRelativePosition(Buffer.from(text, 'base64'))
      return Y.createAbsolutePositionFromRelativePosition(relative, doc)?.index
    })
    return doc.getText('content').toString().slice(from, to)
  }
  expect(hunks).toHaveLength(3)
  for (const { anchor, deleted, inserted } of hunks)
    expect([between(inMain, anchor), between(inBranch, anchor)]).toEqual([deleted, inserted])
  main.close()
})

it('[BRANCH-27] sends a live message to the clients of the document when a branch is created, changed, decided, deleted or restored', async () => {
  const editor = nextEditor()
  await write(editor, 'kept')
  const token = await server.token('vic')
  const client = await RawClient.connect(`${server.wsUrl}/sync/${pathOf(editor)}?token=${token}&live=1`)
  const told = (): unknown[] =>
    client.bodies(110).map((body) => JSON.parse(Buffer.from(body).toString()) as unknown)
  const message = { event: 'weft.branchChanged', data: { editorId: 'main@draft' } }
  const tells = async (change: Promise<unknown>): Promise<void> => {
    const before = told().length
    await change
    await eventually(() => told().length > before)
    expect(told().at(-1)).toEqual(message)
  }
  await tells(create(editor))
  // The first content of the branch is a change.
  await eventually(() => told().length === 2)
  await tells(
    done('edit', {
      ...branchOf(editor),
      edits: [{ replace: { find: 'kept', with: 'more' } }],
      userId: 'ann',
    }),
  )
  await tells(decide('reject', editor))
  await tells(done('branches/delete', { ...editor, name: 'draft' }))
  const deletions = dataOf(await server.post('/v2/workspace/deleted/get', { pageSize: 1000 })) as {
    readonly documentId?: string
    readonly deletionId: string
  }[]
  const deletionId = deletions.find(({ documentId }) => documentId === editor.documentId)?.deletionId
  await tells(server.post('/v2/workspace/deleted/restore', { deletionId }))
  client.socket.close()
})

it('[BRANCH-22] merges some hunks, and the branch keeps the others and follows', async () => {
  const editor = await suggested()
  const [zero, three, five] = (await hunksOf(editor)) as [HunkView, HunkView, HunkView]
  const main = await open(editor)
  const branch = await open(branchOf(editor))
  main.text.insert(4, 'more ')
  const dry = dataOf(await decide('merge', editor, { hunks: [three.hunkId], dryRun: true }))
  expect(dry).toMatchObject({ decided: [three.hunkId], changed: true })
  const merged = dataOf(await decide('merge', editor, { hunks: [three.hunkId, 'unknown'] }))
  expect(merged).toMatchObject({
    changed: true,
    decided: [three.hunkId],
    unknown: ['unknown'],
    dependent: [],
    branch: { status: 'open' },
  })
  await eventually(() => main.text.toString() === 'one more two 3 four')
  await eventually(() => branch.text.toString() === 'zero one more two 3 four five')
  expect((await hunksOf(editor)).map(({ hunkId }) => hunkId)).toEqual([zero.hunkId, five.hunkId])
  expect(dataOf(await decide('merge', editor, { hunks: [three.hunkId] }))).toMatchObject({
    changed: false,
    decided: [],
    unknown: [three.hunkId],
  })
  main.text.insert(0, '- ')
  await eventually(() => branch.text.toString().includes('- '))
  dataOf(await decide('merge', editor))
  const whole = await textOf(editor)
  expect(['- zero one more two 3 four five', 'zero - one more two 3 four five']).toContain(whole)
  main.close()
  branch.close()
})

it('[BRANCH-23] rejects some hunks in the branch only', async () => {
  const editor = await suggested()
  const [zero, three] = (await hunksOf(editor)) as [HunkView, HunkView]
  const rejected = dataOf(await decide('reject', editor, { hunks: [zero.hunkId, three.hunkId] }))
  expect(rejected).toMatchObject({ decided: [zero.hunkId, three.hunkId], branch: { status: 'open' } })
  expect(await textOf(branchOf(editor))).toBe('one two three four five')
  expect(await textOf(editor)).toBe('one two three four')
  expect((await hunksOf(editor)).map(({ inserted }) => inserted)).toEqual([' five'])
  dataOf(await decide('merge', editor))
  expect(await textOf(editor)).toBe('one two three four five')
})

it('[BRANCH-24] stores a judgment for each decided hunk', async () => {
  const editor = await suggested()
  const [zero, three] = (await hunksOf(editor)) as [HunkView, HunkView]
  dataOf(await decide('reject', editor, { hunks: [zero.hunkId] }))
  dataOf(await decide('merge', editor, { hunks: [three.hunkId] }))
  dataOf(await decide('merge', editor))
  const judgments = dataOf(
    await server.post('/v2/memory/judgments/query', {
      organizationId: 'acme',
      documentId: editor.documentId,
    }),
  ) as object[]
  expect(judgments.toReversed()).toEqual([
    expect.objectContaining({ query: 'zero', decision: 'reject', reviewerId: 'rex' }),
    expect.objectContaining({ query: 'three → 3', decision: 'approve', reviewerId: 'rex' }),
    expect.objectContaining({ query: 'five', decision: 'approve', reviewerId: 'rex' }),
  ])
})

it('[BRANCH-25] decides hunks of a large branch on a thread', async () => {
  const text = `one two three four${' and more'.repeat(10_000)}`
  const editor = await suggested(text)
  const [zero, three, five] = (await hunksOf(editor)) as [HunkView, HunkView, HunkView]
  dataOf(await decide('merge', editor, { hunks: [three.hunkId] }))
  dataOf(await decide('reject', editor, { hunks: [zero.hunkId] }))
  expect((await hunksOf(editor)).map(({ hunkId }) => hunkId)).toEqual([five.hunkId])
  expect(await textOf(branchOf(editor))).toBe(`${text.replace('three', '3')} five`)
  expect(await textOf(editor)).toBe(text.replace('three', '3'))
})

it('[BRANCH-12] deletes a branch with its content and its connections, and its name can be used again', async () => {
  const editor = await branched()
  const token = await server.token('ann')
  const raw = await RawClient.connect(`${server.wsUrl}/sync/${pathOf(branchOf(editor))}?token=${token}`)
  await raw.roundTrip()
  await done('update', { ...branchOf(editor), type: 'text', data: 'kept and lost' })
  await done('branches/delete', { ...editor, name: 'draft' })
  expect((await raw.closed).code).toBe(4404)
  expect(await codeOf(call('get', branchOf(editor)))).toBe('crdt/no-content')
  expect(await codeOf(call('branches/get', { ...editor, name: 'draft' }))).toBe('branch/not-found')
  await create(editor)
  expect(await textOf(branchOf(editor))).toBe('kept')
})

it.each([
  [
    'an editor',
    ({ editorId, ...document }: EditorIds) => call('delete', { ...document, editorIds: [editorId] }),
  ],
  [
    'all editors',
    ({ organizationId, documentId }: EditorIds) => call('delete', { organizationId, documentId }),
  ],
  [
    'a document',
    ({ organizationId, documentId }: EditorIds) =>
      server.post('/v2/organizations/documents/delete', { organizationId, documentIds: [documentId] }),
  ],
])('[BRANCH-13] the deletion of %s deletes its branches', async (_, remove) => {
  const editor = await branched()
  await create(editor, 'second')
  dataOf(await remove(editor))
  const heads = await engine.log.heads(
    ['draft', 'second'].map((name) => addressKey(addressOf(branchOf(editor, name)))),
  )
  expect(heads).toEqual([null, null])
  const part = organizationPart()
  for (const prefix of [branchKeys.ofDocument(editor.documentId), branchKeys.allBy('ann')]) {
    const entries = await engine.kv.scan(part, { prefix, limit: 10_000 })
    expect(entries.filter(({ key }) => key.includes(editor.documentId))).toEqual([])
  }
  await write(editor, 'again')
  await create(editor)
  expect(await textOf(branchOf(editor))).toBe('again')
})

it('[BRANCH-14] the data of a user has the branches of the user, and an erasure replaces the user', async () => {
  const editor = nextEditor()
  await write(editor, 'kept')
  await create(editor, 'draft', 'eve')
  await create(editor, 'other', 'ann')
  dataOf(await decide('merge', editor, { name: 'other', userId: 'eve' }))
  const of = { organizationId: 'acme', userId: 'eve' }
  const data = dataOf(await server.post('/v2/users/data/get', of)) as { kind: string; data: object }[]
  expect(data.filter(({ kind }) => kind === 'branch').map((each) => each.data)).toEqual([
    expect.objectContaining({ name: 'draft', createdBy: 'eve' }),
    expect.objectContaining({ name: 'other', decidedBy: 'eve' }),
  ])
  dataOf(await server.post('/v2/users/data/delete', of))
  expect(await done('branches/list', editor)).toEqual([
    expect.objectContaining({ name: 'draft', createdBy: 'deleted-user' }),
    expect.objectContaining({ name: 'other', createdBy: 'ann', decidedBy: 'deleted-user' }),
  ])
})

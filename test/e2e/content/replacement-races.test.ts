import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { readRoot } from '../../../src/core/content/read-document.ts'
import { prepareChange } from '../../../src/core/content/root-change.ts'
import { addressKey } from '../../../src/core/model/address.ts'
import { close } from '../../../src/core/model/close.ts'
import type { ReplaceOptions } from '../../../src/core/rooms/edits/edit-conditions.ts'
import { Replacement } from '../../../src/core/rooms/edits/replacement.ts'
import { loadRoom } from '../../../src/core/rooms/log/load-room.ts'
import type { Room } from '../../../src/core/rooms/room/room.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { readUpdate } from '../../../src/core/update/read-update.ts'
import { eventually } from '../../support/clients/clients.ts'
import { roomsOn } from '../../support/data/rooms.ts'
import { type Answer, dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { holdable } from '../../support/stores/pausable-engine.ts'
import { times } from '../../support/time/full-run.ts'

const document = { organizationId: 'acme', documentId: 'races', editorId: 'main' }
const restarting = close('serviceRestart', 'the test is over')

const words = (count: number, start: string): string =>
  Array.from({ length: count }, (_, index) => start + ((index * 7_919) % 10_007).toString(36)).join(' ')
const paragraphs = (count: number): string =>
  Array.from({ length: count }, (_, index) => `<p id="${index}">text ${index}</p>`).join('')

/** Makes calls that arrive at once, on connections that are open already. */
async function atOnce(server: TestServer, path: string, requests: readonly object[]): Promise<Answer[]> {
  await Promise.all(requests.map(() => server.post('/v2/crdt/get', { ...document, editorId: 'none' })))
  return Promise.all(requests.map((request) => server.post(path, { ...document, type: 'text', ...request })))
}

const made = (answers: readonly Answer[]): Answer[] => answers.filter(({ status }) => status === 200)

it('[CRDT-2] creates an editor once when concurrent calls add it', async () => {
  const server = await startTestServer()
  for (let round = 0; round < times(3, 10); round++) {
    const requests = Array.from({ length: 8 }, (_, index) => ({
      editorId: `round ${round}`,
      data: `content ${index}`,
    }))
    const answers = await atOnce(server, '/v2/crdt/add', requests)
    expect(made(answers).length).toBe(1)
    expect(answers.filter(({ status }) => status === 409).length).toBe(7)
  }
  await server.stop()
})

it('[CRDT-23] if many concurrent changes have the same `ifVersion`, applies only one of them, also when the document is not loaded', async () => {
  const data = await mkdtemp(join(tmpdir(), 'weft-races-'))
  let server = await startTestServer({ engine: 'level', dataDir: data })
  const added = await server.post('/v2/crdt/add', { ...document, type: 'text', data: 'start' })
  let { version } = dataOf(added) as { version: string }
  for (let round = 0; round < times(2, 5); round++) {
    await server.stop()
    server = await startTestServer({ engine: 'level', dataDir: data })
    const requests = Array.from({ length: 8 }, (_, index) => ({
      data: `round ${round}, ${index}`,
      ifVersion: version,
    }))
    const answers = made(await atOnce(server, '/v2/crdt/update', requests))
    expect(answers.length).toBe(1)
    version = (dataOf(answers[0] as Answer) as { version: string }).version
  }
  await server.stop()
  await rm(data, { recursive: true })
})

it('[R5] rejects content of another type if the root was empty at the base version and is a text now', async () => {
  const server = await startTestServer()
  const contents = [
    ['array', [1, 2, 3]],
    ['map', { a: 1 }],
    ['xml', '<p>x</p>'],
    ['xml', paragraphs(5_000)],
  ]
  for (const [index, [type, data]] of contents.entries()) {
    const editor = { ...document, documentId: `types ${index}` }
    const first = await server.post('/v2/crdt/add', {
      ...editor,
      type: 'map',
      contentKey: 'other',
      data: { a: 1 },
    })
    const { version } = dataOf(first) as { version: string }
    const root = { ...editor, contentKey: 'content', newRoot: true }
    await server.post('/v2/crdt/update', { ...root, type: 'text', data: 'typed by people' })
    const answer = await server.post('/v2/crdt/update', { ...root, type, data, baseVersion: version })
    expect(answer.body.error?.message).toContain('is of type "text"')
    const read = await server.post('/v2/crdt/get', { ...editor, contentKey: 'content' })
    expect(dataOf(read)).toMatchObject([{ type: 'text', data: 'typed by people' }])
  }
  await server.stop()
})

async function openRooms(computeThreads: number) {
  const engine = holdable(await openMemoryEngine())
  const limits = { compactAfterUpdates: 50, keepVersionsMs: 600_000, computeThreads }
  return { engine, rooms: roomsOn(engine, limits) }
}

const address = (editorId: string) => ({ workspaceId: 'w', apiKey: 'k', ...document, editorId })

const replace = (room: Room, type: string, data: unknown, options: Partial<ReplaceOptions> = {}) =>
  new Replacement(room).change(
    'rest',
    { is: 'replace', ...prepareChange({ type, contentKey: 'content', data }, 10_000) },
    {
      expects: 'either',
      ...options,
    },
  )

const nobody = {
  encoder: {
    update: (bytes: Uint8Array) => bytes,
    awareness: (message: Uint8Array) => message,
    awarenessQuery: new Uint8Array(),
    answersRemoval: true,
  },
  user: { id: 'ada', name: 'ada', email: '' },
  deliver() {},
  deliverAwareness() {},
  requestMissing() {},
  end() {},
}

function typeInto(room: Room, key: string): void {
  const doc = new Y.Doc()
  doc.getMap('typed').set(key, true)
  const bytes = Y.encodeStateAsUpdate(doc)
  const summary = readUpdate(bytes)
  room.receive({ kind: 'update', bytes, summary, by: '', from: nobody, onApplied: null })
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

it('[ROOM-35] applies a small but expensive update outside the event loop', async () => {
  const { engine, rooms } = await openRooms(1)
  const { room } = await rooms.open(address('main'))
  await replace(room, 'xml', paragraphs(4_000))
  expect(room.state.doc.share.size).toBe(1)
  const { bytes } = await replace(room, 'xml', '')
  expect(bytes).toBeLessThan(100)
  // A document that had applied an update would be in memory, not in bytes.
  expect(room.state.bytes).not.toBeNull()
  const { version } = await replace(room, 'xml', paragraphs(4_000).replaceAll('text', 'words'))
  typeInto(room, 'later')
  // A large document is opened for an edit in slices.
  await eventually(() => room.state.bytes === null)
  const based = await replace(room, 'xml', '<p>one</p>', { baseVersion: version })
  expect(room.state.bytes).not.toBeNull()
  const stored = await loadRoom(engine.log, addressKey(address('main')), { isBounded: false })
  expect(stored.state.vector()).toEqual(room.state.vector())
  expect(stored.state.doc.getMap('typed').toJSON()).toEqual({ later: true })
  expect(readRoot(stored.state.doc, 'content')).toEqual(readRoot(room.state.doc, 'content'))
  expect(based.result.changed).toBe(true)
  await rooms.closeAll(restarting)
})

it('[ROOM-36] stores the updates that arrived while a room was locked when the rooms are closed', async () => {
  const { engine, rooms } = await openRooms(1)
  const { room } = await rooms.open(address('main'))
  await replace(room, 'xml', paragraphs(2_000))
  const replacing = replace(room, 'xml', words(20_000, 'a')).then(
    () => 'made',
    ({ status }: { status: string }) => status,
  )
  let typed = 0
  for (let turns = 0; turns < 200; turns++) {
    typeInto(room, `key ${++typed}`)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  await rooms.closeAll(restarting)
  expect(['made', 'ABORTED', 'UNAVAILABLE']).toContain(await replacing)
  const { state } = await loadRoom(engine.log, addressKey(address('main')))
  expect(state.doc.getMap('typed').size).toBe(typed)
})

it('[ROOM-36] stores the updates that wait for the share of their workspace when the rooms are closed', async () => {
  const { engine, rooms } = await openRooms(0)
  const { room } = await rooms.open(address('main'))
  const [updates, entries] = [60, 3_000]
  for (let update = 0; update < updates; update += 1) {
    const doc = new Y.Doc()
    doc.transact(() => {
      for (let entry = 0; entry < entries; entry += 1) doc.getMap('typed').set(`${update} ${entry}`, true)
    })
    const bytes = Y.encodeStateAsUpdate(doc)
    room.receive({ kind: 'update', bytes, summary: readUpdate(bytes), by: '', from: nobody, onApplied: null })
    await nextTurn()
  }
  await rooms.closeAll(restarting)
  const { state } = await loadRoom(engine.log, addressKey(address('main')))
  expect(state.doc.getMap('typed').size).toBe(updates * entries)
})

it('releases the thread of a replacement before the replacement waits for the disk', async () => {
  const { engine, rooms } = await openRooms(1)
  const { room: stuck } = await rooms.open(address('stuck'))
  const { room: other } = await rooms.open(address('other'))
  engine.hold()
  const waiting = replace(stuck, 'text', words(20_000, 'a'))
  while (engine.waiting() < 1) await nextTurn()
  const dry = await replace(other, 'text', words(20_000, 'b'), { dryRun: true })
  expect(dry.result.changed).toBe(true)
  engine.release()
  await waiting
  await rooms.closeAll(restarting)
})

it('[ROOM-34] when two backends alternately replace content with their own base versions, does not add a client id each time', async () => {
  const { rooms } = await openRooms(0)
  const { room } = await rooms.open(address('main'))
  const first = await replace(room, 'text', `one\n\ntwo\n`)
  const versions = [first.version, first.version]
  const lines = ['one', 'two']
  for (let index = 0; index < 40; index++) {
    const who = index % 2
    lines[who] = `${who} ${index}`
    const seen = who === 0 ? `${lines[0]}\n\ntwo\n` : `one\n\n${lines[1]}\n`
    const { version } = await replace(room, 'text', seen, { baseVersion: versions[who] })
    versions[who] = version
  }
  expect(room.state.clocks.size).toBeLessThanOrEqual(4)
  await rooms.closeAll(restarting)
})

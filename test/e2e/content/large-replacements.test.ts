import { isDeepStrictEqual } from 'node:util'
import { afterEach, beforeEach, expect, it } from 'vitest'
import * as Y from 'yjs'
import type { EditRequest } from '../../../src/core/content/edit/check-edits.ts'
import {
  type EncodedContent,
  readDocument,
  readRoot,
  readRootAs,
  withState,
} from '../../../src/core/content/read-document.ts'
import { prepareChange } from '../../../src/core/content/root-change.ts'
import { createMetrics, type Metrics } from '../../../src/core/metrics/metrics.ts'
import { addressKey } from '../../../src/core/model/address.ts'
import { close } from '../../../src/core/model/close.ts'
import { jsonTextUpTo } from '../../../src/core/model/json-pieces.ts'
import { parseVersion, type Version } from '../../../src/core/model/version.ts'
import { BackendEdits } from '../../../src/core/rooms/edits/backend-edits.ts'
import type { ReplaceOptions } from '../../../src/core/rooms/edits/edit-conditions.ts'
import { Replacement } from '../../../src/core/rooms/edits/replacement.ts'
import { loadVersion } from '../../../src/core/rooms/log/load-room.ts'
import type { RoomRegistry } from '../../../src/core/rooms/registry/room-registry.ts'
import type { Room } from '../../../src/core/rooms/room/room.ts'
import type { Engine } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { readUpdate } from '../../../src/core/update/read-update.ts'
import { Random } from '../../support/data/random-doc.ts'
import { roomsOn, threadsOf } from '../../support/data/rooms.ts'
import { seed } from '../../support/data/seed.ts'
import { dataOf, startTestServer } from '../../support/servers/server.ts'
import { itLong } from '../../support/time/full-run.ts'

const address = {
  workspaceId: 'w',
  apiKey: 'k',
  organizationId: 'acme',
  documentId: 'large',
  editorId: 'main',
}
const random = new Random(seed)

let engine: Engine
let rooms: RoomRegistry
let metrics: Metrics

beforeEach(async () => {
  engine = await openMemoryEngine()
  openRooms(1)
})

afterEach(async () => {
  await rooms.closeAll(close('serviceRestart', 'the test is over'))
  await engine.close()
})

function openRooms(computeThreads: number): void {
  metrics = createMetrics()
  rooms = roomsOn(engine, { compactAfterUpdates: 50, keepVersionsMs: 600_000, computeThreads }, { metrics })
}

const replace = (room: Room, type: string, data: unknown, options: Partial<ReplaceOptions> = {}) =>
  new Replacement(room).change(
    'rest',
    { is: 'replace', ...prepareChange({ type, contentKey: 'content', data }, 10_000) },
    {
      expects: 'either',
      ...options,
    },
  )

async function replacedAt(mode: string): Promise<number> {
  const { values } = await metrics.replacements.get()
  return values.find(({ labels }) => labels.mode === mode)?.value ?? 0
}

const edit = (room: Room, edits: readonly EditRequest[]) =>
  new Replacement(room).change(
    'rest',
    { is: 'replace', ...prepareChange({ contentKey: 'content', edits }, 10_000) },
    {
      expects: 'content',
    },
  )

const words = (count: number): string =>
  Array.from({ length: count }, () => random.below(1e9).toString(36)).join(' ')

const paragraphs = (count: number): string =>
  Array.from({ length: count }, () => `<p id="${random.below(1e6)}">${words(4)}</p>`).join('')

/** A client that types one character at a time into a room. `stop` returns the number of characters. */
function typist(room: Room): { type(): void; start(): void; stop(): number; readonly client: number } {
  const doc = new Y.Doc()
  Y.applyUpdate(doc, room.state.encode())
  const own = doc.getMap('typed')
  let count = 0
  doc.on('update', (bytes: Uint8Array) => {
    const summary = readUpdate(bytes)
    room.receive({ kind: 'update', bytes, summary, by: '', from: silent, onApplied: null })
  })
  const type = (): void => void own.set('count', ++count)
  let timer: NodeJS.Timeout | undefined
  return {
    client: doc.clientID,
    type,
    start: () => {
      timer = setInterval(type, 2)
    },
    stop: () => {
      clearInterval(timer)
      return count
    },
  }
}

const silent = {
  encoder: {
    update: (bytes: Uint8Array) => bytes,
    awareness: (message: Uint8Array) => message,
    awarenessQuery: new Uint8Array(),
    answersRemoval: true,
  },
  user: { id: 'typist', name: 'typist', email: '' },
  deliver() {},
  deliverAwareness() {},
  requestMissing() {},
  end() {},
}

const contents: readonly [type: string, make: () => unknown][] = [
  ['text', () => words(12_000)],
  ['xml', () => paragraphs(700)],
  ['array', () => Array.from({ length: 3_000 }, (_, id) => ({ id, text: words(3) }))],
  ['map', () => Object.fromEntries(Array.from({ length: 3_000 }, (_, id) => [`k${id}`, words(3)]))],
  ['delta', () => [{ insert: words(9_000), attributes: { bold: true } }, { insert: words(2_000) }]],
]

it.each(contents)(
  `[ROOM-30] computes a replacement of type %s on a thread, and stores exactly the target content (seed ${seed})`,
  async (type, make) => {
    const { room } = await rooms.open(address)
    for (const data of [make(), make()]) {
      const { result } = await replace(room, type, data)
      expect(result.changed).toBe(true)
      const { result: read } = await new BackendEdits(room).view((doc) => readRootAs(doc, type).data)
      expect(isDeepStrictEqual(read, data)).toBe(true)
      const before = room.state.vector()
      expect(await replace(room, type, data)).toMatchObject({ result: { changed: false }, bytes: 0 })
      expect(room.state.vector()).toEqual(before)
    }
    expect([await replacedAt('thread'), await replacedAt('inline')]).toEqual([4, 0])
  },
)

it('[EDIT-9] edits a large document on the event loop if its Y.Doc exists, except if the edit takes long', async () => {
  const { room } = await rooms.open(address)
  const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index} ${words(3)}`)
  await replace(room, 'text', lines.join('\n'))
  const places = async (): Promise<number[]> => [await replacedAt('thread'), await replacedAt('inline')]
  room.state.check()
  await edit(room, [{ replace: { find: 'line 1234 ', with: 'Line 1234 ' } }])
  expect(await places()).toEqual([1, 1])
  const { result } = await edit(room, [{ replace: { find: 'line 4321 ', with: 'Line 4321 ' } }])
  expect(result.edits).toMatchObject([{ place: { quote: 'line 4321 ' }, insertions: 1, deletions: 1 }])
  expect(await places()).toEqual([1, 2])
  await expect(edit(room, [{ remove: { target: 'line 20001 ' } }])).rejects.toMatchObject({
    code: 'crdt/target-not-found',
  })
  expect(await places()).toEqual([1, 2])
  await edit(room, [{ insert: { at: 'end', content: '\nfin e\u0301' } }])
  expect(await places()).toEqual([1, 3])
  await edit(room, [{ replace: { find: 'fin \u00e9', with: 'o\u0308' } }])
  expect(await places()).toEqual([1, 4])
  // A quote without an ASCII word can be found only in the normalized text of the whole document.
  await edit(room, [{ replace: { find: '\u00f6', with: 'end' } }])
  expect(await places()).toEqual([2, 4])
  const expected = lines.with(1234, `L${lines[1234]?.slice(1)}`).with(4321, `L${lines[4321]?.slice(1)}`)
  const read = await new BackendEdits(room).view((doc) => readRoot(doc, 'content').data)
  expect(read.result).toBe([...expected, 'end'].join('\n'))
})

it('[EDIT-9] opens large rich text after its first change, and edits it on the event loop from then on', async () => {
  const { room } = await rooms.open(address)
  const xml = Array.from({ length: 10_000 }, (_, index) => `<p>line ${index} ${words(20)}</p>`)
  await replace(room, 'xml', xml.join(''))
  const edits: readonly EditRequest[] = [
    { replace: { find: 'line 1234 ', with: 'Line 1234 ', format: 'text' } },
    { replace: { find: 'line 4321 ', with: 'Line 4321 ', format: 'text' } },
    { replace: { find: { block: 77 }, with: 'new' } },
    { insert: { after: { block: 77 }, content: 'newer' } },
    { remove: { target: { block: 78 } } },
  ]
  for (const [index, request] of edits.entries()) {
    await edit(room, [request])
    expect(await replacedAt('thread')).toBe(1)
    expect(await replacedAt('inline')).toBe(index + 1)
  }
  const expected = [1234, 4321].reduce((all, at) => all.with(at, `<p>L${all[at]?.slice(4)}`), xml)
  const read = await new BackendEdits(room).view((doc) => readRoot(doc, 'content').data)
  expect(read.result).toBe(expected.with(77, '<p>new</p>').join(''))
})

it('[EDIT-9] patches a large map on the event loop, except if the patch takes long', async () => {
  const { room } = await rooms.open(address)
  const value = (key: number) => ({ done: false, text: `${key} ${words(20)}` })
  const data = Object.fromEntries(Array.from({ length: 5_000 }, (_, key) => [`k${key}`, value(key)]))
  await replace(room, 'map', data)
  const places = async (): Promise<number[]> => [await replacedAt('thread'), await replacedAt('inline')]
  await edit(room, [{ patch: [{ op: 'replace', path: '/k77/done', value: true }] }])
  await edit(room, [{ patch: [{ op: 'add', path: '/new', value: 1 }] }])
  expect(await places()).toEqual([1, 2])
  await edit(room, [{ patch: [{ op: 'copy', from: '/k77', path: '/k78' }] }])
  expect(await places()).toEqual([2, 2])
  const changed = { ...data.k77, done: true }
  const read = await new BackendEdits(room).view((doc) => readRoot(doc, 'content').data)
  expect(read.result).toEqual({ ...data, k77: changed, k78: changed, new: 1 })
})

it('[ROOM-30] handles other events while it computes a large replacement', async () => {
  const turnsOf = async (threads: number): Promise<number> => {
    openRooms(threads)
    const { room } = await rooms.open({ ...address, editorId: `editor ${threads}` })
    await replace(room, 'xml', paragraphs(2_500))
    const [before, after] = [paragraphs(2_500), paragraphs(2_500)]
    await replace(room, 'xml', before)
    let turns = 0
    let done = false
    const turn = (): void => {
      turns += 1
      if (!done) setImmediate(turn)
    }
    setImmediate(turn)
    await replace(room, 'xml', after)
    done = true
    return turns
  }
  // A blocked event loop has few ticks, before and after the work. A free one has many during the work.
  expect(await turnsOf(0)).toBeLessThan(20)
  expect(await turnsOf(1)).toBeGreaterThan(100)
})

const bytesMax = 33_554_432
/** A content whose data is decoded. */
const decoded = (content: EncodedContent | undefined): unknown => ({
  ...content,
  data: JSON.parse(jsonTextUpTo(content?.data, bytesMax) ?? ''),
})

itLong(
  '[ROOM-38] reads a large document on a thread with the same result as on the event loop, and handles other events meanwhile',
  async () => {
    const formats = [undefined, 'json', 'xml', 'update'] as const
    const data = paragraphs(4_000)
    const read = async (threads: number) => {
      openRooms(threads)
      const { room } = await rooms.open({ ...address, editorId: `editor ${threads}` })
      await replace(room, 'xml', data)
      const bytes = room.state.encode()
      const turnsOf = async (work: () => Promise<unknown>): Promise<number> => {
        let [turns, done] = [0, false]
        const turn = (): void => {
          turns += 1
          if (!done) setImmediate(turn)
        }
        setImmediate(turn)
        await work()
        done = true
        return turns
      }
      for (const format of formats) {
        const content = withState(bytes, (doc) => readDocument(doc, { format }))
        expect(decoded((await new BackendEdits(room).read({ format }, bytesMax))?.result)).toEqual(content)
        expect(decoded(await rooms.readState(address, bytes, { format }, bytesMax))).toEqual(content)
      }
      await expect(rooms.readState(address, bytes, { format: 'delta' }, bytesMax)).rejects.toMatchObject({
        status: 'INVALID_ARGUMENT',
      })
      return [
        await turnsOf(() => new BackendEdits(room).read({ format: 'xml' }, bytesMax)),
        await turnsOf(() => rooms.readState(address, bytes, { format: 'xml' }, bytesMax)),
      ]
    }
    for (const turns of await read(0)) expect(turns).toBeLessThan(20)
    for (const turns of await read(1)) expect(turns).toBeGreaterThan(100)
  },
)

const versionOf = ({ version }: { readonly version: string }): Version => parseVersion(version) as Version

it('[ROOM-31] keeps all edits that users make during a replacement, and puts them after the replaced content', async () => {
  const { room } = await rooms.open(address)
  await replace(room, 'xml', paragraphs(1_500))
  const typing = typist(room)
  typing.start()
  const target = paragraphs(1_500)
  const answer = await replace(room, 'xml', target)
  await new Promise((resolve) => setTimeout(resolve, 50))
  const typed = typing.stop()
  await expect.poll(() => room.state.clocks.get(typing.client)).toBe(typed)
  await room.durable
  expect(await replacedAt('thread_locked')).toBe(1)
  const then = await loadVersion(engine.log, addressKey(address), versionOf(answer))
  expect(readRoot(then?.doc as Y.Doc, 'content').data).toBe(target)
  expect(then?.doc.getMap('typed').get('count')).toBeLessThan(typed)
})

it('[ROOM-31] keeps the edits since the base version even if updates arrive without a pause', async () => {
  const { room } = await rooms.open(address)
  const lines = Array.from({ length: 6_000 }, (_, line) => `${line} ${words(2)}`)
  const { version } = await replace(room, 'text', lines.join('\n'))
  const copy = new Y.Doc()
  Y.applyUpdate(copy, room.state.encode())
  const before = Y.encodeStateVector(copy)
  copy.getText('content').insert(0, 'typed ')
  await new BackendEdits(room).apply('ada', Y.encodeStateAsUpdate(copy, before), {
    expects: 'content',
  })
  const typing = typist(room)
  typing.start()
  const changed = lines.with(5_000, 'changed')
  const answer = await replace(room, 'text', changed.join('\n'), { baseVersion: version })
  typing.stop()
  const { result } = await new BackendEdits(room).view((doc) => readRoot(doc, 'content').data)
  expect(result).toBe(`typed ${changed.join('\n')}`)
  expect(answer.bytes).toBeLessThan(100)
})

it('[ROOM-64] completes a replacement and an update that both need the only thread of their workspace', async () => {
  const { room } = await rooms.open(address)
  await replace(room, 'text', words(15_000))
  const copy = new Y.Doc()
  Y.applyUpdate(copy, room.state.encode())
  copy.getText('content').insert(5, 'typed')
  copy.getText('content').delete(20, 3)
  const whole = Y.encodeStateAsUpdate(copy)
  const target = words(15_000)
  const replacing = replace(room, 'text', target)
  await new Promise((resolve) => setTimeout(resolve, 5))
  const applying = new BackendEdits(room).apply('ada', whole, { expects: 'content' })
  expect(await Promise.all([replacing, applying])).toHaveLength(2)
})

it('[ROOM-31] when a document is deleted during its replacement, does not restore it', async () => {
  const { room } = await rooms.open(address)
  await replace(room, 'xml', paragraphs(1_500))
  const answer = expect(replace(room, 'xml', paragraphs(1_500))).rejects.toMatchObject({
    status: 'UNAVAILABLE',
  })
  await rooms.destroy(address)
  await answer
  expect((await engine.log.load(addressKey(address))).state).toBe('deleted')
})

const job = {
  is: 'replace',
  change: { type: 'text', contentKey: 'content', data: 'new' },
  updates: [new Uint8Array(2)],
  writers: [{ client: 7, clock: 0 }],
  documentBytesMax: 1e6,
  state: 'never',
} as const

it('[ROOM-32] when a thread fails, only its job fails, and the next job gets another thread', async () => {
  const threads = threadsOf({ waitingMax: 1, jobMs: 20_000 })
  const broken = { ...job, updates: [Uint8Array.of(9, 9, 9)] }
  await expect(threads.use(address, (thread) => thread.run(broken))).rejects.toThrow('could not be computed')
  expect(await threads.use(address, (thread) => thread.run(job))).toMatchObject({ change: { changed: true } })
  await threads.close()
})

it('[ROOM-32] ends a thread when its job exceeds the deadline', async () => {
  const threads = threadsOf({ waitingMax: 1, jobMs: 1 })
  const large = { ...job, change: { ...job.change, data: words(200_000) } }
  await expect(threads.use(address, (thread) => thread.run(large))).rejects.toThrow('was stopped')
  await threads.close()
})

it('[ROOM-33] [LIM-11] rejects jobs when the thread queue has its maximum length', async () => {
  const threads = threadsOf({ waitingMax: 2, jobMs: 20_000 })
  const uses = Array.from({ length: 5 }, () => threads.use(address, (thread) => thread.run(job)))
  const ends = await Promise.allSettled(uses)
  expect(ends.map(({ status }) => status)).toEqual([
    'fulfilled',
    'fulfilled',
    'fulfilled',
    'rejected',
    'rejected',
  ])
  expect(ends[4]).toMatchObject({
    reason: {
      status: 'RESOURCE_EXHAUSTED',
      retryAfterSeconds: 5,
      details: { limit: 'threadQueueLength', value: 2, scope: 'server' },
    },
  })
  await threads.close()
})

it('[ROOM-33] checks content of any size before it searches for the document', async () => {
  const server = await startTestServer()
  const { organizationId, documentId, editorId } = address
  const ids = { organizationId, documentId, editorId }
  const update = (type: string, data: unknown) =>
    server.post('/v2/crdt/update', { ...ids, type, data, contentKey: 'content' })
  const large = paragraphs(2_500)
  expect((await update('xml', `${large}<p>`)).body.error).toMatchObject({ status: 'INVALID_ARGUMENT' })
  expect((await update('map', large)).body.error).toMatchObject({ status: 'INVALID_ARGUMENT' })
  expect((await update('xml', large)).body.error).toMatchObject({ status: 'NOT_FOUND' })
  expect(dataOf(await server.post('/v2/crdt/add', { ...ids, type: 'xml', data: large }))).toMatchObject({
    changed: true,
  })
  expect((await update('text', words(20_000))).body.error?.message).toContain('is of type "xml"')
  await server.stop()
})

it('[ROOM-34] adds at most two client ids to a document, however many replacements it gets', async () => {
  const { room } = await rooms.open(address)
  let { version } = await replace(room, 'text', words(50))
  const typing = typist(room)
  for (let index = 0; index < 30; index++) {
    typing.type()
    const options = index % 3 === 0 ? {} : { baseVersion: version }
    version = (await replace(room, 'text', words(index % 2 === 0 ? 50 : 9_000), options)).version
    room.rest()
    room.rest()
  }
  // The typist's updates may make a thread compute a second time.
  const onThreads = (await replacedAt('thread')) + (await replacedAt('thread_locked'))
  expect([await replacedAt('inline'), onThreads]).toEqual([16, 15])
  const writers = [...room.state.clocks.keys()].filter((client) => client !== typing.client)
  expect(writers.length).toBeLessThanOrEqual(2)
})

import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import { eventually, syncedEditor } from '../../support/clients/clients.ts'
import { ContentStream } from '../../support/clients/content-stream.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
let documents = 0

beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

/** Creates a document with a text. Returns its address. */
async function makeText(data: string) {
  documents += 1
  const ids = { organizationId: 'acme', documentId: `stream-${documents}`, editorId: 'main' }
  dataOf(await server.post('/v2/crdt/add', { ...ids, type: 'text', data }))
  return ids
}

type Ids = Awaited<ReturnType<typeof makeText>>

const read = async (ids: Ids) =>
  (dataOf(await server.post('/v2/crdt/get', ids)) as [{ data: string; version: string }])[0]
const textOf = async (ids: Ids): Promise<string> => (await read(ids)).data
const editorOf = async ({ documentId }: Ids) =>
  syncedEditor(server.wsUrl, `acme/${documentId}/main`, await server.token('ann'))

/** Streams pieces. Returns the result and the text of the document. */
async function stream(ids: Ids, opening: object, pieces: readonly string[]) {
  const writer = await ContentStream.open(server, { ...ids, ...opening })
  for (const piece of pieces) {
    writer.text(piece)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return { done: await writer.end(), text: await textOf(ids), opened: writer.opened }
}

it('[STRM-10] returns the place, the received units of each update, and the result with the version', async () => {
  const ids = await makeText('Hello, world.')
  const writer = await ContentStream.open(server, { ...ids, edit: { insert: { after: 'Hello' } } })
  expect(writer.opened).toMatchObject({ received: 0, place: { quote: 'Hello', after: ', world.' } })
  writer.text(' big')
  await writer.received(4)
  expect(await textOf(ids)).toBe('Hello big, world.')
  writer.text(' and').text(' wide')
  const done = await writer.end()
  const { version, data } = await read(ids)
  expect(data).toBe('Hello big and wide, world.')
  expect(done).toEqual({ outcome: 'done', version, received: 13, deletions: 0, bytes: expect.any(Number) })
  const sizes = writer.lines.map(({ bytes = 0 }) => bytes)
  expect(sizes.reduce((sum, bytes) => sum + bytes)).toBe(done.bytes)
})

it.each([
  ['at the start', { at: 'start' }, 'X\nYone\ntwo\nthree'],
  ['at the end', { at: 'end' }, 'one\ntwo\nthreeX\nY'],
  ['before a quote', { before: 'wo' }, 'one\ntX\nYwo\nthree'],
  ['after a quote', { after: 'tw' }, 'one\ntwX\nYo\nthree'],
  ['into a line', { into: { block: 1 } }, 'one\ntwoX\nY\nthree'],
  ['before a line', { before: { block: 1 } }, 'one\nX\nY\ntwo\nthree'],
  ['after a line', { after: { block: 1 } }, 'one\ntwo\nX\nY\nthree'],
  ['after the last line', { after: { block: 2 } }, 'one\ntwo\nthree\nX\nY'],
])('[STRM-1] writes pieces %s like an edit', async (_name, insert, expected) => {
  const ids = await makeText('one\ntwo\nthree')
  const { text } = await stream(ids, { edit: { insert } }, ['X', '\n', 'Y'])
  expect(text).toBe(expected)
  const other = await makeText('one\ntwo\nthree')
  dataOf(
    await server.post('/v2/crdt/edit', { ...other, edits: [{ insert: { ...insert, content: 'X\nY' } }] }),
  )
  expect(await textOf(other)).toBe(expected)
})

it('[STRM-1] writes nothing for a stream without content, and fills an empty text', async () => {
  const ids = await makeText('one\ntwo')
  const { version } = await read(ids)
  const { done, text } = await stream(ids, { edit: { insert: { after: { block: 0 } } } }, [''])
  expect({ done, text }).toMatchObject({ done: { version, bytes: 0, received: 0 }, text: 'one\ntwo' })
  const empty = await makeText('')
  expect((await stream(empty, { edit: { insert: { at: 'end' } } }, ['# A', '\nb'])).text).toBe('# A\nb')
})

it('[STRM-2] removes the replaced text at the end, and keeps what users have typed into it', async () => {
  const ids = await makeText('One. Two three. Four.')
  const user = await editorOf(ids)
  const writer = await ContentStream.open(server, { ...ids, edit: { replace: { find: 'Two three.' } } })
  writer.text('2 3')
  await writer.received(3)
  expect(await textOf(ids)).toBe('One. Two three.2 3 Four.')
  await eventually(() => user.text.toString() === 'One. Two three.2 3 Four.')
  user.text.insert(8, ' and a half')
  user.text.delete(5, 1)
  await eventually(async () => (await textOf(ids)).includes('half'))
  writer.text('.')
  expect(await writer.end()).toMatchObject({
    outcome: 'done',
    received: 4,
    deletions: 7,
    overlaps: [{ path: '', base: 'Two', theirs: 'wo', kept: 'theirs' }],
  })
  expect(await textOf(ids)).toBe('One. wo and a half 2 3. Four.')
  user.close()
})

it('[STRM-114] returns the replaced words that users have changed, and keeps or removes them', async () => {
  for (const [onOverlap, kept, expected] of [
    [undefined, 'theirs', 'Budget: 1050 was 170.'],
    ['keepTheirs', 'theirs', 'Budget: 1050 was 170.'],
    ['keepMine', 'mine', 'Budget: was 170.'],
  ]) {
    const ids = await makeText('Budget: 100 EUR.')
    const { version: baseVersion } = await read(ids)
    const edits = [{ replace: { find: '100', with: '1050' } }]
    dataOf(await server.post('/v2/crdt/edit', { ...ids, edits }))
    const opening = { baseVersion, onOverlap, edit: { replace: { find: '100 EUR' } } }
    const { done, text } = await stream(ids, opening, ['was ', '170'])
    expect({ done, text }).toMatchObject({
      text: expected,
      done: { outcome: 'done', overlaps: [{ path: '', base: '100', theirs: '1050', kept }] },
    })
  }
})

it('[STRM-114] keeps a number that a user has changed before or while the content of the stream arrives', async () => {
  const edits = [{ text: { index: 11, insert: '5' } }]
  for (const isBefore of [true, false]) {
    const ids = await makeText('Budget: 100 EUR')
    const { version: baseVersion } = await read(ids)
    if (isBefore) dataOf(await server.post('/v2/crdt/edit', { ...ids, edits }))
    const writer = await ContentStream.open(server, {
      ...ids,
      baseVersion,
      edit: { replace: { find: '100' } },
    })
    writer.text('17')
    await writer.received(2)
    if (!isBefore) dataOf(await server.post('/v2/crdt/edit', { ...ids, edits }))
    writer.text('0')
    expect(await writer.end()).toMatchObject({
      outcome: 'done',
      overlaps: [{ path: '', base: '100', theirs: '1005', mine: '170', kept: 'theirs' }],
    })
    expect(await textOf(ids)).toBe('Budget: 1005 170 EUR')
  }
})

it('[STRM-115] removes the content of the stream if users have changed replaced words, with `fail`', async () => {
  const ids = await makeText('Budget: 100 EUR.')
  const opening = { ...ids, streamId: 'failing', onOverlap: 'fail', edit: { replace: { find: '100 EUR' } } }
  const writer = await ContentStream.open(server, opening)
  writer.text('170 EUR')
  await writer.received(7)
  const edits = [{ text: { index: 10, insert: '5' } }]
  dataOf(await server.post('/v2/crdt/edit', { ...ids, edits }))
  const expected = {
    status: 'ABORTED',
    details: {
      code: 'crdt/overlap',
      overlaps: [{ path: '', base: '100', theirs: '1050', kept: 'theirs' }],
    },
  }
  writer.line({ end: true })
  expect(await writer.error()).toMatchObject(expected)
  expect(await textOf(ids)).toBe('Budget: 1050 EUR.')
  expect(await (await ContentStream.open(server, opening)).error()).toMatchObject(expected)
  expect(await textOf(ids)).toBe('Budget: 1050 EUR.')
})

it('[STRM-3] keeps text before and after the content that users type while it is streamed', async () => {
  const ids = await makeText('AZ')
  const user = await editorOf(ids)
  const writer = await ContentStream.open(server, { ...ids, edit: { insert: { after: 'A' } } })
  let expected = ''
  for (let index = 0; index < 10; index += 1) {
    writer.text(`${index}`)
    expected += index
    await eventually(() => user.text.toString().includes(expected))
    const text = user.text.toString()
    user.text.insert(text.indexOf('0') + expected.length, 'y')
    user.text.insert(text.indexOf('0'), 'x')
    await eventually(async () => (await textOf(ids)) === user.text.toString())
  }
  await writer.end()
  expect(await textOf(ids)).toBe(`A${'x'.repeat(10)}0123456789${'y'.repeat(10)}Z`)
  user.close()
})

it('[STRM-4] finds the target in a base version, and rejects a target that was deleted since then', async () => {
  const ids = await makeText('keep this and that')
  const { version: baseVersion } = await read(ids)
  const edits = [{ replace: { find: 'this', with: 'it' } }, { insert: { at: 'start', content: 'that, ' } }]
  dataOf(await server.post('/v2/crdt/edit', { ...ids, edits }))
  const opening = { baseVersion, edit: { replace: { find: 'that' } } }
  expect((await stream(ids, opening, ['those'])).text).toBe('that, keep it and those')
  const gone = ContentStream.send(server, { ...ids, baseVersion, edit: { replace: { find: 'this' } } })
  expect(await gone.error()).toMatchObject({ details: { code: 'crdt/target-not-found' } })
  expect(gone.status).toBe(400)
})

it.each([
  ['a missing quote', { edit: { insert: { after: 'nine' } } }, 400, 'crdt/target-not-found'],
  ['an ambiguous quote', { edit: { replace: { find: 'o' } } }, 400, 'crdt/target-ambiguous'],
  ['a path', { edit: { replace: { find: { path: '/a' } } } }, 400, 'crdt/edit-not-supported'],
  ['another root', { contentKey: 'x', edit: { insert: { at: 'end' } } }, 404, 'crdt/root-not-found'],
  ['an editor without content', { editorId: 'x', edit: { insert: { at: 'end' } } }, 404, 'crdt/no-content'],
  ['an unknown document', { documentId: 'x', edit: { insert: { at: 'end' } } }, 404, 'document/not-found'],
  ['two places', { edit: { insert: { at: 'end', after: 'one' } } }, 400, 'crdt/invalid-edit'],
  ['no edit', { edit: {} }, 400, 'crdt/invalid-edit'],
])('[STRM-5] rejects %s as an HTTP error', async (_name, opening, status, code) => {
  const ids = await makeText('one two')
  const writer = ContentStream.send(server, { ...ids, ...opening })
  expect(await writer.error()).toMatchObject({ details: { code } })
  expect(writer.status).toBe(status)
})

it('[STRM-11] sends pieces to open editors while the stream is open, at most one update in 50 ms', async () => {
  const ids = await makeText('')
  const user = await editorOf(ids)
  let updates = 0
  user.doc.on('update', () => {
    updates += 1
  })
  const writer = await ContentStream.open(server, { ...ids, edit: { insert: { at: 'end' } } })
  const startedAt = performance.now()
  for (let index = 0; index < 200; index += 1) {
    writer.text('word ')
    if (index % 10 === 9) await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await eventually(() => user.text.length === 1_000)
  const ms = performance.now() - startedAt
  expect(updates).toBeGreaterThan(2)
  expect(updates).toBeLessThanOrEqual(Math.ceil(ms / 50) + 1)
  await writer.end()
  user.close()
})

it('[STRM-12] skips what it has received before, and rejects a piece after a gap', async () => {
  const ids = await makeText('')
  const writer = await ContentStream.open(server, { ...ids, edit: { insert: { at: 'end' } } })
  writer.text('abc', 0).text('abcdef', 0).text('ef', 4).text('ghi', 6).text('h', 7)
  await writer.received(9)
  expect(await textOf(ids)).toBe('abcdefghi')
  writer.text('x', 10)
  expect(await writer.error()).toMatchObject({ details: { code: 'crdt/stream-gap', received: 9 } })
  expect(writer.status).toBe(200)
})

it('[STRM-13] keeps both halves of a surrogate pair in one update', async () => {
  const ids = await makeText('')
  const user = await editorOf(ids)
  const seen = new Set<string>()
  user.text.observe(() => seen.add(user.text.toString()))
  const writer = await ContentStream.open(server, { ...ids, edit: { insert: { at: 'end' } } })
  writer.raw('{"text":"a\\ud83d"}\n')
  await writer.received(1)
  writer.raw('{"text":"\\ude00b"}\n')
  await writer.received(4)
  writer.raw('{"text":"\\ud83d"}\n{"text":"\\udc00\\ud800"}\n')
  expect(await writer.end()).toMatchObject({ received: 7 })
  expect(await textOf(ids)).toBe('a\u{1f600}b\u{1f400}\ufffd')
  await eventually(() => user.text.length === 7)
  expect([...seen].filter((text) => !text.isWellFormed())).toEqual([])
  user.close()
})

it('[STRM-14] stores the author with the source stream; a user does not undo it, and undo by data does', async () => {
  const ids = await makeText('start.')
  const { version: from } = await read(ids)
  const user = await editorOf(ids)
  const undo = new Y.UndoManager(user.text)
  user.text.insert(6, ' mine')
  await eventually(async () => (await textOf(ids)).endsWith('mine'))
  const meta = { job: 'summary' }
  await stream(ids, { edit: { insert: { at: 'end' } }, userId: 'agent', meta }, [' one', ' two'])
  await eventually(() => user.text.toString() === 'start. mine one two')
  undo.undo()
  await eventually(async () => (await textOf(ids)) === 'start. one two')
  const { changes } = dataOf(await server.post('/v2/crdt/changes', { ...ids, from, meta })) as {
    changes: readonly object[]
  }
  expect(changes).toMatchObject([{ userId: 'agent', source: 'stream', meta }])
  expect(dataOf(await server.post('/v2/crdt/undo', { ...ids, from, meta }))).toMatchObject({ changed: true })
  expect(await textOf(ids)).toBe('start.')
  user.close()
})

it('[STRM-15] withdraws everything that the stream has inserted, and nothing else', async () => {
  const ids = await makeText('one\ntwo')
  const user = await editorOf(ids)
  const writer = await ContentStream.open(server, { ...ids, edit: { insert: { after: { block: 0 } } } })
  writer.text('draft of an agent')
  await writer.received(17)
  await eventually(() => user.text.toString() === 'one\ndraft of an agent\ntwo')
  user.text.insert(9, ' MINE')
  await eventually(async () => (await textOf(ids)).includes('MINE'))
  writer.text(' more')
  await writer.received(22)
  expect(await writer.withdraw()).toMatchObject({ outcome: 'withdrawn', received: 22, deletions: 23 })
  expect(await textOf(ids)).toBe('one\n MINEtwo')
  user.close()
})

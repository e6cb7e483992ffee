import { afterEach, expect, it } from 'vitest'
import { systemClock } from '../../../src/core/base/clock.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { ContentStream } from '../../support/clients/content-stream.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { rejectingCommits } from '../../support/stores/rejecting-kv.ts'

let server: TestServer
afterEach(() => server.stop())

const ids = { organizationId: 'acme', documentId: 'report', editorId: 'main' }
const replacing = { ...ids, streamId: 's', edit: { replace: { find: 'old' } } }

async function start(data: string, ...given: Parameters<typeof startTestServer>): Promise<void> {
  server = await startTestServer(...given)
  await add(data)
}
const add = async (data: string, to: object = ids): Promise<void> => {
  dataOf(await server.post('/v2/crdt/add', { ...to, type: 'text', data }))
}
const textOf = async (of: object = ids): Promise<string> =>
  (dataOf(await server.post('/v2/crdt/get', of)) as [{ data: string }])[0].data
const disable = async (disabled: boolean): Promise<void> => {
  const { organizationId, documentId } = ids
  const documents = [{ documentId, disabled }]
  dataOf(await server.post('/v2/organizations/documents/update', { organizationId, documents }))
}

it('[STRM-60] completes a stream whose end was recorded, when its writer opens it again after its document was disabled', async () => {
  const engine = rejectingCommits(await openMemoryEngine({ clock: systemClock }))
  await start('an old text', {}, { engine })
  const first = await ContentStream.open(server, replacing)
  first.text('new')
  await first.received(3)
  engine.rejects = ({ puts = [] }) => puts.some(({ value }) => Buffer.from(value).includes('"result":{'))
  first.line({ end: true })
  expect(await first.error()).toMatchObject({ status: 'UNAVAILABLE' })
  engine.rejects = () => false
  await disable(true)
  expect(await ContentStream.send(server, replacing).error()).toMatchObject({
    details: { code: 'document/disabled' },
  })
  await disable(false)
  const second = await ContentStream.open(server, replacing)
  expect(await second.text('never').withdraw()).toMatchObject({ outcome: 'done', received: 3 })
  expect(await textOf()).toBe('an new text')
  expect(await (await ContentStream.open(server, replacing)).end()).toMatchObject({ outcome: 'done' })
})

it('[STRM-60] keeps the replaced or the streamed text when a withdrawal overtakes the end', async () => {
  await start('')
  for (let index = 0; index < 20; index += 1) {
    const editor = { ...ids, editorId: `e${index}` }
    await add('an old text', editor)
    const opening = { ...replacing, ...editor, streamId: `s${index}` }
    const first = await ContentStream.open(server, opening)
    first.text('new')
    await first.received(3)
    first.line({ end: true })
    await new Promise((resolve) => setTimeout(resolve, index / 4))
    if (index % 2 === 1) first.destroy()
    const { outcome } = await ContentStream.send(server, opening).withdraw()
    expect(await textOf(editor)).toBe(outcome === 'done' ? 'an new text' : 'an old text')
  }
})

it.each([
  ['at the end', { insert: { at: 'end' } }],
  ['at the start', { insert: { at: 'start' } }],
  ['as a replacement', { replace: { find: 'old' } }],
])('[STRM-61] writes nothing %s of an editor that was created again', async (_name, edit) => {
  await start('old')
  const opening = { ...ids, streamId: 's', edit }
  const first = await ContentStream.open(server, opening)
  first.text('abc')
  await first.received(3)
  const { organizationId, documentId, editorId } = ids
  dataOf(await server.post('/v2/crdt/delete', { organizationId, documentId, editorIds: [editorId] }))
  await add('an old text')
  first.text('def')
  expect(await first.error()).toMatchObject({ details: { code: 'crdt/no-content' } })
  const second = ContentStream.send(server, opening)
  expect(await second.error()).toMatchObject({ details: { code: 'crdt/no-content' } })
  expect(await textOf()).toBe('an old text')
})

it('[STRM-61] ends a stream in an editor that was created again before its first piece, and at its end', async () => {
  await start('old')
  const { organizationId, documentId, editorId } = ids
  const one = await ContentStream.open(server, { ...ids, edit: { insert: { at: 'end' } } })
  const two = await ContentStream.open(server, replacing)
  dataOf(await server.post('/v2/crdt/delete', { organizationId, documentId, editorIds: [editorId] }))
  await add('an old text')
  one.text('abc')
  two.line({ end: true })
  for (const stream of [one, two])
    expect(await stream.error()).toMatchObject({ details: { code: 'crdt/no-content' } })
  expect(await textOf()).toBe('an old text')
})

it('[STRM-63] limits the bytes of a stream over all its connections', async () => {
  await start('', { streamBytes: 1_024 })
  const opening = { ...ids, streamId: 's', edit: { insert: { at: 'end' } } }
  for (let sent = 0; sent < 300; sent += 100) {
    const writer = await ContentStream.open(server, opening)
    expect(writer.opened.received).toBe(sent)
    writer.text('漢'.repeat(100))
    await writer.received(sent + 100)
    writer.destroy()
    await writer.closed
  }
  const last = await ContentStream.open(server, opening)
  last.text('漢'.repeat(42))
  expect(await last.error()).toMatchObject({ details: { limit: 'streamBytes', value: 1_024 } })
  const fitting = await ContentStream.open(server, opening)
  await fitting.text('漢'.repeat(41)).text('a').end()
  expect(Buffer.byteLength(await textOf())).toBe(1_024)
})

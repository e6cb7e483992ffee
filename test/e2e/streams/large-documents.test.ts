import { afterAll, beforeAll, expect, it } from 'vitest'
import { ContentStream } from '../../support/clients/content-stream.ts'
import { dataOf, metric, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer

beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

const paragraphs = Array.from({ length: 1_000 }, (_, index) => `Paragraph ${index} ${'word '.repeat(50)}.`)

async function make(documentId: string, schema: string) {
  const ids = { organizationId: 'acme', documentId, editorId: 'main' }
  dataOf(
    await server.post('/v2/crdt/add', { ...ids, type: 'markdown', data: paragraphs.join('\n\n'), schema }),
  )
  return ids
}
type Ids = Awaited<ReturnType<typeof make>>

const read = async (ids: Ids): Promise<string> =>
  (dataOf(await server.post('/v2/crdt/get', { ...ids, format: 'markdown' })) as [{ data: string }])[0].data
    .trimEnd()
    .split('\n\n')
    .slice(paragraphs.length)
    .join('\n\n')

const onThreads = (): Promise<number> => metric(server, 'weft_replacements_total{mode="thread"}')

it('[STRM-71] makes the new blocks of a large document on a thread, and continues a block without one', async () => {
  const ids = await make('text', 'tiptap')
  const writer = await ContentStream.open(server, { ...ids, edit: { insert: { at: 'end' } } })
  const before = await onThreads()
  writer.text('One')
  await writer.received(3)
  expect(await onThreads()).toBe(before + 1)
  for (const [received, piece] of [
    [7, ' two'],
    [13, ' three'],
    [18, ' four'],
  ] as const) {
    writer.text(piece)
    await writer.received(received)
  }
  expect(await onThreads()).toBe(before + 1)
  dataOf(await server.post('/v2/crdt/edit', { ...ids, edits: [{ replace: { find: 'two', with: 'TWO' } }] }))
  const edited = await onThreads()
  writer.text('\nSecond\nThird')
  await writer.received(31)
  expect(await onThreads()).toBe(edited + 1)
  await writer.end()
  expect(await read(ids)).toBe('One TWO three four\n\nSecond\n\nThird')
})

it('[STRM-71] checks the schema of a large document on a thread', async () => {
  const nodes = { doc: { content: 'paragraph+' }, paragraph: { content: 'text*' }, text: {} }
  dataOf(await server.post('/v2/crdt/schemas/set', { name: 'small', schema: { nodes } }))
  const ids = await make('schema', 'small')
  const writer = await ContentStream.open(server, {
    ...ids,
    format: 'markdown',
    edit: { insert: { at: 'end' } },
  })
  writer.text('More\n\n# Heading\n\n').line({ end: true })
  expect(await writer.error()).toMatchObject({ details: { code: 'crdt/schema-violation' } })
  expect(await read(ids)).toBe('More')
})

it('[STRM-101] parses much Markdown on a thread, also in a small document', async () => {
  const ids = { organizationId: 'acme', documentId: 'small', editorId: 'main' }
  dataOf(await server.post('/v2/crdt/add', { ...ids, type: 'markdown', data: 'Start.', schema: 'tiptap' }))
  const edit = { insert: { at: 'end' } }
  const writer = await ContentStream.open(server, { ...ids, format: 'markdown', edit })
  const before = await onThreads()
  const short = 'word '.repeat(800)
  writer.text(`${short}\n\n`).text('*')
  await writer.received(short.length + 2)
  expect(await onThreads()).toBe(before)
  const long = '*a_ '.repeat(2_000)
  writer.text(`${long}\n\n`).text('End')
  await writer.received(short.length + long.length + 5)
  expect(await onThreads()).toBe(before + 1)
  await writer.end()
})

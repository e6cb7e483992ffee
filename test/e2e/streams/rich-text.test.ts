import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ContentStream } from '../../support/clients/content-stream.ts'
import { Random } from '../../support/data/random-doc.ts'
import { seed } from '../../support/data/seed.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
let documents = 0

beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

const schemas = ['tiptap', 'prosemirror', 'blocknote'] as const
const initial = '# Report\n\nFirst paragraph.\n\n- one\n- two\n\n## Risks\n\nNo risks.\n\n## End\n\nLast.'

async function make(schema: string | undefined, data = initial) {
  documents += 1
  const ids = { organizationId: 'acme', documentId: `rich-${documents}`, editorId: 'main' }
  dataOf(await server.post('/v2/crdt/add', { ...ids, type: 'markdown', data, ...(schema && { schema }) }))
  return ids
}
type Ids = Awaited<ReturnType<typeof make>>

const read = async (ids: Ids, format = 'markdown'): Promise<string> =>
  (dataOf(await server.post('/v2/crdt/get', { ...ids, format })) as [{ data: string }])[0].data.trimEnd()

async function stream(ids: Ids, opening: object, pieces: readonly string[], isSlow = false) {
  const writer = await ContentStream.open(server, { ...ids, ...opening })
  for (const piece of pieces) {
    writer.text(piece)
    if (isSlow) await new Promise((resolve) => setTimeout(resolve, 15))
  }
  return writer.end()
}

function cut(text: string, random: Random, longest: number): string[] {
  const pieces: string[] = []
  for (let at = 0; at < text.length; ) {
    const length = 1 + random.below(longest)
    pieces.push(text.slice(at, at + length))
    at += length
  }
  return pieces
}

const answer = [
  '### Details',
  'A **bold** word, a [link](https://example.com) and `code`.',
  '- first\n- second\n\n  more of it\n- third',
  '1. a\n2. b',
  '```ts\nconst a = 1\n\n# not a heading\n```',
  '> quoted\n> text',
  'The last\nparagraph 😀.',
].join('\n\n')

it.each(schemas)(
  `[STRM-16] streams Markdown into %s block by block, with the result of one edit (seed ${seed})`,
  async (schema) => {
    const random = new Random(seed)
    for (const insert of [
      { after: { heading: 'Risks' } },
      { at: 'end' },
      { before: { heading: 'Risks' } },
      { after: 'First' },
    ]) {
      const [ids, other] = [await make(schema), await make(schema)]
      const done = await stream(ids, { format: 'markdown', edit: { insert } }, cut(answer, random, 12), true)
      expect(done.received).toBe(answer.length)
      const edits = [{ insert: { ...insert, content: answer, format: 'markdown' } }]
      dataOf(await server.post('/v2/crdt/edit', { ...other, edits }))
      expect(await read(ids)).toBe(await read(other))
    }
  },
)

it('[STRM-16] shows each block as soon as the next one begins', async () => {
  const ids = await make('tiptap', 'Start.')
  const writer = await ContentStream.open(server, {
    ...ids,
    format: 'markdown',
    edit: { insert: { at: 'end' } },
  })
  writer.text('One **bold')
  writer.text('**.\n\n')
  await new Promise((resolve) => setTimeout(resolve, 150))
  expect(await read(ids)).toBe('Start.')
  writer.text('Two')
  await writer.received('One **bold**.\n\n'.length)
  expect(await read(ids)).toBe('Start.\n\nOne **bold**.')
  await writer.end()
  expect(await read(ids)).toBe('Start.\n\nOne **bold**.\n\nTwo')
})

it.each(schemas)(
  '[STRM-16] replaces a block of %s by Markdown, and keeps what users type into it',
  async (schema) => {
    const ids = await make(schema)
    const edit = { replace: { find: 'No risks.' } }
    const writer = await ContentStream.open(server, { ...ids, format: 'markdown', edit })
    writer.text('Some *risks*.\n\n- a\n- b\n\nDone')
    await writer.received(10)
    dataOf(
      await server.post('/v2/crdt/edit', {
        ...ids,
        edits: [{ replace: { find: 'First', with: 'The first' } }],
      }),
    )
    await writer.end()
    const expected = initial
      .replace('No risks.', 'Some *risks*.\n\n- a\n- b\n\nDone')
      .replace('First', 'The first')
    expect(await read(ids)).toBe(expected)
    const typed = await make(schema)
    const second = await ContentStream.open(server, { ...typed, format: 'markdown', edit })
    second.text('New.\n\nText')
    await second.received(6)
    dataOf(
      await server.post('/v2/crdt/edit', { ...typed, edits: [{ insert: { after: 'No', content: 'BIG' } }] }),
    )
    await second.end()
    expect(await read(typed)).toBe(initial.replace('No risks.', 'NoBIG\n\nNew.\n\nText'))
  },
)

it.each(schemas)(
  `[STRM-17] streams text into %s as paragraphs, with the result of one edit (seed ${seed})`,
  async (schema) => {
    const random = new Random(seed)
    const text = 'One line.\nA second line 😀 here.\n\nThe fourth line.\r\nLast\n'
    for (const insert of [{ at: 'end' }, { after: { heading: 'Risks' } }]) {
      const [ids, other] = [await make(schema), await make(schema)]
      await stream(ids, { edit: { insert } }, cut(text, random, 9), true)
      const edits = [{ insert: { ...insert, content: text, format: 'text' } }]
      dataOf(await server.post('/v2/crdt/edit', { ...other, edits }))
      expect(await read(ids, 'xml').then(withoutIds)).toBe(await read(other, 'xml').then(withoutIds))
    }
  },
)

const withoutIds = (xml: string): string => xml.replaceAll(/ id="[^"]*"/g, '')

it.each(schemas)('[STRM-17] streams text into a paragraph of %s, and replaces a quote', async (schema) => {
  const ids = await make(schema)
  await stream(ids, { edit: { insert: { after: 'First' } } }, [' and', '\nsecond'])
  await stream(ids, { edit: { replace: { find: 'risks' } } }, ['da', 'ng', 'ers'])
  expect(await read(ids)).toBe(initial.replace('First', 'First and second').replace('No risks', 'No dangers'))
})

it.each(schemas)('[STRM-15] withdraws blocks of %s', async (schema) => {
  const ids = await make(schema)
  const before = await read(ids, 'xml')
  const writer = await ContentStream.open(server, {
    ...ids,
    format: 'markdown',
    edit: { insert: { after: { heading: 'Risks' } } },
  })
  writer.text(answer)
  await writer.received(20)
  expect(await read(ids)).toContain('Details')
  await writer.withdraw()
  expect(await read(ids, 'xml')).toBe(before)
})

it('[STRM-20] continues Markdown at the last complete block', async () => {
  const ids = await make('tiptap', 'Start.')
  const opening = { ...ids, streamId: 'm', format: 'markdown', edit: { insert: { at: 'end' } } }
  const first = await ContentStream.open(server, opening)
  first.text('One.\n\nTw')
  await first.received(6)
  first.destroy()
  const second = await ContentStream.open(server, opening)
  expect(second.opened.received).toBe(6)
  second.text('Tw', 6).text('o.\n\n- a\n- b', 8)
  await second.end()
  expect(await read(ids)).toBe('Start.\n\nOne.\n\nTwo.\n\n- a\n- b')
})

it.each([
  ['text', 'Hello\n', 'World', 'Hello\n\nWorld'],
  ['markdown', 'One.\n\nA **bo', 'ld** word', 'One.\n\nA **bold** word'],
])(
  '[STRM-109] stores no incomplete %s of a body without an end, and continues it',
  async (format, first, second, result) => {
    const ids = await make('tiptap', 'Start.')
    const opening = { ...ids, streamId: `body-${format}`, format, edit: { insert: { at: 'end' } } }
    const one = await ContentStream.open(server, opening)
    one.text(first).endBody()
    await one.error()
    const two = await ContentStream.open(server, opening)
    const { received } = two.opened
    expect(received).toBe(format === 'text' ? 'Hello'.length : 'One.\n\n'.length)
    expect(await read(ids)).toBe(format === 'text' ? 'Start.\n\nHello' : 'Start.\n\nOne.')
    await two.text(`${first}${second}`.slice(received), received).end()
    expect(await read(ids)).toBe(`Start.\n\n${result}`)
  },
)

it('[STRM-72] keeps a definition as text, and uses it in later blocks, also after the stream has continued', async () => {
  const ids = await make('tiptap', 'Start.')
  const opening = { ...ids, streamId: 'links', format: 'markdown', edit: { insert: { at: 'end' } } }
  const first = await ContentStream.open(server, opening)
  const definition = '[x]: http://a.b "t"\n\n'
  first.text(`${definition}Se`)
  await first.received(definition.length)
  first.destroy()
  const second = await ContentStream.open(server, opening)
  expect(second.opened.received).toBe(definition.length)
  const uses = 'See [x] and [the page][X].\n\nFoot[^1].\n\n'
  second.text('Se', definition.length).text(uses.slice(2)).text('>')
  await second.received(definition.length + uses.length)
  second.text(' [^1]: note')
  await second.end()
  expect((await read(ids, 'html')).replaceAll('\n', '')).toBe(
    [
      '<p>Start.</p>',
      '<p>[x]: http://a.b &quot;t&quot;</p>',
      '<p>See <a href="http://a.b" title="t">x</a> and <a href="http://a.b" title="t">the page</a>.</p>',
      '<p>Foot[^1].</p>',
      '<blockquote><p>[^1]: note</p></blockquote>',
    ].join(''),
  )
})

it('[STRM-104] ends a stream of text with too many line breaks with an error', async () => {
  const opening = { edit: { insert: { at: 'end' } } }
  const ids = await make('tiptap', 'Start.')
  const breaks = '\n'.repeat(10_000)
  const writer = await ContentStream.open(server, { ...ids, ...opening })
  writer.text('One')
  for (let sent = 0; sent < 7; sent++) writer.text(breaks)
  expect(await writer.error()).toMatchObject({
    status: 'INVALID_ARGUMENT',
    message: 'more than 32768 line breaks of the stream wait for the text after them; send fewer line breaks',
    details: { code: 'crdt/stream-limit' },
  })
  expect(await read(ids)).toBe('Start.\n\nOne')
  const other = await make('tiptap', 'Start.')
  await stream(other, opening, ['One', '\r\n'.repeat(16_000)])
  expect(await read(other)).toBe('Start.\n\nOne')
})

it('[STRM-108] writes half a surrogate pair that line breaks follow, and limits these line breaks', async () => {
  const opening = { edit: { insert: { at: 'end' } } }
  const ids = await make('tiptap', 'Start.')
  const writer = await ContentStream.open(server, { ...ids, ...opening })
  writer.text('\ud83d')
  for (let sent = 0; sent < 7; sent++) writer.text('\n'.repeat(10_000))
  expect(await writer.error()).toMatchObject({ details: { code: 'crdt/stream-limit' } })
  expect(await read(ids)).toBe('Start.\n\n\ufffd')
  const other = await make('tiptap', 'Start.')
  const whole = await ContentStream.open(server, { ...other, ...opening })
  whole.text('a\ud83d')
  await whole.received(1)
  await whole.text('\ude00\nb').end()
  expect(await read(other)).toBe('Start.\n\na😀\n\nb')
})

it('[STRM-18] rejects Markdown for a part of a block, and blocks that the schema does not allow', async () => {
  const ids = await make('tiptap')
  const part = ContentStream.send(server, {
    ...ids,
    format: 'markdown',
    edit: { replace: { find: 'First' } },
  })
  expect(await part.error()).toMatchObject({ details: { code: 'crdt/edit-not-supported' } })
  const nodes = { doc: { content: 'paragraph+' }, paragraph: { content: 'text*' }, text: {} }
  dataOf(await server.post('/v2/crdt/schemas/set', { name: 'small', schema: { nodes } }))
  const small = await make('small', 'Text')
  const writer = await ContentStream.open(server, {
    ...small,
    format: 'markdown',
    edit: { insert: { at: 'end' } },
  })
  writer.text('More\n\n# Heading\n\n').line({ end: true })
  expect(await writer.error()).toMatchObject({ details: { code: 'crdt/schema-violation' } })
  expect(await read(small)).toBe('Text\n\nMore')
})

describe.each(['tiptap', 'blocknote'])('rows of a table in %s', (schema) => {
  const table = '| A | B |\n| --- | --- |\n| one | 1 |\n| two | 2 |'
  const row = { row: 'one' }

  it('[STRM-105] accepts only rows of Markdown at the place of a row', async () => {
    for (const edit of [
      { insert: { after: row } },
      { insert: { before: row } },
      { replace: { find: row } },
    ]) {
      const ids = await make(schema, table)
      const before = await read(ids)
      const text = ContentStream.send(server, { ...ids, edit })
      expect(await text.error()).toMatchObject({ details: { code: 'crdt/edit-not-supported' } })
      const prose = await ContentStream.open(server, { ...ids, format: 'markdown', edit })
      prose.text('Not a row.\n\nText')
      expect(await prose.error()).toMatchObject({ details: { code: 'crdt/edit-not-supported' } })
      expect(await read(ids)).toBe(before)
    }
    const ids = await make(schema, table)
    for (const edit of [{ insert: { into: row } }, { replace: { find: { row: 'A' } } }]) {
      const writer = ContentStream.send(server, { ...ids, format: 'markdown', edit })
      expect(await writer.error()).toMatchObject({ details: { code: 'crdt/edit-not-supported' } })
    }
  })

  it('[STRM-105] streams rows to the place of a row', async () => {
    const rows = '| A | B |\n| --- | --- |\n| new | 3 |\n| more | 4 |'
    for (const edit of [
      { insert: { after: row } },
      { insert: { before: row } },
      { replace: { find: row } },
    ]) {
      const [ids, other] = [await make(schema, table), await make(schema, table)]
      await stream(ids, { format: 'markdown', edit }, cut(rows, new Random(seed), 9))
      const { insert, replace } = edit
      const whole = insert
        ? { insert: { ...insert, content: rows, format: 'markdown' } }
        : { replace: { ...replace, with: rows, format: 'markdown' } }
      dataOf(await server.post('/v2/crdt/edit', { ...other, edits: [whole] }))
      expect(await read(ids)).toBe(await read(other))
    }
  })

  it('[STRM-105] writes several tables as rows in their order, and no other block between them', async () => {
    for (const insert of [{ before: { row: 'two' } }, { before: 'two' }, { after: 'one' }]) {
      const ids = await make(schema, table)
      const writer = await ContentStream.open(server, { ...ids, format: 'markdown', edit: { insert } })
      const [first = '', second = ''] = ['three', 'four'].map(
        (name) => `| | |\n| --- | --- |\n| ${name} | 0 |\n\n`,
      )
      writer.text(`${first}|`)
      await writer.received(first.length)
      writer.text(`${second.slice(1)}Te`)
      await writer.received(first.length + second.length)
      writer.text('xt\n\nMore')
      expect(await writer.error()).toMatchObject({ details: { code: 'crdt/edit-not-supported' } })
      const rows = '| one | 1 |\n| three | 0 |\n| four | 0 |\n| two | 2 |'
      expect(normalized(await read(ids))).toBe(`| A | B |\n| --- | --- |\n${rows}`)
    }
  })
})

it('[STRM-110] rejects a table after text in a cell, as one edit does', async () => {
  const table = '| A | B |\n| --- | --- |\n| one | two |\n| x | y |'
  const tableOf = (row: string) => `| | |\n| --- | --- |\n| ${row} |\n\n`
  const content = `A note.\n\n${tableOf('1 | 2')}${tableOf('3 | 4')}`
  const insert = { after: 'one' }
  const edits = [{ insert: { ...insert, content, format: 'markdown' } }]
  const { body } = await server.post('/v2/crdt/edit', { ...(await make('tiptap', table)), edits })
  expect(body.error?.details).toMatchObject({ code: 'crdt/edit-not-supported' })
  for (const length of [7, content.length]) {
    const ids = await make('tiptap', table)
    const writer = await ContentStream.open(server, { ...ids, format: 'markdown', edit: { insert } })
    for (let at = 0; at < content.length; at += length) writer.text(content.slice(at, at + length))
    writer.line({ end: true })
    const { error } = await writer.until((line) => line.done !== undefined || line.error !== undefined)
    expect(error).toMatchObject({ details: { code: 'crdt/edit-not-supported' } })
    expect(await read(ids, 'xml')).not.toMatch(/>[1-4]</)
  }
  const slow = await make('tiptap', table)
  const writer = await ContentStream.open(server, { ...slow, format: 'markdown', edit: { insert } })
  writer.text('A note.\n\n|')
  await writer.received(9)
  writer.text(tableOf('1 | 2').slice(1)).line({ end: true })
  const { error } = await writer.until((line) => line.done !== undefined || line.error !== undefined)
  expect(error).toMatchObject({ details: { code: 'crdt/edit-not-supported' } })
  const xml = await read(slow, 'xml')
  expect(xml).toContain('A note.')
  expect(xml).not.toMatch(/>[1-4]</)
})

/** Returns a table without the spaces with which its columns are aligned. */
const normalized = (markdown: string): string => markdown.replace(/ +/g, ' ').replace(/-+/g, '---')

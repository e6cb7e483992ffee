import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually, syncedEditor } from '../../support/clients/clients.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
let token: string
let documents = 0

interface Address {
  readonly organizationId: string
  readonly documentId: string
  readonly editorId: string
}

interface Edited {
  readonly version: string
  readonly changed: boolean
  readonly bytes: number
  readonly contentKey: string
  readonly edits: readonly {
    readonly place: { readonly quote?: string; readonly before?: string; readonly after?: string }
    readonly changed: boolean
    readonly insertions: number
    readonly deletions: number
  }[]
}

beforeAll(async () => {
  server = await startTestServer({ engine: 'level' })
  token = await server.token('ada')
})

afterAll(() => server.stop())

async function add(
  data: unknown,
  type = 'text',
  contentKey?: string,
): Promise<Address & { version: string }> {
  const address = { organizationId: 'acme', documentId: `edit-${++documents}`, editorId: 'main' }
  const answer = await server.post('/v2/crdt/add', { ...address, type, data, contentKey })
  return { ...address, version: (dataOf(answer) as Edited).version }
}

const edit = ({ organizationId, documentId, editorId }: Address, edits: unknown, more: object = {}) =>
  server.post('/v2/crdt/edit', { organizationId, documentId, editorId, edits, ...more })

const edited = async (address: Address, edits: unknown, more: object = {}): Promise<Edited> => {
  const answer = await edit(address, edits, more)
  expect({ status: answer.status, body: answer.body }).toMatchObject({ status: 200 })
  return dataOf(answer) as Edited
}

async function read({ organizationId, documentId, editorId }: Address): Promise<{
  data: unknown
  version: string
  lastUpdatedBy: string
}> {
  const answer = await server.post('/v2/crdt/get', { organizationId, documentId, editorId })
  const [found] = dataOf(answer) as { data: unknown; version: string; lastUpdatedBy: string }[]
  if (found === undefined) throw new Error('the document does not exist')
  return found
}

const open = ({ documentId }: Address) => syncedEditor(server.wsUrl, `acme/${documentId}/main`, token)

describe('crdt/edit', () => {
  it('[EDIT-3] sends all edits to connected clients as one update, and returns the matched places', async () => {
    const address = await add('The quick brown fox.\nIt sleeps.')
    const editor = await open(address)
    let updates = 0
    editor.doc.on('update', () => {
      updates += 1
    })
    const result = await edited(address, [
      { replace: { find: 'brown', with: 'red' } },
      { insert: { after: 'fox.', content: ' It is small.' } },
    ])
    const text = 'The quick red fox. It is small.\nIt sleeps.'
    await eventually(() => editor.text.toString() === text)
    expect(updates).toBe(1)
    expect(await read(address)).toMatchObject({ data: text, version: result.version })
    expect(result).toMatchObject({
      changed: true,
      contentKey: 'content',
      edits: [
        { place: { quote: 'brown', before: 'The quick ', after: ' fox.' }, changed: true },
        { place: { quote: 'fox.' }, changed: true, insertions: 13, deletions: 0 },
      ],
    })
    editor.close()
  })

  it('[EDIT-2] applies no edit of a request when one of them fails', async () => {
    const address = await add('The quick brown fox.')
    const before = await read(address)
    const { status, body } = await edit(address, [
      { replace: { find: 'brown', with: 'red' } },
      { replace: { find: 'brown', with: 'green' } },
    ])
    expect(status).toBe(400)
    expect(body.error).toMatchObject({ details: { code: 'crdt/target-not-found', edit: 1 } })
    expect(await read(address)).toEqual(before)
  })

  it('[EDIT-97] answers an edit of another language with the right form', async () => {
    const address = await add('The quick brown fox.')
    const messageOf = async (given: object): Promise<string> =>
      (await edit(address, [given])).body.error?.message ?? ''
    expect(await messageOf({ action: 'insert_after', quote: 'fox', content: 'x' })).toBe(
      '/data/edits/0/action is unknown; remove it; edits[0] must have a form such as ' +
        '{ "insert": { "after": "a quote", "content": "new text" } }',
    )
    expect(await messageOf({ delete: { target: 'fox' } })).toContain('{ "remove": { "target": "a quote" } }')
    expect(await messageOf({ replace: { old: 'fox', new: 'x' } })).toBe(
      '/data/edits/0/replace/old is unknown; remove it; edits[0] must have a form such as ' +
        '{ "replace": { "find": "old text", "with": "new text" } }',
    )
    expect(await messageOf({ insert: { at: 'end', text: 'x' } })).toContain('"content": "new text" } }')
    expect(await messageOf({ remove: { target: { text: 'fox' } } })).toContain('{ "target": "a quote" }')
    expect(await messageOf({})).toContain('{ "replace": { "find": "old text", "with": "new text" } }')
  })

  it('[EDIT-98] accepts a JSON patch without operations, and changes nothing', async () => {
    const address = { organizationId: 'acme', documentId: 'empty-patch', editorId: 'main' }
    await server.post('/v2/crdt/add', { ...address, type: 'map', data: { a: 1 } })
    expect(await edited(address, [{ patch: [] }])).toMatchObject({ changed: false, bytes: 0 })
  })

  it('[EDIT-4] names candidates when a target is missing or ambiguous', async () => {
    const address = await add('The quick brown fox jumps.\nThe lazy brown dog sleeps.')
    const missing = await edit(address, [{ replace: { find: 'quick red fox', with: 'x' } }])
    expect(missing.status).toBe(400)
    expect(missing.body.error).toMatchObject({
      status: 'FAILED_PRECONDITION',
      details: { code: 'crdt/target-not-found', edit: 0 },
    })
    const ambiguous = await edit(address, [{ remove: { target: 'brown ' } }])
    expect(ambiguous.body.error).toMatchObject({
      status: 'FAILED_PRECONDITION',
      details: {
        code: 'crdt/target-ambiguous',
        candidates: [{ before: 'The quick ' }, { before: 'The lazy ' }],
      },
    })
    await edited(address, [{ remove: { target: { quote: 'brown ', before: 'lazy ' } } }])
    expect((await read(address)).data).toBe('The quick brown fox jumps.\nThe lazy dog sleeps.')
  })

  it('[EDIT-5] changes neither the version nor the user when the document is already as requested', async () => {
    const address = await add('The quick fox.')
    const before = await read(address)
    const result = await edited(address, [{ replace: { find: 'quick', with: 'quick' } }], { userId: 'bob' })
    expect(result).toMatchObject({ changed: false, bytes: 0, version: before.version })
    expect(await read(address)).toEqual(before)
  })

  it('[EDIT-6] finds targets in the base version, and keeps text that users have typed since then', async () => {
    const address = await add('The quick brown fox.')
    const editor = await open(address)
    editor.text.insert(0, 'brown: ')
    editor.text.insert(editor.text.length, ' It ran.')
    await eventually(async () => (await read(address)).data === 'brown: The quick brown fox. It ran.')
    const edits = [{ replace: { find: 'brown', with: 'red' } }]
    expect((await edit(address, edits)).status).toBe(400)
    await edited(address, edits, { baseVersion: address.version })
    expect((await read(address)).data).toBe('brown: The quick red fox. It ran.')
    await eventually(() => editor.text.toString() === 'brown: The quick red fox. It ran.')
    editor.close()
  })

  it('[EDIT-5] reports no change when another call has already removed the target since the base version', async () => {
    const address = await add('one two')
    const edits = [{ remove: { target: 'one ' } }]
    await edited(address, edits)
    const before = await read(address)
    const result = await edited(address, edits, { baseVersion: address.version })
    expect(result).toMatchObject({ changed: false, bytes: 0, version: before.version })
    expect(await read(address)).toEqual(before)
  })

  it('[EDIT-6] rejects an edit whose block was deleted after the base version', async () => {
    const address = await add('<paragraph>One.</paragraph><paragraph>Two.</paragraph>', 'xml', 'default')
    await edited(address, [{ remove: { target: { block: 1 } } }])
    const before = await read(address)
    const edits = [{ insert: { after: 'Two', content: ' and a half' } }]
    const { status, body } = await edit(address, edits, { baseVersion: address.version })
    expect({ status, error: body.error }).toMatchObject({
      status: 400,
      error: { status: 'FAILED_PRECONDITION', details: { code: 'crdt/target-not-found' } },
    })
    expect(await read(address)).toEqual(before)
    await edited(address, [{ insert: { after: 'One', content: ' and a half' } }], {
      baseVersion: address.version,
    })
    expect((await read(address)).data).toBe('<paragraph>One and a half.</paragraph>')
  })

  it('[EDIT-70] rejects an edit whose quote was deleted after the base version', () =>
    expectDeletedQuote(false))

  it('[EDIT-72] rejects a dry run of an edit whose quote was deleted after the base version', () =>
    expectDeletedQuote(true))

  async function expectDeletedQuote(dryRun: boolean): Promise<void> {
    const address = await add('The quick brown fox.')
    await edited(address, [{ remove: { target: 'quick ' } }])
    const before = await read(address)
    const edits = [
      { insert: { at: 'end', content: ' It ran.' } },
      { insert: { after: 'quick', content: 'er' } },
    ]
    const { status, body } = await edit(address, edits, { baseVersion: address.version, dryRun })
    expect({ status, error: body.error }).toMatchObject({
      status: 400,
      error: { status: 'FAILED_PRECONDITION', details: { code: 'crdt/target-not-found', edit: 1 } },
    })
    expect(await read(address)).toEqual(before)
  }

  it('[EDIT-71] contains the text once when two callers send the same replacement', async () => {
    const large = Array.from({ length: 5_000 }, (_, index) => `line ${index} of the large document`).join(
      '\n',
    )
    for (const text of ['The quick brown fox.', `${large}\nThe quick brown fox.`]) {
      const address = await add(text)
      const edits = [{ replace: { find: 'quick brown', with: 'Quick red' } }]
      await edited(address, edits)
      const before = await read(address)
      for (const dryRun of [true, false]) {
        const again = await edited(address, edits, { baseVersion: address.version, dryRun })
        expect(again).toMatchObject({
          changed: false,
          bytes: 0,
          version: before.version,
          edits: [{ place: { quote: 'quick brown' }, changed: false, insertions: 0, deletions: 0 }],
        })
      }
      expect(await read(address)).toEqual(before)
      expect(before.data).toBe(text.replace('quick brown', 'Quick red'))
    }
  })

  it('[EDIT-7] changes nothing in a dry run, or when the document is not at `ifVersion`', async () => {
    const address = await add('one two')
    const edits = [{ remove: { target: 'one ' } }]
    const rehearsed = await edited(address, edits, { dryRun: true })
    expect(rehearsed).toMatchObject({ changed: true, version: address.version, edits: [{ deletions: 4 }] })
    expect((await read(address)).data).toBe('one two')
    await edited(address, edits, { ifVersion: address.version })
    const again = await edit(address, edits, { ifVersion: address.version })
    expect(again).toMatchObject({
      status: 409,
      body: { error: { details: { code: 'crdt/version-conflict' } } },
    })
    expect((await read(address)).data).toBe('two')
  })

  it('[EDIT-7] returns the stored response to a repeated call with the same idempotency key', async () => {
    const address = await add('one')
    const { organizationId, documentId, editorId } = address
    const body = { organizationId, documentId, editorId, edits: [{ insert: { at: 'end', content: '!' } }] }
    const headers = { 'idempotency-key': `edit-${documentId}` }
    const first = await server.post('/v2/crdt/edit', body, headers)
    const second = await server.post('/v2/crdt/edit', body, headers)
    expect(first.status).toBe(200)
    expect(second.body).toEqual(first.body)
    expect((await read(address)).data).toBe('one!')
  })

  it('[EDIT-8] rejects an edit that the kind of the root does not support, and an edit of a missing document', async () => {
    const text = await add('one')
    const map = await add({ a: 1 }, 'map')
    const patch = [{ patch: [{ op: 'test', path: '/a', value: 1 }] }]
    expect(await edit(text, patch)).toMatchObject({
      status: 400,
      body: { error: { details: { code: 'crdt/edit-not-supported', edit: 0 } } },
    })
    expect(await edit(map, [{ mark: { find: 'one', name: 'bold', value: true } }])).toMatchObject({
      status: 400,
      body: { error: { details: { code: 'crdt/edit-not-supported' } } },
    })
    const missing = { organizationId: 'acme', documentId: 'edit-missing', editorId: 'main' }
    expect(await edit(missing, patch)).toMatchObject({ status: 404 })
  })

  it('[EDIT-8] names the member when an edit is not complete or contradicts itself', async () => {
    const address = await add('one')
    const rejected = [
      [[], 'edits'],
      [[{}], 'edits[0] must have exactly one of replace, insert'],
      [[{ remove: { target: 'one' }, text: { index: 0 } }], 'edits[0] must have exactly one of'],
      [
        [{ remove: { target: { quote: 'one', block: 1 } } }],
        'edits[0].remove.target must have exactly one of',
      ],
      [[{ remove: { target: { block: 1, occurrence: 2 } } }], 'occurrence needs quote, heading or row'],
      [[{ insert: { content: 'x' } }], 'edits[0].insert must have exactly one of before, after, into, at'],
      [[{ patch: [{ op: 'add', path: 'a', value: 1 }] }], 'edits[0].patch'],
      [[{ replace: { find: '  ', with: 'x' } }], 'must contain more than white space'],
    ] as const
    for (const [edits, problem] of rejected) {
      const { status, body } = await edit(address, edits)
      expect({ edits, status, message: (body.error as { message: string }).message }).toEqual({
        edits,
        status: 400,
        message: expect.stringContaining(problem),
      })
    }
    expect((await read(address)).version).toBe(address.version)
  })

  it('[EDIT-40] patches a map and an array', async () => {
    const tasks = await add({ tasks: [{ title: 'a', done: false }] }, 'map')
    await edited(tasks, [{ patch: [{ op: 'replace', path: '/tasks/0/done', value: true }] }])
    expect((await read(tasks)).data).toEqual({ tasks: [{ title: 'a', done: true }] })
    const list = await add(['a', 'c'], 'array')
    await edited(list, [
      { insert: { before: { path: '/1' }, content: 'b' } },
      { insert: { at: 'end', content: { d: 1 } } },
      { remove: { target: { path: '/0' } } },
    ])
    expect((await read(list)).data).toEqual(['b', 'c', { d: 1 }])
    const failed = await edit(list, [{ patch: [{ op: 'test', path: '/0', value: 'a' }] }])
    expect(failed.body.error).toMatchObject({ details: { code: 'crdt/patch-failed', edit: 0 } })
  })

  it('[EDIT-9] edits a large document on a thread with the same result', async () => {
    const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index} of the large document`)
    const address = await add(lines.join('\n'))
    const result = await edited(address, [
      { replace: { find: 'line 12345 of', with: 'line 12345 in' } },
      { remove: { target: { quote: 'line 7 of the large document' } } },
    ])
    expect(result.bytes).toBeLessThan(200)
    lines[12_345] = 'line 12345 in the large document'
    lines[7] = ''
    expect((await read(address)).data).toBe(lines.join('\n'))
  })

  it('[EDIT-31] inserts a paragraph after a heading of rich text, and keeps the other elements', async () => {
    const xml =
      '<heading level="1">Report</heading><heading level="2">Risks</heading><paragraph>None.</paragraph>' +
      '<heading level="2">Dates</heading><paragraph>May.</paragraph>'
    const address = await add(xml, 'xml', 'default')
    await edited(address, [{ insert: { into: { heading: 'Risks' }, content: 'The budget is small.' } }])
    expect((await read(address)).data).toBe(
      xml.replace('None.</paragraph>', 'None.</paragraph><paragraph>The budget is small.</paragraph>'),
    )
  })

  it('[EDIT-36] inserts Markdown as blocks with the names of the document, and inline when it is one paragraph next to a quote', async () => {
    const xml =
      '<heading level="2">Risks</heading><paragraph>None.</paragraph><heading level="2">Dates</heading>'
    const address = await add(xml, 'xml', 'default')
    await edited(address, [
      {
        insert: {
          into: { heading: 'Risks' },
          format: 'markdown',
          content: 'The **budget** is small:\n\n- people\n- rooms',
        },
      },
      { insert: { before: 'None.', format: 'markdown', content: '*Almost:* ' } },
    ])
    expect((await read(address)).data).toBe(
      xml
        .replace('None.', '<italic>Almost:</italic> None.')
        .replace(
          '</paragraph><heading level="2">Dates',
          '</paragraph><paragraph>The <bold>budget</bold> is small:</paragraph><bulletList><listItem><paragraph>people' +
            '</paragraph></listItem><listItem><paragraph>rooms</paragraph></listItem></bulletList><heading level="2">Dates',
        ),
    )
  })

  it('[EDIT-37] gives the text that replaces a quote the formatting of its Markdown, and keeps other marks', async () => {
    const address = await add(
      '<paragraph>Some <italic>old</italic> <comment id="1"><bold>text</bold></comment> stays.</paragraph>',
      'xml',
      'default',
    )
    const content = 'Some **new** text'
    const [result] = (
      await edited(address, [{ replace: { find: 'Some old text', with: content, format: 'markdown' } }])
    ).edits
    expect(result?.changed).toBe(true)
    expect((await read(address)).data).toBe(
      '<paragraph>Some <bold>new</bold> <comment id="1">text</comment> stays.</paragraph>',
    )
    const same = [{ replace: { find: 'Some new text', with: content, format: 'markdown' } }]
    expect(await edited(address, same)).toMatchObject({ changed: false, bytes: 0 })
  })

  const items = (...texts: readonly string[]): string =>
    texts.map((text) => `<listItem><paragraph>${text}</paragraph></listItem>`).join('')
  const list = `<paragraph>Plan</paragraph><bulletList>${items('one', 'two')}</bulletList>`
  const joined = (...texts: readonly string[]): string => list.replace(items('one', 'two'), items(...texts))

  it.each([
    ['after an item', { after: 'one' }, '- x\n- y', joined('one', 'x', 'y', 'two')],
    ['before an item', { before: 'one' }, '- x', joined('x', 'one', 'two')],
    [
      'after the list',
      { at: 'end' },
      '- x\n\nEnd.',
      `${joined('one', 'two', 'x')}<paragraph>End.</paragraph>`,
    ],
    ['before the list', { after: { block: 0 } }, '- x', joined('x', 'one', 'two')],
    [
      'into an item, if the list is of another kind',
      { after: 'two' },
      '1. x',
      joined('one', 'two').replace(
        'two</paragraph>',
        `two</paragraph><orderedList start="1">${items('x')}</orderedList>`,
      ),
    ],
  ])('[EDIT-90] inserts a list of Markdown %s', async (_, place, content, expected) => {
    const address = await add(list, 'xml', 'default')
    await edited(address, [{ insert: { ...place, format: 'markdown', content } }])
    expect((await read(address)).data).toBe(expected)
  })

  it.each(['default', 'document-store', 'quill'])(
    '[EDIT-92] keeps a heading and a list item of the root %s if Markdown replaces their whole text by a line',
    async (contentKey) => {
      const address = { organizationId: 'acme', documentId: `line-${contentKey}`, editorId: 'main' }
      const data = '# Plan\n\n- one\n- two\n'
      await server.post('/v2/crdt/add', { ...address, type: 'markdown', contentKey, data })
      const replace = (find: string, by: string) => ({ replace: { find, with: by, format: 'markdown' } })
      const edits = [replace('Plan', 'New **plan**'), replace('two', 'two **and** three')]
      const edited = await server.post('/v2/crdt/edit', { ...address, edits })
      expect(edited.status).toBe(200)
      const [found] = dataOf(await server.post('/v2/crdt/get', { ...address, format: 'markdown' })) as {
        data: string
      }[]
      expect(found?.data).toBe('# New **plan**\n\n- one\n- two **and** three\n')
    },
  )

  it('[EDIT-91] checks a task that a quote of its text names', async () => {
    const tasks = (...checked: readonly boolean[]): string =>
      checked.map((is, n) => `<taskItem checked="${is}"><paragraph>task ${n}</paragraph></taskItem>`).join('')
    const xml = (...checked: readonly boolean[]): string => `<taskList>${tasks(...checked)}</taskList>`
    const address = await add(xml(false, false), 'xml', 'default')
    await edited(address, [
      { attributes: { target: 'task 1', set: { checked: true } } },
      { attributes: { target: { block: 0 }, set: { textAlign: 'left' } } },
    ])
    expect((await read(address)).data).toBe(
      xml(false, true).replace('<paragraph>task 0', '<paragraph textAlign="left">task 0'),
    )
  })

  it('[EDIT-90] inserts a list of ProseMirror JSON as it is', async () => {
    const address = await add(list, 'xml', 'default')
    const paragraph = { type: 'paragraph', content: [{ type: 'text', text: 'x' }] }
    const content = [{ type: 'bulletList', content: [{ type: 'listItem', content: [paragraph] }] }]
    await edited(address, [{ insert: { at: 'end', format: 'prosemirror', content } }])
    expect((await read(address)).data).toBe(`${list}<bulletList>${items('x')}</bulletList>`)
  })

  it.each([
    ['Markdown', 'markdown', '| a | b |\n| - | - |\n| 3 | 4 |'],
    ['HTML', 'html', '<table><tr><td>3</td><td>4</td></tr></table>'],
    [
      'XML',
      'xml',
      '<tableRow><tableCell><paragraph>3</paragraph></tableCell><tableCell><paragraph>4</paragraph></tableCell></tableRow>',
    ],
  ])('[EDIT-93] [EDIT-94] adds a row of %s to a table with a schema', async (_, format, content) => {
    for (const [target, schema] of [['2', 'tiptap'] as const, [{ block: 3 }, 'blocknote'] as const]) {
      if (schema === 'blocknote' && format === 'xml') continue
      const address = { organizationId: 'acme', documentId: `rows-${++documents}`, editorId: 'main' }
      const data = '| a | b |\n| - | - |\n| 1 | 2 |'
      const created = await server.post('/v2/crdt/add', { ...address, type: 'markdown', schema, data })
      expect(created.status).toBe(200)
      await edited(address, [{ insert: { after: target, format, content } }])
      const [found] = dataOf(await server.post('/v2/crdt/get', { ...address, format: 'markdown' })) as {
        data: string
      }[]
      expect(found?.data).toBe('| a | b |\n| - | - |\n| 1 | 2 |\n| 3 | 4 |\n')
    }
  })

  it('[EDIT-95] rejects rows with another number of columns, and names the number of the table', async () => {
    const cells = ['1', '2'].map((text) => `<tableCell><paragraph>${text}</paragraph></tableCell>`).join('')
    const data = `<table><tableRow>${cells}</tableRow></table>`
    const address = await add(data, 'xml', 'default')
    const content = '| a | b | c |\n| - | - | - |\n| 3 | 4 | 5 |'
    const { status, body } = await edit(address, [{ insert: { after: '2', format: 'markdown', content } }])
    expect(status).toBe(400)
    expect(body.error).toMatchObject({ details: { code: 'crdt/edit-not-supported', edit: 0 } })
    expect(JSON.stringify(body.error)).toContain('send rows with 2 columns')
    expect((await read(address)).data).toBe(data)
  })

  it('[EDIT-36] replaces a block by HTML, without its scripts', async () => {
    const address = await add('<paragraph>One.</paragraph><paragraph>Two.</paragraph>', 'xml', 'default')
    const html = '<h2>Two</h2><script>alert(1)</script><p>A <a href="javascript:alert(1)">link</a>.</p>'
    await edited(address, [{ replace: { find: { block: 1 }, with: html, format: 'html' } }])
    expect((await read(address)).data).toBe(
      '<paragraph>One.</paragraph><heading level="2">Two</heading><paragraph>A link.</paragraph>',
    )
  })

  it('[EDIT-36] inserts ProseMirror nodes with the types of their attributes', async () => {
    const address = await add('<paragraph>Tasks</paragraph>', 'xml', 'default')
    const item = { type: 'taskItem', attrs: { checked: true }, content: [{ type: 'paragraph' }] }
    const list = { type: 'taskList', content: [item] }
    await edited(address, [{ insert: { at: 'end', format: 'prosemirror', content: [list] } }])
    const { organizationId, documentId, editorId } = address
    const found = await server.post('/v2/crdt/get', {
      organizationId,
      documentId,
      editorId,
      format: 'prosemirror',
    })
    expect(dataOf(found)).toMatchObject([{ data: { content: [{}, list] } }])
  })
})

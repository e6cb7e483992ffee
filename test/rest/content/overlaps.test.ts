import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually, syncedEditor } from '../../support/clients/clients.ts'
import { agentToken, connectMcp, errorCodeOf, textOf } from '../../support/clients/mcp-client.ts'
import { withoutKey } from '../../support/servers/agents.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
let token: string
let documents = 0
beforeAll(async () => {
  server = await startTestServer({})
  token = await server.token('ada')
})
afterAll(() => server.stop())

interface Address {
  readonly organizationId: string
  readonly documentId: string
  readonly editorId: string
}
interface Written {
  readonly version: string
  readonly changed: boolean
  readonly bytes: number
  readonly overlaps?: readonly object[]
}
interface Read {
  readonly data: unknown
  readonly version: string
}

const read = async (address: Address): Promise<Read> =>
  (dataOf(await server.post('/v2/crdt/get', address)) as Read[])[0] as Read

async function add(type: string, data: unknown): Promise<Address & { readonly version: string }> {
  const address = { organizationId: 'acme', documentId: `overlaps-${++documents}`, editorId: 'main' }
  const { version } = dataOf(await server.post('/v2/crdt/add', { ...address, type, data })) as Written
  return { ...address, version }
}

const ids = ({ organizationId, documentId, editorId }: Address): Address => ({
  organizationId,
  documentId,
  editorId,
})

/** Replaces content, or edits it, with the version of the address as base version. */
const update = (address: Address & { version: string }, type: string, data: unknown, more: object = {}) =>
  server.post('/v2/crdt/update', { ...ids(address), type, data, baseVersion: address.version, ...more })
const edit = (
  address: Address & { version: string },
  edits: object[],
  more: object = {},
  headers?: Record<string, string>,
) => server.post('/v2/crdt/edit', { ...ids(address), edits, baseVersion: address.version, ...more }, headers)

const budget = 'Budget: 100 EUR. We ship on Monday.'
const typed = 'Budget: 250 EUR. We ship on Tuesday.'
const sent = 'Budget: 170 EUR. We ship on Friday.'
const overlapsKept = (kept: string, path = '') => [
  { path, base: '100', theirs: '250', mine: '170', kept },
  { path, base: 'Monday', theirs: 'Tuesday', mine: 'Friday', kept },
]
const edits = [
  { replace: { find: '100 EUR', with: '170 EUR' } },
  { replace: { find: 'Monday', with: 'Friday' } },
]

/** Types other values into the text of the budget, with a stock client. */
async function type(address: Address): Promise<void> {
  const editor = await syncedEditor(server.wsUrl, `acme/${address.documentId}/main`, token)
  const change = (from: string, to: string): void => {
    const at = editor.text.toString().indexOf(from)
    editor.text.delete(at, from.length)
    editor.text.insert(at, to)
  }
  change('100', '250')
  change('Mon', 'Tues')
  await eventually(async () => (await read(address)).data === typed)
  editor.close()
}

describe('a replacement of a text', () => {
  it('[MERGE-2] has its own side at overlaps, and names both sides', async () => {
    const address = await add('text', budget)
    await type(address)
    const dry = dataOf(await update(address, 'text', sent, { dryRun: true })) as Written
    expect(dry.overlaps).toEqual(overlapsKept('mine'))
    expect((await read(address)).data).toBe(typed)
    const written = dataOf(await update(address, 'text', sent)) as Written
    expect(written).toMatchObject({ changed: true, overlaps: overlapsKept('mine') })
    expect((await read(address)).data).toBe(sent)
  })

  it('[MERGE-3] changes nothing with `fail`, and returns the overlaps in the error', async () => {
    const address = await add('text', budget)
    await type(address)
    for (const dryRun of [true, false]) {
      const { status, body } = await update(address, 'text', sent, { onOverlap: 'fail', dryRun })
      expect({ status, error: body.error }).toMatchObject({
        status: 409,
        error: { status: 'ABORTED', details: { code: 'crdt/overlap', overlaps: overlapsKept('theirs') } },
      })
    }
    expect((await read(address)).data).toBe(typed)
    const other = `${budget} Thanks.`
    expect((await update(address, 'text', other, { onOverlap: 'fail' })).status).toBe(200)
    expect((await read(address)).data).toBe(`${typed} Thanks.`)
  })

  it('[MERGE-2] [MERGE-4] keeps the chosen side, and is not a change if it loses completely', async () => {
    for (const [onOverlap, content, kept] of [
      ['keepTheirs', typed, 'theirs'],
      ['keepMine', sent, 'mine'],
    ] as const) {
      const address = await add('text', budget)
      await type(address)
      const before = await read(address)
      const written = dataOf(await update(address, 'text', sent, { onOverlap })) as Written
      expect(written).toMatchObject({ changed: kept === 'mine', overlaps: overlapsKept(kept) })
      if (kept === 'theirs') expect(written).toMatchObject({ bytes: 0, version: before.version })
      expect((await read(address)).data).toBe(content)
    }
  })

  it('[MERGE-2] keeps whole words in a large text, which a thread merges', async () => {
    const lines = Array.from(
      { length: 4_000 },
      (_, line) => `This is line ${line} of the large text.\n`,
    ).join('')
    const address = await add('text', lines + budget)
    await edit(address, [{ replace: { find: budget, with: typed } }], {})
    const written = dataOf(await update(address, 'text', `New. ${lines}${sent}`)) as Written
    expect(written).toMatchObject({ changed: true, overlaps: overlapsKept('mine') })
    expect((await read(address)).data).toBe(`New. ${lines}${sent}`)
  })
})

describe('other contents', () => {
  it('[MERGE-2] have whole words in XML and Markdown', async () => {
    const address = await add('xml', `<paragraph>${budget}</paragraph><paragraph>End.</paragraph>`)
    dataOf(await update(address, 'xml', `<paragraph>${typed}</paragraph><paragraph>End.</paragraph>`))
    const written = dataOf(
      await update(address, 'markdown', `${sent}\n\nEnd.\n\nNew.\n`, { onOverlap: 'keepTheirs' }),
    ) as Written
    expect(written).toMatchObject({ changed: true, overlaps: overlapsKept('theirs', '/0/0') })
    expect((await read(address)).data).toBe(
      `<paragraph>${typed}</paragraph><paragraph>End.</paragraph><paragraph>New.</paragraph>`,
    )
  })

  it('[MERGE-5] have the changes of both sides in nested plain values', async () => {
    for (let run = 0; run < 10; run++) {
      const address = await add('map', { b: { x: 1, y: 1 } })
      dataOf(await update(address, 'map', { b: { x: 1, y: 2 } }))
      const written = dataOf(await update(address, 'map', { b: { x: 2, y: 1 } })) as Written
      expect(written).toMatchObject({ changed: true })
      expect(written.overlaps).toBeUndefined()
      expect((await read(address)).data).toEqual({ b: { x: 2, y: 2 } })
    }
  })

  it('[MERGE-5] have the items of both sides in lists of records, and added and removed keys', async () => {
    const address = await add('map', {
      l: [{ id: 'a', n: 1, m: 1 }, { id: 'b', n: 1 }, { id: 'e' }],
      s: { p: 1, q: 1 },
    })
    dataOf(
      await update(address, 'map', {
        l: [{ id: 'a', n: 2, m: 1 }, { id: 'b', n: 1 }, { id: 'e' }, { id: 'c' }],
        s: { p: 1, q: 1, r: 1 },
      }),
    )
    dataOf(
      await update(address, 'map', { l: [{ id: 'a', n: 1, m: 2 }, { id: 'e' }, { id: 'd' }], s: { p: 1 } }),
    )
    expect((await read(address)).data).toEqual({
      l: [{ id: 'a', n: 2, m: 2 }, { id: 'e' }, { id: 'c' }, { id: 'd' }],
      s: { p: 1, r: 1 },
    })
  })

  it('[MERGE-5] merge a JSON Patch', async () => {
    const address = await add('map', { b: { x: 1, y: 1 }, l: [1] })
    dataOf(
      await edit(address, [
        {
          patch: [
            { op: 'replace', path: '/b/y', value: 2 },
            { op: 'add', path: '/l/-', value: 2 },
          ],
        },
      ]),
    )
    const patch = [
      { op: 'replace', path: '/b/x', value: 2 },
      { op: 'add', path: '/l/-', value: 3 },
    ]
    const written = dataOf(await edit(address, [{ patch }])) as Written
    expect(written).toMatchObject({ changed: true })
    expect((await read(address)).data).toEqual({ b: { x: 2, y: 2 }, l: [1, 2, 3] })
    const late = [{ patch: [{ op: 'replace', path: '/b/x', value: 9 }] }]
    const lost = dataOf(await edit(address, late)) as Written
    expect(lost).toMatchObject({
      changed: false,
      overlaps: [{ path: '/b/x', base: 1, theirs: 2, mine: 9, kept: 'theirs' }],
    })
    expect((await read(address)).data).toEqual({ b: { x: 2, y: 2 }, l: [1, 2, 3] })
  })
})

describe('an edit', () => {
  it('[MERGE-2] leaves the words of others at overlaps', async () => {
    const address = await add('text', budget)
    await type(address)
    const written = dataOf(
      await edit(address, [...edits, { insert: { at: 'end', content: ' Thanks.' } }]),
    ) as Written
    expect(written).toMatchObject({
      changed: true,
      overlaps: overlapsKept('theirs'),
      edits: [{ changed: false, insertions: 0 }, { changed: false }, { changed: true, insertions: 8 }],
    })
    expect((await read(address)).data).toBe(`${typed} Thanks.`)
  })

  it('[MERGE-2] leaves the word of others that has replaced its whole target', async () => {
    const address = await add('text', budget)
    await type(address)
    const written = dataOf(await edit(address, [{ replace: { find: '100', with: '170' } }])) as Written
    expect(written).toMatchObject({ changed: false, overlaps: overlapsKept('theirs').slice(0, 1) })
    expect((await read(address)).data).toBe(typed)
  })

  it('[MERGE-6] fails at overlaps for an agent, unless it chooses otherwise', async () => {
    const bearer = { ...withoutKey, authorization: `Bearer ${await agentToken(server, 'bot')}` }
    const address = await add('text', budget)
    await type(address)
    const failed = await edit(address, edits, {}, bearer)
    expect(failed.body.error).toMatchObject({
      status: 'ABORTED',
      details: { code: 'crdt/overlap', overlaps: overlapsKept('theirs') },
    })
    const written = await edit(address, edits, { onOverlap: 'keepMine' }, bearer)
    expect(dataOf(written)).toMatchObject({ changed: true, overlaps: overlapsKept('mine') })
    expect((await read(address)).data).toBe(sent)
  })

  it('[MERGE-6] fails at overlaps in MCP, and the tool returns both sides', async () => {
    const mcp = await connectMcp(server.url, await agentToken(server, 'bot'))
    const address = await add('text', budget)
    await type(address)
    const args = {
      documentId: address.documentId,
      baseVersion: address.version,
      edits: [
        { replace: { find: '100 EUR', with: '170 EUR' } },
        { replace: { find: 'Monday', with: 'Friday' } },
      ],
    }
    const failed = await mcp.call('edit_document', args)
    expect(errorCodeOf(failed)).toBe('crdt/overlap')
    expect(textOf(failed)).toContain('"theirs":"Tuesday"')
    const written = await mcp.use<{ changed: boolean; documentData: { overlaps: object[] } }>(
      'edit_document',
      {
        ...args,
        onOverlap: 'report',
      },
    )
    expect(written).toMatchObject({ changed: false, documentData: { overlaps: overlapsKept('theirs') } })
    expect((await read(address)).data).toBe(typed)
    await mcp.client.close()
  })
})

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

interface Hunk {
  readonly hunkId: string
  readonly deleted: string
  readonly inserted: string
  readonly userIds: readonly string[]
}
interface Diff {
  readonly hunks: readonly Hunk[]
  readonly overlaps?: readonly object[]
}

describe('a branch', () => {
  const branchOf = (address: Address): Address => ({ ...ids(address), editorId: 'main@draft' })
  const named = (address: Address) => ({ ...ids(address), name: 'draft' })
  const diff = async (address: Address): Promise<Diff> =>
    dataOf(await server.post('/v2/crdt/branches/diff', named(address))) as Diff
  const merge = (address: Address, more: object = {}) =>
    server.post('/v2/crdt/branches/merge', { ...named(address), userId: 'rex', ...more })
  const write = async (address: Address, type: string, data: unknown): Promise<void> =>
    void dataOf(await server.post('/v2/crdt/update', { ...ids(address), type, data, userId: 'ann' }))
  const create = async (type: string, data: unknown): Promise<Address & { version: string }> => {
    const address = await add(type, data)
    dataOf(await server.post('/v2/crdt/branches/create', { ...named(address), userId: 'ann' }))
    return address
  }

  /** Creates an editor and a branch that have changed the same words. */
  async function overlapping(): Promise<Address> {
    const address = await create('text', budget)
    await write(branchOf(address), 'text', sent)
    await type(address)
    return address
  }

  it('[MERGE-7] has its own side of words that its editor has also changed, and names both sides', async () => {
    const address = await overlapping()
    expect((await read(branchOf(address))).data).toBe(sent)
    const { hunks, overlaps } = await diff(address)
    expect(overlaps).toEqual(overlapsKept('mine'))
    // The user who typed into the editor is not an author of the branch.
    expect(hunks.map(({ userIds }) => userIds)).toEqual([['ann'], ['ann']])
    const dry = dataOf(await merge(address, { dryRun: true }))
    expect(dry).toMatchObject({ changed: true, overlaps: overlapsKept('mine') })
    expect((await read(address)).data).toBe(typed)
    const merged = dataOf(await merge(address))
    expect(merged).toMatchObject({
      changed: true,
      overlaps: overlapsKept('mine'),
      branch: { status: 'merged' },
    })
    expect((await read(address)).data).toBe(sent)
  })

  it('[MERGE-8] merges with the chosen side, or not at all', async () => {
    const thanks = ' Thanks.'
    for (const [onOverlap, content] of [
      ['keepTheirs', typed + thanks],
      ['keepMine', sent + thanks],
    ] as const) {
      const address = await overlapping()
      await write(branchOf(address), 'text', sent + thanks)
      for (const dryRun of [true, false]) {
        const failed = await merge(address, { onOverlap: 'fail', dryRun })
        expect({ status: failed.status, error: failed.body.error }).toMatchObject({
          status: 409,
          error: { status: 'ABORTED', details: { code: 'crdt/overlap', overlaps: overlapsKept('theirs') } },
        })
      }
      expect((await read(address)).data).toBe(typed)
      const kept = onOverlap === 'keepMine' ? 'mine' : 'theirs'
      const dry = dataOf(await merge(address, { onOverlap, dryRun: true }))
      expect(dry).toMatchObject({ changed: true, overlaps: overlapsKept(kept) })
      const hunks = (await diff(address)).hunks.map(({ hunkId }) => hunkId)
      const merged = dataOf(await merge(address, { onOverlap })) as { decided: string[] }
      expect(merged).toMatchObject({
        changed: true,
        overlaps: overlapsKept(kept),
        branch: { status: 'merged' },
      })
      expect(merged.decided.toSorted()).toEqual(hunks.toSorted())
      expect((await read(address)).data).toBe(content)
      expect(dataOf(await merge(address))).toMatchObject({ changed: false })
      expect((await read(address)).data).toBe(content)
    }
  })

  it('[MERGE-8] merges or rejects only the selected hunks of overlaps', async () => {
    const address = await overlapping()
    const { hunks } = await diff(address)
    const [first, second] = hunks.map(({ hunkId }) => hunkId) as [string, string]
    expect(hunks).toHaveLength(2)
    const rejected = dataOf(await merge(address, { onOverlap: 'keepTheirs', hunks: [first] }))
    expect(rejected).toMatchObject({
      changed: false,
      decided: [first],
      overlaps: overlapsKept('theirs').slice(0, 1),
    })
    expect((await read(branchOf(address))).data).toBe(typed.replace('Tuesday', 'Friday'))
    const left = overlapsKept('mine').slice(1)
    expect((await diff(address)).overlaps).toEqual(left)
    expect(dataOf(await merge(address, { hunks: [second] }))).toMatchObject({ changed: true, overlaps: left })
    expect((await read(address)).data).toBe(typed.replace('Tuesday', 'Friday'))
    expect(await diff(address)).not.toHaveProperty('overlaps')
  })

  it('[MERGE-7] has whole words in other contents and in a large text, which a thread merges', async () => {
    const lines = Array.from({ length: 4_000 }, (_, line) => `This is line ${line} of the text.\n`).join('')
    for (const [kind, wrap] of [
      ['xml', (content: string) => `<paragraph>${content}</paragraph>`],
      ['map', (budget: string) => ({ budget, list: [{ id: 'a', budget }] })],
      ['text', (content: string) => lines + content],
    ] as const) {
      const address = await create(kind, wrap('Budget: 100 EUR.'))
      await write(branchOf(address), kind, wrap('Budget: 250 EUR.'))
      await write(address, kind, wrap('Budget: 170 EUR.'))
      expect((await read(branchOf(address))).data).toEqual(wrap('Budget: 250 EUR.'))
      const merged = dataOf(await merge(address)) as Written
      expect(merged.overlaps).not.toEqual([])
      expect(JSON.stringify(merged.overlaps)).toMatch(/100.*170.*250/)
      expect((await read(address)).data).toEqual(wrap('Budget: 250 EUR.'))
    }
  })

  it('[MERGE-7] merges the members of plain values, and changes of different words', async () => {
    const address = await create('map', { b: { x: 1, y: 1 }, t: 'x' })
    await write(branchOf(address), 'map', { b: { x: 2, y: 1 }, t: 'x' })
    await write(address, 'map', { b: { x: 1, y: 2 }, t: 'y' })
    expect((await read(branchOf(address))).data).toEqual({ b: { x: 2, y: 2 }, t: 'y' })
    expect(await diff(address)).not.toHaveProperty('overlaps')
    const merged = dataOf(await merge(address, { onOverlap: 'fail' }))
    expect(merged).not.toHaveProperty('overlaps')
    expect((await read(address)).data).toEqual({ b: { x: 2, y: 2 }, t: 'y' })
  })

  it('[MERGE-7] has a change that both sides have made once, and no overlap', async () => {
    const address = await create('text', budget)
    await write(branchOf(address), 'text', `${sent} Thanks.`)
    await type(address)
    await write(address, 'text', sent)
    expect((await read(branchOf(address))).data).toBe(`${sent} Thanks.`)
    dataOf(await merge(address))
    expect((await read(address)).data).toBe(`${sent} Thanks.`)
  })
})

import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import { builtFile } from '../../src/core/base/package-file.ts'
import { runCli } from '../support/servers/cli.ts'
import { dataOf } from '../support/servers/server.ts'
import { itLong, times } from '../support/time/full-run.ts'
import { contents, startOn } from './sample-store.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-doc-'))
const at = (name: string): string => join(root, name)
const weft = (...args: string[]) => runCli(args, root)
const deep = { timeout: 180_000 }
const stopped = ['--data-dir', at('data')]

beforeAll(async () => {
  const server = await startOn(at('data'))
  for (const [editorId, type, data] of contents)
    dataOf(await server.post('/v2/crdt/update', { ...report, editorId, type, data, upsert: true }))
  await server.stop()
}, 60_000)

afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 20 }))

const written = expect.stringMatching(/^written: /)
const report = { organizationId: 'acme', documentId: '50% of a/b' }
const pathTo = (editorId: string): string => `acme/50%25%20of%20a%2Fb/${editorId}`

itLong(
  '[OUT-10] `doc get` prints a document in each format, and `doc put` merges or creates a document',
  deep,
  async () => {
    const [, , text] = contents.find(([, type]) => type === 'text') as (typeof contents)[number]
    expect(await weft('doc', 'get', pathTo('text'), '--format', 'text', ...stopped)).toMatchObject({
      code: 0,
      out: text,
    })
    expect((await weft('doc', 'get', pathTo('xml'), '--format', 'xml', ...stopped)).out).toContain(
      '<b>world</b>',
    )
    const map = await weft('doc', 'get', pathTo('map'), ...stopped)
    expect(JSON.parse(map.out)).toEqual({ type: 'map', contentKey: 'content', data: contents[1]?.[2] })
    await weft('doc', 'get', pathTo('text'), '--format', 'update', '--out', at('text.bin'), ...stopped)
    const made = await weft(
      'doc',
      'put',
      pathTo('made/../here').replace('/../', '%2F..%2F'),
      at('text.bin'),
      ...stopped,
    )
    expect(made).toMatchObject({ code: 0, out: written })
    const doc = new Y.Doc()
    Y.applyUpdate(doc, readFileSync(at('text.bin')))
    const vector = Y.encodeStateVector(doc)
    doc.getText('content').insert(0, 'now ')
    writeFileSync(at('more.bin'), Y.encodeStateAsUpdate(doc, vector))
    expect(await weft('doc', 'put', pathTo('text'), at('more.bin'), ...stopped)).toMatchObject({
      out: written,
    })
    expect(await weft('doc', 'put', pathTo('text'), at('more.bin'), ...stopped)).toMatchObject({
      out: 'the document already has this update\n',
    })
    expect((await weft('doc', 'get', pathTo('text'), '--format', 'text', ...stopped)).out).toBe(
      `now ${String(text)}`,
    )
    const alone = await weft('doc', 'put', pathTo('alone'), at('more.bin'), ...stopped)
    expect(alone).toMatchObject({
      code: 2,
      err: expect.stringContaining('builds on updates that are missing'),
    })
    const server = await startOn(at('data'))
    const listed = dataOf(await server.post('/v2/crdt/get', report)) as { id: string }[]
    expect(listed.map(({ id }) => id).sort()).toEqual([...contents.map(([id]) => id), 'made/../here'].sort())
    await server.stop()
  },
)

const main = fileURLToPath(builtFile('main.js'))

/** Runs `doc get | doc put` in a shell. */
const copied = async (from: string, to: string, where: readonly string[]): Promise<string> => {
  const command = 'from=$1 to=$2; shift 2; node "$0" doc get "$from" "$@" | node "$0" doc put "$to" "$@"'
  const run = promisify(execFile)('bash', ['-c', command, main, pathTo(from), pathTo(to), ...where], {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: root },
  })
  return (await run).stdout
}

/** Contents that are copied. Each copy takes two processes. */
const copiedTypes = times(
  ['map', 'xml', 'delta', 'xmltext'],
  contents.map(([, type]) => type),
)

/** Content as JSON, with formatting. */
const shownAt = async (editorId: string, where: readonly string[]): Promise<unknown> =>
  JSON.parse((await weft('doc', 'get', pathTo(editorId), ...where)).out)

it('[OUT-13] `doc get | doc put` gives another document the same content of the same type', {
  timeout: 120_000,
}, async () => {
  const server = await startOn(at('data'))
  const serving = ['--url', server.url, '--data-dir', at('data')]
  const pairs = contents.filter(([, type]) => copiedTypes.includes(type))
  await Promise.all(
    pairs.map(async ([editorId, type]) => {
      expect(await copied(editorId, `${editorId}-copy`, serving)).toMatch(
        /^written: \d+ inserted, 0 deleted, \d+ bytes\n$/,
      )
      const format = type === 'delta' ? 'delta' : 'json'
      const read = async (id: string) => {
        const [found] = dataOf(
          await server.post('/v2/crdt/get', { ...report, editorId: id, format }),
        ) as readonly { type: string; contentKey: string; data: unknown }[]
        return { type: found?.type, contentKey: found?.contentKey, data: found?.data }
      }
      const copy = await read(`${editorId}-copy`)
      expect(copy).toEqual(await read(editorId))
      expect(copy.type).toBe(type)
    }),
  )
  const [[first] = []] = contents
  const state = await weft('doc', 'get', pathTo(String(first)), '--format', 'update', '--json', ...serving)
  expect(JSON.parse(state.out)).toMatchObject({ type: 'update' })
  writeFileSync(at('state.json'), state.out)
  const merged = await weft('doc', 'put', pathTo(`${first}-state`), at('state.json'), ...serving)
  expect(merged.out).toMatch(/^written: \d+ bytes\n$/)
  await server.stop()
  // A named data directory belongs to a stopped server, for any value of the variable.
  const elsewhere = { WEFT_URL: 'http://127.0.0.1:9' }
  for (const editorId of ['delta']) {
    expect(
      (await weft('doc', 'get', pathTo(editorId), '--out', at(`${editorId}.json`), ...stopped)).code,
    ).toBe(0)
    const args = ['doc', 'put', pathTo(`${editorId}-stopped`), at(`${editorId}.json`), '--json', ...stopped]
    const first = await runCli(args, root, elsewhere)
    expect(JSON.parse(first.out)).toMatchObject({ ok: true, created: true, changed: true, deletions: 0 })
    const again = await runCli(args, root, elsewhere)
    expect(JSON.parse(again.out)).toEqual({
      ok: true,
      created: false,
      changed: false,
      bytes: 0,
      insertions: 0,
      deletions: 0,
    })
    expect(await shownAt(`${editorId}-stopped`, stopped)).toEqual(await shownAt(editorId, stopped))
    writeFileSync(at('empty.json'), JSON.stringify({ type: 'array', contentKey: 'board', data: [] }))
    await weft('doc', 'put', pathTo('empty'), at('empty.json'), ...stopped)
    expect(await shownAt('empty', stopped)).toEqual({ type: 'array', contentKey: 'board', data: [] })
    // Without a name, the content goes into the only root.
    writeFileSync(at('list.json'), '[1]')
    await weft('doc', 'put', pathTo('empty'), at('list.json'), '--type', 'array', ...stopped)
    expect(await shownAt('empty', stopped)).toEqual({ type: 'array', contentKey: 'board', data: [1] })
  }
})

it('[FMT-181] `doc get` prints rich text in every format, and `doc put` writes it into another document', {
  timeout: 120_000,
}, async () => {
  const server = await startOn(at('data'))
  const serving = ['--url', server.url, '--data-dir', at('data')]
  writeFileSync(at('plan.html'), '<h1>Plan</h1><p>We ship on <strong>Monday</strong>.</p>')
  const make = ['doc', 'put', pathTo('plan'), at('plan.html'), '--content-key', 'default']
  expect((await weft(...make, ...serving)).out).toMatch(/^written: /)
  const expected = {
    markdown: '# Plan\n\nWe ship on **Monday**.\n',
    html: '<h1>Plan</h1>\n<p>We ship on <strong>Monday</strong>.</p>',
    prosemirror: expect.stringContaining('"type": "doc"'),
  }
  const copyTo = async (format: string, where: readonly string[]): Promise<void> => {
    const as = ['--format', format, ...where]
    const { out } = await weft('doc', 'get', pathTo('plan'), ...as)
    expect(out).toEqual(expected[format as keyof typeof expected])
    writeFileSync(at('plan'), out)
    const copy = ['doc', 'put', pathTo(`${format} ${where.length}`), at('plan'), '--content-key', 'default']
    expect((await weft(...copy, ...as)).out).toMatch(/^written: /)
  }
  const formats = Object.keys(expected)
  for (const format of formats) await copyTo(format, serving)
  await server.stop()
  for (const format of formats) await copyTo(format, stopped)
  const again = await startOn(at('data'))
  const shown = async (editorId: string): Promise<unknown> => {
    const read = { ...report, editorId, contentKey: 'default' }
    const [{ type, data }] = dataOf(await again.post('/v2/crdt/get', read)) as [
      { type: string; data: unknown },
    ]
    return { type, data }
  }
  const plan = await shown('plan')
  for (const format of formats)
    for (const { length } of [serving, stopped]) expect(await shown(`${format} ${length}`)).toEqual(plan)
  await again.stop()
})

it('[CMD-12] reports that `doc put` to a running server has created an editor, also in an existing document', {
  timeout: 60_000,
}, async () => {
  const server = await startOn(at('data'))
  const serving = ['--url', server.url, '--data-dir', at('data')]
  writeFileSync(at('empty.txt'), '')
  for (const address of ['acme/created/main', pathTo('created')]) {
    const put = () => weft('doc', 'put', address, at('empty.txt'), ...serving)
    expect((await put()).out).toMatch(/^created: \d+ bytes\n$/)
    expect((await put()).out).toBe('the document already has this update\n')
  }
  writeFileSync(at('words.md'), 'words')
  const more = await weft('doc', 'put', pathTo('created'), at('words.md'), '--json', ...serving)
  expect(JSON.parse(more.out)).toMatchObject({ created: false, changed: true, insertions: 5 })
  await server.stop()
})

it('[OUT-14] `doc put` rejects a JSON file with an unknown member, and writes the names of a map as they are', {
  timeout: 600_000,
}, async () => {
  writeFileSync(at('shape.json'), '{"type":"text","contntKey":"a","data":"x"}')
  for (const format of [[], ['--format', 'json']])
    expect(await weft('doc', 'put', pathTo('shape'), at('shape.json'), ...format, ...stopped)).toMatchObject({
      code: 2,
      err: expect.stringContaining('the file has the unknown member "contntKey" (did you mean contentKey?)'),
    })
  const file = {
    type: 'map',
    contentKey: null,
    data: JSON.parse('{"__proto__":1,"":{"__proto__":[]}}') as unknown,
  }
  writeFileSync(at('shape.json'), JSON.stringify(file))
  expect(await weft('doc', 'put', pathTo('shape'), at('shape.json'), ...stopped)).toMatchObject({ code: 0 })
  const { out } = await weft('doc', 'get', pathTo('shape'), ...stopped)
  expect(JSON.stringify(JSON.parse(out))).toBe(
    '{"type":"map","contentKey":"content","data":{"__proto__":1,"":{"__proto__":[]}}}',
  )
})

itLong(
  '[OUT-10] `doc get` and `doc put` reject invalid addresses, files and tenants with one sentence',
  deep,
  async () => {
    writeFileSync(at('bad.bin'), 'no update')
    for (const [args, sentence] of [
      [['get', 'acme/report', ...stopped], 'invalid address'],
      [['get', 'acme/%ff/main', ...stopped], 'invalid address'],
      [['get', 'acme/nothing/main', ...stopped], 'there is no such document'],
      [['get', pathTo('map'), '--format', 'text', ...stopped], 'map'],
      [['put', pathTo('text'), at('bad.bin'), ...stopped], 'the file is not a Yjs update'],
      [['put', pathTo('text'), at('bad.bin'), '--format', 'update', ...stopped], 'its update is malformed'],
      [['put', pathTo('text'), at('none.bin'), ...stopped], 'cannot be read'],
      [['put', pathTo('map'), at('bad.bin'), '--format', 'text', ...stopped], 'of type "map"'],
      [
        ['put', pathTo('x'), at('text.bin'), '--workspace', 'w', '--api-key', 'k', ...stopped],
        'not the configured API key "k"',
      ],
      [['get', pathTo('text'), '--url', 'http://127.0.0.1:1', ...stopped], 'cannot be reached'],
    ] as const)
      expect(await weft('doc', ...args)).toMatchObject({ code: 2, err: expect.stringContaining(sentence) })
  },
)

itLong(
  '[OUT-11] when content is read from a running server and written to another document, both have the same content',
  deep,
  async () => {
    const server = await startOn(at('data'))
    const serving = ['--url', server.url, '--data-dir', at('data')]
    for (const [editorId, type, data] of contents) {
      const format = type === 'text' || type === 'xml' ? type : 'json'
      const file = at(`${editorId}.${format}`)
      // The text format has no formatting.
      if (type === 'delta') writeFileSync(file, JSON.stringify(data))
      else await weft('doc', 'get', pathTo(editorId), '--format', format, '--out', file, ...serving)
      const as = type === 'delta' ? ['--type', 'delta'] : []
      const put = await weft(
        'doc',
        'put',
        pathTo(`${editorId}-2`),
        file,
        '--format',
        format,
        ...as,
        ...serving,
      )
      expect(put).toMatchObject({ code: 0, out: written })
      const [first, second] = await Promise.all(
        [editorId, `${editorId}-2`].map(async (id) => {
          const read = { ...report, editorId: id, ...(type === 'delta' && { format: 'delta' }) }
          const [{ data: shown }] = dataOf(await server.post('/v2/crdt/get', read)) as [{ data: unknown }]
          return shown
        }),
      )
      expect(second).toEqual(first)
    }
    const updated = await weft(
      'doc',
      'get',
      pathTo('xml'),
      '--format',
      'update',
      '--out',
      at('xml.bin'),
      ...serving,
    )
    expect(updated.code).toBe(0)
    expect((await weft('doc', 'put', pathTo('xml-3'), at('xml.bin'), ...serving)).out).toMatch(/^written: /)
    const again = await runCli(['doc', 'put', pathTo('xml-3'), at('xml.bin')], root, {
      WEFT_URL: server.url,
      WEFT_API_KEY: server.credentials.apiKey,
      WEFT_AUTH_TOKEN: server.credentials.authToken,
    })
    expect(again).toMatchObject({ code: 0, out: 'the document already has this update\n' })
    const refused = await runCli(['doc', 'get', pathTo('xml'), '--url', server.url], root, {
      WEFT_API_KEY: server.credentials.apiKey,
      WEFT_AUTH_TOKEN: 'another-token-of-the-test',
    })
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('UNAUTHENTICATED') })
    await server.stop()
  },
)

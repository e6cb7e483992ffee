import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import * as Y from 'yjs'
import { runCli } from '../support/cli.ts'
import { itLong } from '../support/long.ts'
import { dataOf } from '../support/server.ts'
import { contents, startOn } from './rich-store.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-doc-'))
const at = (name: string): string => join(root, name)
const weft = (...args: string[]) => runCli(args, root)
const deep = { timeout: 180_000 }
const stopped = ['--data', at('data')]

beforeAll(async () => {
  const server = await startOn(at('data'))
  for (const [editorId, type, data] of contents)
    dataOf(await server.post('/v2/crdt/update', { ...report, editorId, type, data, upsert: true }))
  await server.stop()
}, 60_000)

afterAll(() => rmSync(root, { recursive: true, force: true }))

const report = { organizationId: 'acme', documentId: '50% of a/b' }
const pathTo = (editorId: string): string => `acme/50%25%20of%20a%2Fb/${editorId}`

itLong(
  '[OUT-10] get prints each form of a document; put merges an update, or makes a document of it',
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
    expect(made).toMatchObject({ code: 0, out: 'written\n' })
    const doc = new Y.Doc()
    Y.applyUpdate(doc, readFileSync(at('text.bin')))
    const vector = Y.encodeStateVector(doc)
    doc.getText('content').insert(0, 'now ')
    writeFileSync(at('more.bin'), Y.encodeStateAsUpdate(doc, vector))
    expect(await weft('doc', 'put', pathTo('text'), at('more.bin'), ...stopped)).toMatchObject({
      out: 'written\n',
    })
    expect(await weft('doc', 'put', pathTo('text'), at('more.bin'), ...stopped)).toMatchObject({
      out: 'all of it was there already\n',
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

itLong('[OUT-10] what is malformed, or of nobody, is refused with a sentence', deep, async () => {
  writeFileSync(at('bad.bin'), 'no update')
  for (const [args, sentence] of [
    [['get', 'acme/report', ...stopped], 'is no address'],
    [['get', 'acme/%ff/main', ...stopped], 'is no address'],
    [['get', 'acme/nothing/main', ...stopped], 'there is no such document'],
    [['get', pathTo('map'), '--format', 'text', ...stopped], 'map'],
    [['put', pathTo('text'), at('bad.bin'), ...stopped], 'its update is malformed'],
    [['put', pathTo('text'), at('none.bin'), ...stopped], 'cannot be read'],
    [['put', pathTo('text'), at('bad.bin'), '--format', 'text', ...stopped], '--url'],
    [['put', pathTo('x'), at('text.bin'), '--workspace', 'w', '--api-key', 'k', ...stopped], 'no API key'],
    [['get', pathTo('text'), '--url', 'http://127.0.0.1:1', ...stopped], 'cannot be reached'],
  ] as const)
    expect(await weft('doc', ...args)).toMatchObject({ code: 2, err: expect.stringContaining(sentence) })
})

itLong('[OUT-11] what is got from a server that serves, put elsewhere, is the same', deep, async () => {
  const server = await startOn(at('data'))
  const serving = ['--url', server.url, '--data', at('data')]
  for (const [editorId, type, data] of contents) {
    const format = type === 'text' || type === 'xml' ? type : 'json'
    const file = at(`${editorId}.${format}`)
    // Formatting is not in what is shown of a text.
    if (type === 'delta') writeFileSync(file, JSON.stringify(data))
    else await weft('doc', 'get', pathTo(editorId), '--format', format, '--out', file, ...serving)
    const as = type === 'delta' ? ['--type', 'delta'] : []
    const put = await weft('doc', 'put', pathTo(`${editorId}-2`), file, '--format', format, ...as, ...serving)
    expect(put).toMatchObject({ code: 0, out: 'written\n' })
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
  expect((await weft('doc', 'put', pathTo('xml-3'), at('xml.bin'), ...serving)).out).toBe('written\n')
  const again = await runCli(['doc', 'put', pathTo('xml-3'), at('xml.bin')], root, {
    WEFT_URL: server.url,
    WEFT_API_KEY: server.credentials.apiKey,
    WEFT_AUTH_TOKEN: server.credentials.authToken,
  })
  expect(again).toMatchObject({ code: 0, out: 'all of it was there already\n' })
  const refused = await runCli(['doc', 'get', pathTo('xml'), '--url', server.url], root, {
    WEFT_API_KEY: server.credentials.apiKey,
    WEFT_AUTH_TOKEN: 'another-token-of-the-test',
  })
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('UNAUTHENTICATED') })
  await server.stop()
})

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCli } from '../../support/servers/cli.ts'
import { dataOf, startTestServer } from '../../support/servers/server.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-remedies-'))
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 20 }))
const cwd = join(root, 'cwd')
const data = join(root, 'data')
const local = { WEFT_HOST: '127.0.0.1', WEFT_PORT: '0', WEFT_MAX_CONNECTIONS: '100' }

beforeAll(async () => {
  mkdirSync(cwd)
  const server = await startTestServer({ engine: 'level', dataDir: data })
  const notes = { organizationId: 'acme', documentId: 'd1', editorId: 'main' }
  dataOf(await server.post('/v2/crdt/update', { ...notes, type: 'text', data: 'a', upsert: true }))
  await server.stop()
}, 30_000)

const wrongKey = 'key-wrong-wrong-wrong'

it.each([
  ['serve', '--data-dir', data],
  ['doc', 'ls', '--data-dir', data],
  ['doc', 'ls', 'acme', '--data-dir', data],
  ['doc', 'get', 'acme/d1/main', '--data-dir', data],
  [
    'doc',
    'put',
    'acme/d1/main',
    join(import.meta.dirname, '../../spec/README.md'),
    '--format',
    'text',
    '--data-dir',
    data,
  ],
  ['token', 'ann', '--data-dir', data],
  ['console', '--data-dir', data],
])('[CMD-11] %s %s: if the API key is wrong, ends with the same error as serve', async (...args) => {
  expect(await runCli(args, cwd, { ...local, WEFT_API_KEY: wrongKey })).toEqual({
    code: 2,
    out: '',
    err: `weft: the store has API keys, but not the configured API key "${wrongKey}"; set WEFT_API_KEY to one that \`weft keys list\` shows, or add a new, empty tenant: weft keys add ${wrongKey}\n`,
  })
})

it('[CMD-11] weft console rejects a configured API key whose auth token is not configured', async () => {
  const server = await startTestServer({ engine: 'level', dataDir: data })
  const console = await runCli(['console', '--data-dir', data], cwd, { ...local, WEFT_API_KEY: wrongKey })
  await server.stop()
  expect(console).toEqual({
    code: 2,
    out: '',
    err: expect.stringMatching(
      /^weft: [^\n]*"key-wrong-wrong-wrong"[^\n]*WEFT_AUTH_TOKEN[^\n]*weft keys list[^\n]*\n$/,
    ),
  })
})

it.each([
  ['API key', { WEFT_API_KEY: wrongKey }],
  ['workspace', { WEFT_WORKSPACE_ID: 'wrong' }],
  ['auth token', { WEFT_AUTH_TOKEN: 'wrong-wrong-wrong-wrong' }],
])('[RUN-6] weft doctor reports a wrong %s as one failure with the remedy', async (_name, wrong) => {
  const { code, out } = await runCli(['doctor', '--json', '--data-dir', data], cwd, { ...local, ...wrong })
  const { findings } = JSON.parse(out) as { findings: { name: string; verdict: string; help: string }[] }
  expect(findings.filter(({ verdict }) => verdict === 'fail')).toMatchObject([
    { name: 'credentials', help: expect.stringContaining('weft keys') as string },
  ])
  expect(code).toBe(1)
})

const put = (...args: string[]) => runCli(['doc', 'put', ...args, '--data-dir', data], cwd, local)

it('[CMD-12] doc put reports that it has created an editor, even if the editor is empty', async () => {
  const file = join(cwd, 'empty')
  writeFileSync(file, '')
  const address = 'acme/d2/nevermade'
  expect(await put(address, file, '--format', 'text')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^created: \d+ bytes\n$/) as string,
  })
  expect((await put(address, file, '--format', 'text')).out).toBe('the document already has this update\n')
})

it('[CMD-12] doc put derives the format from the file extension; if the extension is unknown, it fails and states the option', async () => {
  for (const [name, text] of [
    ['a.xml', '<p>one</p>'],
    ['a.txt', 'words'],
    ['a.md', '# words'],
  ] as const) {
    writeFileSync(join(cwd, name), text)
    expect(await put(`acme/d3/${name}`, name)).toMatchObject({ code: 0, err: '' })
    const format = name === 'a.xml' ? 'xml' : 'text'
    const get = ['doc', 'get', `acme/d3/${name}`, '--format', format, '--data-dir', data]
    expect((await runCli(get, cwd, local)).out).toBe(text)
  }
  for (const [name, text] of [
    ['xml', '<p>one</p>'],
    ['words', 'words\n'],
    ['nothing', ''],
  ] as const) {
    writeFileSync(join(cwd, name), text)
    expect(await put('acme/d3/z', name)).toEqual({
      code: 2,
      out: '',
      err: expect.stringMatching(
        /^weft: the file is not a Yjs update: [^\n]*; name its format: for example --format text, markdown or xml\n$/,
      ) as string,
    })
  }
})

import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import { type Editor, eventually, syncedEditor } from '../../support/clients/clients.ts'
import { runCli, startCli } from '../../support/servers/cli.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-restore-one-'))
/** Temporary directory of the commands. */
const temporary = join(root, 'tmp')
const adminToken = 'an-admin-token-of-the-test'
const organizationId = 'acme'
let server: TestServer

/** Writes every type of content into a document, with two roots of some types. */
function fill(doc: Y.Doc, generation: string): void {
  doc.transact(() => {
    const text = doc.getText('content')
    text.delete(0, text.length)
    text.insert(0, `text ${generation} `)
    text.insert(text.length, 'bold', { bold: true })
    const xml = doc.getXmlFragment('prosemirror')
    xml.delete(0, xml.length)
    const paragraph = new Y.XmlElement('paragraph')
    paragraph.setAttribute('level', generation)
    paragraph.insert(0, [new Y.XmlText(`xml ${generation}`)])
    xml.insert(0, [paragraph])
    doc.getMap('map').set('value', { generation, list: [1, 2] })
    doc.getMap('map').set(generation, true)
    doc.getArray('array').insert(0, [generation, 7])
    doc.getText('second').insert(0, generation)
  })
}

const contentOf = (doc: Y.Doc) => ({
  text: doc.getText('content').toDelta(),
  xml: doc.getXmlFragment('prosemirror').toString(),
  map: doc.getMap('map').toJSON(),
  array: doc.getArray('array').toJSON(),
  second: doc.getText('second').toString(),
})

const apply = async (documentId: string, editorId: string, doc: Y.Doc): Promise<void> => {
  const update = Buffer.from(Y.encodeStateAsUpdate(doc)).toString('base64')
  dataOf(await server.post('/v2/crdt/apply', { organizationId, documentId, editorId, update, create: true }))
}

/** Returns the whole state of an editor in base64. */
const stateOf = async (documentId: string, editorId = 'main'): Promise<string> => {
  const query = { organizationId, documentId, editorId, format: 'update' }
  return (dataOf(await server.post('/v2/crdt/get', query)) as [{ data: string }])[0].data
}

async function readDoc(documentId: string, editorId = 'main'): Promise<Y.Doc> {
  const doc = new Y.Doc()
  Y.applyUpdate(doc, Buffer.from(await stateOf(documentId, editorId), 'base64'))
  return doc
}

const recordOf = async (documentId: string): Promise<Record<string, unknown> | undefined> => {
  const query = { organizationId, documentIds: [documentId] }
  const found = dataOf(await server.post('/v2/organizations/documents/get', query))
  return (found as Record<string, unknown>[])[0]
}

const run = (...args: readonly string[]) => runCli(args, root, { TMPDIR: temporary })

const restore = (from: string, ...args: readonly string[]) =>
  run('restore', from, '--to', server.url, '--data-dir', 'data', ...args)

/** Restores with `--json`. Returns the exit code, and the result of each document by its id. */
async function restored(from: string, ...args: readonly string[]) {
  const { code, out, err } = await restore(from, ...args, '--json')
  const lines = out.trim().split('\n')
  const parsed = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  const results = parsed.slice(0, -1).map(({ documentId, result }) => [documentId, result])
  return { code, err, results: Object.fromEntries(results) as object, all: parsed }
}

const open = async (documentId: string): Promise<Editor> =>
  syncedEditor(server.wsUrl, `${organizationId}/${documentId}/main`, await server.token('ann'))

beforeAll(async () => {
  mkdirSync(temporary)
  writeFileSync(join(root, 'token'), adminToken)
  server = await startTestServer({ engine: 'level', dataDir: join(root, 'data'), adminToken })
  const organizations = [{ organizationId, organizationName: 'Acme' }]
  dataOf(await server.post('/v2/organizations/add', { organizations }))
  const folders = [
    { folderId: 'top', folderName: 'Top' },
    { folderId: 'inner', folderName: 'Inner', parentFolderId: 'top' },
  ]
  dataOf(await server.post('/v1/organizations/folders/add', { organizationId, folders }))
  const access = {
    organizationId,
    folderIds: ['inner'],
    accessType: 'restricted',
    inheritAccessFromParent: false,
  }
  dataOf(await server.post('/v2/organizations/folders/access/update', access))
  const documents = [
    { documentId: 'plan' },
    { documentId: 'other' },
    { documentId: 'gone', documentName: 'Gone', folderId: 'inner', metadata: { color: 'red' }, plan: 'pro' },
    { documentId: 'kept', folderId: 'top' },
  ]
  dataOf(await server.post('/v2/organizations/documents/add', { organizationId, documents }))
  for (const { documentId } of documents) {
    const doc = new Y.Doc()
    fill(doc, 'old')
    await apply(documentId, 'main', doc)
    await apply(documentId, 'side', doc)
  }
  const branch = { organizationId, documentId: 'plan', editorId: 'main', name: 'draft', userId: 'ann' }
  dataOf(await server.post('/v2/crdt/branches/create', branch))
  const steps = [
    ['backups', 'key', 'key'],
    ['backup', server.url, 'file', '--token-file', 'token'],
    ['backup', server.url, '--to', 'repository', '--key-file', 'key', '--token-file', 'token'],
  ]
  for (const step of steps) expect(await run(...step)).toMatchObject({ code: 0 })
}, 60_000)

afterAll(async () => {
  await server.stop()
  rmSync(root, { recursive: true, force: true, maxRetries: 20 })
})

it('[BKP-70] [BKP-71] restores one document as an edit that connected clients get, saves the content before as a version, and changes no other document', async () => {
  const [editor, otherEditor] = [await open('plan'), await open('other')]
  const past = contentOf(await readDoc('plan'))
  fill(editor.doc, 'new')
  fill(otherEditor.doc, 'new')
  await eventually(async () => contentOf(await readDoc('plan')).map.new === true)
  await eventually(async () => contentOf(await readDoc('other')).map.new === true)
  const before = contentOf(await readDoc('plan'))
  const untouched = await Promise.all(['other', 'gone', 'kept'].map((id) => stateOf(id)))
  const dry = await restored('file', '--document', 'acme/plan', '--dry-run')
  expect([dry.code, dry.results, contentOf(await readDoc('plan'))]).toEqual([0, { plan: 'changed' }, before])
  expect(await restored('file', '--document', 'acme/plan')).toMatchObject({
    code: 0,
    err: '',
    all: [
      { result: 'changed', editors: ['main'] },
      { ok: true, changed: 1, failed: 0, dryRun: false },
    ],
  })
  await eventually(() => editor.doc.getMap('map').get('new') === undefined)
  expect([contentOf(editor.doc), contentOf(await readDoc('plan'))]).toEqual([past, past])
  const again = await restored('file', '--document', 'acme/plan')
  expect([again.code, again.results]).toEqual([0, { plan: 'same' }])
  const versions = dataOf(
    await server.post('/v2/crdt/versions/list', { organizationId, documentId: 'plan', editorId: 'main' }),
  ) as { versionId: string; label: string }[]
  expect(versions.map(({ label }) => label)).toEqual([
    expect.stringMatching(/^Before the restore from the backup of \d{4}-/),
  ])
  expect(await Promise.all(['other', 'gone', 'kept'].map((id) => stateOf(id)))).toEqual(untouched)
  // A client that typed before and during the restore converges with the server.
  editor.text.insert(0, 'typed after ')
  await eventually(async () => contentOf(await readDoc('plan')).text[0].insert.startsWith('typed after '))
  editor.close()
  otherEditor.close()
})

it('[BKP-72] creates deleted documents of a folder again from a repository, with folders, access, name, metadata and all editors', async () => {
  const past = { record: await recordOf('gone'), content: contentOf(await readDoc('gone')) }
  const typist = await open('other')
  dataOf(await server.post('/v2/organizations/folders/delete', { organizationId, folderId: 'top' }))
  expect(await recordOf('gone')).toBe(undefined)
  let typed = 0
  const timer = setInterval(() => {
    typist.text.insert(0, 'x')
    typed += 1
  }, 5)
  const key = ['--key-file', 'key']
  const dry = await restored('repository', ...key, '--folder', 'acme/top', '--dry-run')
  expect([dry.code, dry.results, await recordOf('kept')]).toEqual([
    0,
    { gone: 'created', kept: 'created' },
    undefined,
  ])
  const done = await restored('repository', ...key, '--folder', 'acme/top')
  clearInterval(timer)
  expect([done.code, done.err, done.results]).toEqual([0, '', { gone: 'created', kept: 'created' }])
  const record = { ...past.record, createdAt: expect.any(Number), lastUpdated: expect.any(Number) }
  expect(await recordOf('gone')).toMatchObject({ ...record, accessType: 'restricted', folderId: 'inner' })
  expect(record).toMatchObject({ documentName: 'Gone', metadata: { color: 'red' }, plan: 'pro' })
  for (const editorId of ['main', 'side'])
    expect(contentOf(await readDoc('gone', editorId))).toEqual(past.content)
  await eventually(async () =>
    (await readDoc('other')).getText('content').toString().startsWith('x'.repeat(typed)),
  )
  expect(typed).toBeGreaterThan(0)
  typist.close()
})

it('[BKP-70] [BKP-73] restores an organization, does not change a restored document again, goes on after a document that fails, and has exit code 1', async () => {
  const editor = await open('kept')
  fill(editor.doc, 'newer')
  await eventually(async () => contentOf(await readDoc('kept')).map.newer === true)
  editor.close()
  const documents = [{ documentId: 'other', disabled: true }]
  dataOf(await server.post('/v2/organizations/documents/update', { organizationId, documents }))
  const before = await stateOf('other')
  const { code, out } = await restore('file', '--organization', 'acme')
  expect(code).toBe(1)
  expect(out).toMatch(/^acme\/other: failed: .*the document is disabled/m)
  expect(out).toMatch(/^acme\/kept: changed \(main\)$/m)
  expect(out).toMatch(/^acme\/gone: same$/m)
  expect(out).toMatch(/\n0 created, 2 changed, 1 same, 1 failed, from the backup of \d{4}-.*Z\n$/)
  expect(await stateOf('other')).toBe(before)
})

it('[BKP-86] restores documents of another API key into another server', async () => {
  const { apiKey } = server.credentials
  const dataDir = join(root, 'elsewhere')
  const other = await startTestServer({ engine: 'level', dataDir })
  try {
    const to = ['restore', 'file', '--to', other.url, '--data-dir', dataDir, '--organization', 'acme']
    const unknown = await run(...to)
    expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining('--from-api-key')])
    expect((await run(...to, '--from-api-key', apiKey)).code).toBe(0)
    const query = { organizationId, documentId: 'plan', editorId: 'side', format: 'update' }
    expect(dataOf(await other.post('/v2/crdt/get', query))).toMatchObject([
      { data: await stateOf('plan', 'side') },
    ])
  } finally {
    await other.stop()
  }
})

it('[BKP-74] rejects unknown documents, keys and servers, and contradicting options, with the remedy', async () => {
  const there = ['--to', server.url, '--data-dir', 'data']
  const off = ['--to', 'http://127.0.0.1:9', '--data-dir', 'data', '--organization', 'acme']
  const query = ['--to', 'http://127.0.0.1:9/?query', '--data-dir', 'data', '--organization', 'acme']
  const unknown =
    /the backup has no document acme\/none; use another backup.*--organization acme --dry-run lists/
  const rejected: readonly (readonly [RegExp, ...string[]])[] = [
    [unknown, ...there, '--document', 'acme/none'],
    [/the backup has no organization none/, ...there, '--organization', 'none'],
    [/exactly one of --document/, ...there],
    [/no directory can be named/, 'place', ...there, '--organization', 'acme'],
    [/name its URL with --to/, '--organization', 'acme'],
    [/cannot be reached/, ...off],
    [/invalid url "http:\/\/127\.0\.0\.1:9\/\?query"; expected an address/, ...query],
  ]
  const ran = await Promise.all(rejected.map(([, ...args]) => run('restore', 'file', ...args)))
  expect(ran.map(({ code, err }) => [code, err])).toEqual(
    rejected.map(([message]) => [2, expect.stringMatching(message)]),
  )
})

it('[BKP-75] removes the temporary data of the backup, also after a signal', async () => {
  const args = ['restore', 'file', '--to', server.url, '--data-dir', 'data', '--organization', 'acme']
  // A process that ended before the signal has another exit code; then the test tries again.
  await eventually(async () => {
    const running = startCli(args, root, { TMPDIR: temporary })
    await eventually(() => readdirSync(temporary).length > 0 || running.child.exitCode !== null)
    running.child.kill('SIGTERM')
    const { code } = await running.ended
    expect(readdirSync(temporary)).toEqual([])
    return code === 143
  })
})

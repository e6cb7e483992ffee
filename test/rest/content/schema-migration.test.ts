import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type * as Y from 'yjs'
import { systemClock } from '../../../src/core/base/clock.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { eventually, syncedEditor } from '../../support/clients/clients.ts'
import { type Answer, dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { rejectingCommits } from '../../support/stores/rejecting-kv.ts'

let server: TestServer
let directory: string
let schemas = 0

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'weft-migration-'))
  server = await startTestServer({ engine: 'level', dataDir: directory })
})

afterAll(async () => {
  await server.stop()
  await rm(directory, { recursive: true, force: true, maxRetries: 20 })
})

const text = { content: 'text*' }
/** The schema before and after the migration of the tests. */
const before = {
  nodes: {
    doc: { content: '(p | callout | image)+' },
    p: text,
    callout: { content: 'p+', attributes: { kind: { default: 'info' } } },
    image: { attributes: { url: { default: null } } },
    text: {},
  },
  marks: { strong: {}, blink: {} },
  contentKey: 'default',
}
const after = {
  nodes: {
    doc: { content: '(p | panel | figure)+' },
    p: { ...text, attributes: { align: { default: null } } },
    panel: { content: 'p+', attributes: { tone: { default: 'info' } } },
    figure: { content: 'image' },
    image: { attributes: { url: { default: null } } },
    text: {},
  },
  marks: { bold: {} },
  contentKey: 'default',
}
const rules = [
  { rule: 'renameNode', name: 'callout', to: 'panel' },
  { rule: 'renameAttribute', node: 'panel', name: 'kind', to: 'tone' },
  { rule: 'setDefault', node: 'p', name: 'align', value: 'left' },
  { rule: 'wrapNode', name: 'image', to: 'figure' },
  { rule: 'renameMark', name: 'strong', to: 'bold' },
  { rule: 'dropMark', name: 'blink' },
]
const content =
  '<p>a <strong>b</strong> <blink>c</blink></p><callout kind="warning"><p><strong>d</strong></p></callout><image url="u"/>'
const migrated =
  '<p align="left">a <bold>b</bold> c</p><panel tone="warning"><p align="left"><bold>d</bold></p></panel>' +
  '<figure><image url="u"/></figure>'

interface Migration {
  readonly status: string
  readonly [member: string]: unknown
}

const at = (documentId: string, organizationId = 'acme') => ({ organizationId, documentId, editorId: 'main' })

const newSchema = async (): Promise<string> => {
  const name = `notes-${++schemas}`
  await server.post('/v2/crdt/schemas/set', { name, schema: before })
  return name
}

const add = (schema: string, documentId: string, data = content): Promise<Answer> =>
  server.post('/v2/crdt/add', { ...at(documentId), schema, type: 'xml', data })

const read = async (documentId: string): Promise<Record<string, unknown>> =>
  (dataOf(await server.post('/v2/crdt/get', { ...at(documentId), format: 'xml' })) as [never])[0]

const migrate = (name: string, more: object = {}): Promise<Answer> =>
  server.post('/v2/crdt/schemas/migrate', { name, toVersion: 2, rules, userId: 'mia', ...more })

async function migrationOf(name: string): Promise<Migration> {
  let found: Migration = { status: 'none' }
  await eventually(async () => {
    const data = dataOf(await server.post('/v2/crdt/schemas/get', { name })) as { migration: Migration }
    found = data.migration
    return found.status === 'done'
  })
  return found
}

it('[FMT-200] rewrites the documents of a schema by rules, as edits with an author', async () => {
  const name = await newSchema()
  await add(name, 'a')
  await add(name, 'b', '<p>x</p>')
  const token = await server.token('ann')
  const editor = await syncedEditor(server.wsUrl, 'acme/a/main', token)
  const paragraph = editor.doc.getXmlFragment('default').get(0) as Y.XmlElement
  const updates: Uint8Array[] = []
  editor.doc.on('update', (update: Uint8Array) => updates.push(update))
  await server.post('/v2/crdt/schemas/set', { name, schema: after, version: 2 })
  expect(dataOf(await migrate(name))).toMatchObject({ status: 'running', toVersion: 2, processed: 0 })
  expect(await migrationOf(name)).toMatchObject({ processed: 2, changed: 2, failed: 0, failures: [] })
  expect(await read('a')).toMatchObject({ data: migrated, schemaVersion: 2, lastUpdatedBy: 'mia' })
  await eventually(() => updates.length === 1)
  expect(editor.doc.getXmlFragment('default').get(0)).toBe(paragraph)
  editor.close()
})

it('[COPY-7] rejects a copy of a version from before a migration, which does not match the attached schema', async () => {
  const name = await newSchema()
  await add(name, 'versioned')
  const { versionId } = dataOf(await server.post('/v2/crdt/versions/create', at('versioned'))) as {
    versionId: string
  }
  await server.post('/v2/crdt/schemas/set', { name, schema: after, version: 2 })
  await migrate(name)
  await migrationOf(name)
  const from = { documentId: 'versioned', editorId: 'main' }
  expect(
    await server.post('/v2/crdt/copy', { ...at('of-version'), from: { ...from, versionId } }),
  ).toMatchObject({
    body: { error: { details: { code: 'crdt/schema-violation' } } },
  })
  expect(await server.post('/v2/crdt/copy', { ...at('of-present'), from })).toMatchObject({ status: 200 })
})

it('[FMT-201] counts in a dry run what would change, and writes nothing', async () => {
  const name = await newSchema()
  await add(name, 'dry')
  await add(name, 'dry-empty', '<p/>')
  await server.post('/v2/crdt/schemas/set', { name, schema: after, version: 2 })
  const stored = await read('dry')
  await migrate(name, { dryRun: true, rules: rules.filter(({ rule }) => rule !== 'setDefault') })
  const report = await migrationOf(name)
  expect(report).toMatchObject({ dryRun: true, processed: 2, changed: 1, failed: 0 })
  expect(report.examples).toEqual([{ ...at('dry'), changes: expect.any(Number) }])
  expect(await read('dry')).toEqual(stored)
  expect(stored.schemaVersion).toBe(1)
})

it('[FMT-202] leaves an editor as it is, at its version, when the result does not match the schema', async () => {
  const name = await newSchema()
  await add(name, 'bad', '<p>a</p><image/>')
  await add(name, 'good', '<p>a</p>')
  await server.post('/v2/crdt/schemas/set', { name, schema: after, version: 2 })
  const stored = await read('bad')
  await migrate(name, { rules: [...rules, { rule: 'setDefault', node: 'image', name: 'size', value: 1 }] })
  expect(await migrationOf(name)).toMatchObject({
    changed: 1,
    failed: 1,
    failures: [{ ...at('bad'), code: 'crdt/schema-violation' }],
  })
  expect(await read('bad')).toEqual(stored)
  await migrate(name)
  expect(await migrationOf(name)).toMatchObject({ processed: 1, changed: 1, failed: 0 })
  expect(await read('bad')).toMatchObject({ schemaVersion: 2 })
  await server.post('/v2/crdt/schemas/set', { name, schema: after, version: 4 })
  await migrate(name, { toVersion: 4, rules: [] })
  expect(await migrationOf(name)).toMatchObject({ failed: 2, changed: 0 })
  for (const toVersion of [3, 4]) {
    await migrate(name, { toVersion, rules: [] })
    expect(await migrationOf(name)).toMatchObject({ processed: 2, changed: 0, failed: 0 })
  }
  expect(await read('good')).toMatchObject({ schemaVersion: 4 })
})

it('[FMT-202] leaves an editor as it is when the rules leave a node without the content that it needs', async () => {
  const name = await newSchema()
  const callout = { content: 'image+' }
  const schema = { ...before, nodes: { ...before.nodes, callout } }
  await add(name, 'emptied', '<callout><p>a</p></callout>')
  await server.post('/v2/crdt/schemas/set', { name, schema, version: 2 })
  const stored = await read('emptied')
  await migrate(name, { rules: [{ rule: 'dropNode', name: 'p' }] })
  expect(await migrationOf(name)).toMatchObject({
    changed: 0,
    failures: [{ ...at('emptied'), code: 'crdt/schema-violation' }],
  })
  expect(await read('emptied')).toEqual(stored)
})

it('[FMT-203] rejects rules that contradict each other, versions that do not exist, and a second migration', async () => {
  const name = await newSchema()
  const codeOf = async (more: object) => (await migrate(name, more)).body.error?.details
  expect(await codeOf({})).toMatchObject({ code: 'schema/invalid-migration', path: '/toVersion' })
  await server.post('/v2/crdt/schemas/set', { name, schema: after, version: 2 })
  const older = await server.post('/v2/crdt/schemas/set', { name, schema: before, version: 1 })
  expect(older.body.error?.details).toMatchObject({ code: 'schema/invalid' })
  const wrong: object[][] = [
    [{ rule: 'renameNode', name: 'a' }],
    [{ rule: 'dropNode', name: 'a', to: 'b' }],
    [{ rule: 'setDefault', name: 'a', value: 1 }],
    [
      { rule: 'renameNode', name: 'a', to: 'b' },
      { rule: 'dropNode', name: 'b' },
    ],
    [
      { rule: 'renameMark', name: 'a', to: 'b' },
      { rule: 'dropMark', name: 'a' },
    ],
    [
      { rule: 'wrapNode', name: 'a', to: 'b' },
      { rule: 'wrapNode', name: 'b', to: 'a' },
    ],
    [
      { rule: 'dropAttribute', node: 'p', name: 'a' },
      { rule: 'setDefault', node: 'p', name: 'a', value: 1 },
    ],
  ]
  for (const each of wrong)
    expect(await codeOf({ rules: each })).toMatchObject({ code: 'schema/invalid-migration' })
  for (let index = 0; index < 20; index += 1) await add(name, `second-${index}`, '<p>a</p>')
  await migrate(name)
  expect(await codeOf({})).toMatchObject({ code: 'schema/migration-running' })
  await migrationOf(name)
  const missing = await server.post('/v2/crdt/schemas/migrate', { name: 'none', toVersion: 2, rules })
  expect(missing.status).toBe(404)
})

it('[FMT-204] rewrites the open branches of an editor after the editor', async () => {
  const name = await newSchema()
  await add(name, 'branched')
  await server.post('/v2/crdt/branches/create', { ...at('branched'), name: 'draft', userId: 'ann' })
  await server.post('/v2/crdt/edit', {
    ...at('branched'),
    editorId: 'main@draft',
    edits: [{ insert: { at: 'end', format: 'xml', content: '<callout><p>new</p></callout>' } }],
  })
  await server.post('/v2/crdt/schemas/set', { name, schema: after, version: 2 })
  await migrate(name)
  expect(await migrationOf(name)).toMatchObject({ changed: 1, failed: 0 })
  const branch = await server.post('/v2/crdt/get', {
    ...at('branched'),
    editorId: 'main@draft',
    format: 'xml',
  })
  expect(dataOf(branch)).toMatchObject([
    { data: `${migrated}<panel tone="info"><p align="left">new</p></panel>`, schemaVersion: 2 },
  ])
})

it('[FMT-212] keeps a rewritten editor at the new version when a branch fails, and lists the branch', async () => {
  const name = await newSchema()
  await add(name, 'half', '<p>a</p>')
  await server.post('/v2/crdt/branches/create', { ...at('half'), name: 'draft', userId: 'ann' })
  const edits = [{ insert: { at: 'end', format: 'xml', content: '<image/>' } }]
  await server.post('/v2/crdt/edit', { ...at('half'), editorId: 'main@draft', edits })
  await server.post('/v2/crdt/schemas/set', { name, schema: after, version: 2 })
  await migrate(name, { rules: [...rules, { rule: 'setDefault', node: 'image', name: 'size', value: 1 }] })
  expect(await migrationOf(name)).toMatchObject({
    processed: 1,
    changed: 1,
    failed: 1,
    failures: [{ ...at('half'), editorId: 'main@draft', code: 'crdt/schema-violation' }],
  })
  expect(await read('half')).toMatchObject({ data: '<p align="left">a</p>', schemaVersion: 2 })
})

it('[FMT-205] continues after the server has stopped in the middle, and rewrites each editor once', async () => {
  const name = await newSchema()
  const documents = Array.from({ length: 16 }, (_, index) => `bulk-${index}`)
  for (const document of documents) await add(name, document)
  await server.post('/v2/crdt/schemas/set', { name, schema: after, version: 2 })
  const former = await read(documents[0] as string)
  await migrate(name)
  await eventually(async () => {
    const data = dataOf(await server.post('/v2/crdt/schemas/get', { name })) as { migration: Migration }
    return (data.migration.processed as number) > 2
  })
  await server.stop()
  server = await startTestServer({ engine: 'level', dataDir: directory })
  expect(await migrationOf(name)).toMatchObject({ processed: 16, failed: 0 })
  for (const document of documents)
    expect(await read(document)).toMatchObject({ data: migrated, schemaVersion: 2 })
  const [epoch, seq] = (former.version as string).split('.')
  expect((await read(documents[0] as string)).version).toBe(`${epoch}.${Number(seq) + 1}`)
})

it('[FMT-205] finishes an editor that it had rewritten when the store failed', async () => {
  const engine = rejectingCommits(await openMemoryEngine({ clock: systemClock }))
  const other = await startTestServer({}, { engine })
  const name = 'notes'
  const get = async (): Promise<unknown> =>
    dataOf(await other.post('/v2/crdt/get', { ...at('failing'), format: 'xml' }))
  await other.post('/v2/crdt/schemas/set', { name, schema: before })
  await other.post('/v2/crdt/add', { ...at('failing'), schema: name, type: 'xml', data: content })
  await other.post('/v2/crdt/branches/create', { ...at('failing'), name: 'draft', userId: 'ann' })
  const [{ version }] = (await get()) as [{ version: string }]
  await other.post('/v2/crdt/schemas/set', { name, schema: after, version: 2 })
  engine.rejects = ({ puts = [] }) =>
    puts.some(({ key, value }) => key[0] === 'editorSchemas' && !Buffer.from(value).includes('migratingFrom'))
  await other.post('/v2/crdt/schemas/migrate', { name, toVersion: 2, rules, userId: 'mia' })
  await eventually(() => engine.rejected > 0)
  expect(await get()).toMatchObject([{ data: migrated }])
  engine.rejects = () => false
  await eventually(async () => {
    const data = dataOf(await other.post('/v2/crdt/schemas/get', { name })) as { migration: Migration }
    return data.migration.status === 'done'
  })
  const [epoch, seq] = version.split('.')
  expect(await get()).toMatchObject([
    { data: migrated, schemaVersion: 2, version: `${epoch}.${Number(seq) + 1}` },
  ])
  await other.stop()
})

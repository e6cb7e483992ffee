import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sqlite from 'node-sqlite3-wasm'
import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import { offlineCatalog } from '../../src/capabilities/transfer/documents/catalog-offline.ts'
import { listOnline, type OnlineServer } from '../../src/capabilities/transfer/documents/rest-client.ts'
import {
  dryRunImport,
  type ImportSource,
  importInto,
} from '../../src/capabilities/transfer/import-documents.ts'
import { readNameMap } from '../../src/capabilities/transfer/name-mapping.ts'
import { openHocuspocusSqlite } from '../../src/capabilities/transfer/sources/hocuspocus-sqlite.ts'
import { openUpdates } from '../../src/capabilities/transfer/sources/updates.ts'
import { openYLeveldb } from '../../src/capabilities/transfer/sources/y-leveldb.ts'
import * as s from '../../src/core/base/schema.ts'
import { readCredentials } from '../../src/core/directory/tenants/credentials-file.ts'
import { forget, newStore, runImport, storedOf, summary, typedAfter } from '../support/data/import-sources.ts'
import { hostileUpdates } from '../support/faults/hostile-shapes.ts'
import { itLong } from '../support/time/full-run.ts'

const updatesBytesMax = 4_000_000
const noProgress = (): void => undefined
const naming = { map: new Map(), organizationId: 'old', editorId: 'main' }
const limits = (documentMsMax: number) =>
  ({ documentBytesMax: 10_000_000, documentMsMax, defaultAccess: 'public' }) as const
/** Yjs takes 11 s for it, in which no limit of steps ends it. */
const endless = hostileUpdates.circularClients(20_000)[0] as Uint8Array
const shortMs = 200
const isLate = { problem: 'it takes longer than 0.2 s to read' }

let root: string
let data: string

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'weft-hostile-'))
  data = await newStore()
}, 60_000)

afterAll(async () => {
  await forget(root)
  await forget(data)
})

const at = (...names: string[]): string => join(root, ...names)

async function tenant() {
  const { workspaceId = '', apiKey = '' } = (await readCredentials(data)) ?? {}
  return { workspaceId, apiKey }
}

const imported = async (open: () => Promise<ImportSource>, documentMsMax = 60_000) =>
  importInto(
    { directory: data, tenant: await tenant() },
    { open, naming, onProgress: noProgress },
    { ...limits(documentMsMax), deleted: 'refuse' },
  )

/** Writes one file for each document. */
function folderOf(name: string, documents: Readonly<Record<string, Uint8Array>>): string {
  mkdirSync(at(name))
  for (const [file, bytes] of Object.entries(documents)) writeFileSync(at(name, `${file}.bin`), bytes)
  return at(name)
}

it('[MOVE-60] rejects a document that takes longer than the deadline, and imports the others', async () => {
  const [sound] = typedAfter([], 'sound') as [Uint8Array]
  const folder = folderOf('late', { a: sound, b: endless, c: sound })
  const open = () => openUpdates(folder, updatesBytesMax)
  const late = [{ name: 'b', ...isLate }]
  const tried = await dryRunImport({ open, naming, onProgress: noProgress }, limits(shortMs))
  expect(tried).toMatchObject({ documents: 3, made: 2, problems: late })
  expect(await imported(open, shortMs)).toMatchObject({ documents: 3, made: 2, problems: late })
  const path = (documentId: string) => ({ organizationId: 'old', documentId, editorId: 'main' })
  const stored = await storedOf(data, ['a', 'b', 'c'].map(path))
  expect(stored.map((each) => each?.doc.getText('content').toString())).toEqual(['sound', undefined, 'sound'])
})

it('[MOVE-60] applies the deadline also to `doc put`', async () => {
  const path = { organizationId: 'old', documentId: 'late', editorId: 'main' }
  const catalog = offlineCatalog(data, await tenant(), limits(shortMs))
  await expect(catalog.apply(path, endless)).rejects.toThrow(isLate.problem)
})

it('[MOVE-60] imports large documents on the thread, one after the other', async () => {
  const large = folderOf('large', {
    x: hostileUpdates.singleCharacters(12_000)[0] as Uint8Array,
    y: hostileUpdates.reversedDeletions(15_000)[0] as Uint8Array,
  })
  const done = await imported(() => openUpdates(large, updatesBytesMax))
  expect(done).toMatchObject({ documents: 2, made: 2, problems: [] })
})

it('[MOVE-61] rejects pipes in place of files, because a read of them may never end', async () => {
  execFileSync('mkfifo', [at('pipe'), at('pipe.jsonl')])
  mkdirSync(at('leveldb'))
  execFileSync('mkfifo', [at('leveldb', 'CURRENT')])
  for (const read of [
    () => openUpdates(at('pipe'), updatesBytesMax),
    () => openUpdates(at('pipe.jsonl'), updatesBytesMax),
    () => openUpdates('/dev/zero', updatesBytesMax),
    () => openHocuspocusSqlite(at('pipe'), updatesBytesMax),
    () => openYLeveldb(at('leveldb'), updatesBytesMax),
    () => readNameMap(at('pipe')),
  ])
    await expect(read()).rejects.toThrow('it is not a file')
})

/** Writes a database, and returns its path. */
function databaseOf(name: string, sql: string): string {
  const database = new sqlite.Database(at(name))
  database.exec(sql)
  database.close()
  return at(name)
}

it('[MOVE-62] rejects a database whose documents are computed, before it computes any', async () => {
  const view = `CREATE VIEW documents AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
    SELECT i AS rowid, 'd' || i AS name, x'0000' AS data FROM n`
  const column =
    'CREATE TABLE documents (name TEXT, data AS (zeroblob(1000000000))); INSERT INTO documents VALUES (1)'
  for (const [name, sql] of Object.entries({ view, column }))
    await expect(openHocuspocusSqlite(databaseOf(name, sql), updatesBytesMax)).rejects.toThrow(
      'its documents are not a table of stored values',
    )
})

it('[MOVE-62] rejects a database whose pages contain each other', async () => {
  const file = databaseOf(
    'cyclic',
    `PRAGMA page_size = 512; CREATE TABLE documents (name TEXT, data BLOB);
     WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
     INSERT INTO documents SELECT 'd' || i, zeroblob(100) FROM n`,
  )
  const bytes = readFileSync(file)
  const rootPage = bytes.subarray(512, 1024)
  // An interior page has the number of its cells at 3, their places from 12, and a page in the first 4 bytes of each.
  expect(rootPage[0]).toBe(5)
  const places = Array.from({ length: rootPage.readUInt16BE(3) }, (_, cell) =>
    rootPage.readUInt16BE(12 + 2 * cell),
  )
  const first = rootPage.readUInt32BE(places[0] ?? 0)
  for (const place of places) rootPage.writeUInt32BE(first, place)
  rootPage.writeUInt32BE(first, 8)
  writeFileSync(file, bytes)
  await expect(openHocuspocusSqlite(file, updatesBytesMax)).rejects.toThrow('malformed')
})

it('[MOVE-63] rejects a document with more bytes than the limit without reading them all, and imports the others', async () => {
  const [sound] = typedAfter([], 'x') as [Uint8Array]
  const line = (name: string, update: Uint8Array): string =>
    `${JSON.stringify({ name, update: Buffer.from(update).toString('base64') })}\n`
  const part = Y.encodeStateAsUpdate(new Y.Doc())
  const tooMany = `${line('many', part)}${line('many', Buffer.alloc(updatesBytesMax))}`
  writeFileSync(at('many.jsonl'), `${tooMany}${line('many', part)}${line('after lines', sound)}`)
  const folder = folderOf('gigantic', { gigantic: sound, 'after file': sound })
  truncateSync(join(folder, 'gigantic.bin'), 2 ** 40)
  const rows = databaseOf(
    'gigantic.sqlite',
    `CREATE TABLE documents (name TEXT, data BLOB); INSERT INTO documents VALUES
     ('row', zeroblob(${updatesBytesMax + 1})), ('after row', x'${Buffer.from(sound).toString('hex')}')`,
  )
  const problem = `its updates have more than ${updatesBytesMax} bytes`
  for (const [name, open] of [
    ['many', () => openUpdates(at('many.jsonl'), updatesBytesMax)],
    ['gigantic', () => openUpdates(folder, updatesBytesMax)],
    ['row', () => openHocuspocusSqlite(rows, updatesBytesMax)],
  ] as const)
    expect(await imported(open)).toMatchObject({ documents: 2, made: 1, problems: [{ name, problem }] })
})

it('[MOVE-64] a listing ends when a page of a server names itself as the next one', async () => {
  const server: OnlineServer = {
    url: 'http://old',
    apiKey: 'key',
    authToken: 'token',
    send: () => Promise.resolve({ ok: true, data: ['item'], nextPage: 'next' }),
  }
  const listed = async (): Promise<void> => {
    for await (const _ of listOnline(server, '/v2/organizations/get', {}, s.array(s.string)));
  }
  await expect(listed()).rejects.toThrow('http://old returns pages of /v2/organizations/get that never end')
})

itLong('[MOVE-60] the command ends for every hostile shape', { timeout: 1_800_000 }, async () => {
  const documents = Object.entries(hostileUpdates).map(
    ([name, shape]) => [name, Y.mergeUpdates([...shape(20_000)])] as const,
  )
  const folder = folderOf('shapes', Object.fromEntries(documents))
  const ran = await runImport(data, 'updates', folder, '--organization', 'shapes', '--json')
  expect([ran.code, summary(ran)]).toMatchObject([1, { documents: documents.length }])
})

import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sqlite from 'node-sqlite3-wasm'
import { afterEach, beforeEach, expect, it } from 'vitest'
import * as Y from 'yjs'
import {
  allOf,
  docOf,
  filesOf,
  forget,
  newStore,
  pathOf,
  runImport,
  storedOf,
  typedAfter,
} from '../support/data/import-sources.ts'
import { startTestServer } from '../support/servers/server.ts'
import { itLong } from '../support/time/full-run.ts'

let data: string
let old: string
let file: string

beforeEach(async () => {
  data = await newStore()
  old = mkdtempSync(join(tmpdir(), 'weft-old-'))
  file = join(old, 'db.sqlite')
})

afterEach(async () => {
  await forget(data)
  await forget(old)
})

type Row = readonly [name: string | null, data: Uint8Array | string | null]

/** A database as Hocuspocus creates it, also with rows that it would never write. */
function write(rows: readonly Row[], pragma = ''): void {
  rmSync(file, { force: true })
  const database = new sqlite.Database(file)
  database.exec(`${pragma}; CREATE TABLE "documents" ("name" varchar(255), "data" blob, UNIQUE(name)); BEGIN`)
  for (const [name, content] of rows) database.run('INSERT INTO documents VALUES (?, ?)', [name, content])
  database.exec('COMMIT')
  database.close()
}

const state = (text: string): Uint8Array => Y.encodeStateAsUpdate(docOf(typedAfter([], text)))

/**
 * Created by @hocuspocus/extension-sqlite 4.7.0 itself, which needs a native module. Each document was stored
 * twice.
 */
const real = join(import.meta.dirname, 'fixtures', 'hocuspocus-4.7.0.sqlite')

it('[MOVE-2] imports everything that the real @hocuspocus/extension-sqlite has stored, and does not change its file', async () => {
  copyFileSync(real, file)
  const before = filesOf(old)
  const ran = await runImport(data, 'hocuspocus-sqlite', file, '--organization', 'old', '--json')
  expect([ran.err, ran.code]).toEqual(['', 0])
  expect(JSON.parse(ran.out)).toMatchObject({ ok: true, documents: 3, made: 3 })
  expect(filesOf(old)).toEqual(before)
  const names = ['acme/plan/main', 'my room/ä', 'rich text']
  const [plan, room, rich] = (await storedOf(data, names.map(pathOf))).map((each) => each?.doc)
  expect(plan?.getText('content').toJSON()).toBe('The plan is new.')
  expect(room?.getMap('data').toJSON()).toEqual({ list: [1, 'two', { three: 3 }] })
  expect(rich?.getXmlFragment('default').toJSON()).toBe('<paragraph>written in Tiptap</paragraph>')
})

itLong(
  '[MOVE-8] rejects a database that was last used in write-ahead log mode, and states the remedy',
  async () => {
    copyFileSync(real, file)
    const bytes = readFileSync(file)
    // Versions of the write and read format: 2 is a write-ahead log (SQLite's file format, 1.3.3).
    bytes.set([2, 2], 18)
    writeFileSync(file, bytes)
    const ran = await runImport(data, 'hocuspocus-sqlite', file, '--organization', 'old')
    expect([ran.code, ran.err]).toEqual([2, expect.stringContaining('PRAGMA journal_mode=DELETE') as string])
  },
)

itLong('[MOVE-2] imports more rows than one read returns, and rows whose ids have gaps', async () => {
  const rows = Array.from({ length: 600 }, (_, at): Row => [`acme/d${at}/main`, state(`text of ${at}`)])
  write(rows)
  const database = new sqlite.Database(file)
  database.run('DELETE FROM documents WHERE rowid % 7 = 0')
  database.close()
  const left = rows.filter((_, at) => (at + 1) % 7 !== 0)
  const ran = await runImport(data, 'hocuspocus-sqlite', file, '--json')
  expect(JSON.parse(ran.out)).toMatchObject({ ok: true, documents: left.length, made: left.length })
  const stored = await storedOf(
    data,
    left.map(([name]) => pathOf(name ?? '')),
  )
  expect(stored.map((each) => each && allOf(each.doc))).toEqual(
    left.map(([, bytes]) => allOf(docOf([bytes as Uint8Array]))),
  )
})

itLong('[MOVE-7] rejects rows without a valid update, names them, and imports the others', async () => {
  write([
    ['acme/first/main', state('first')],
    ['acme/null/main', null],
    ['acme/text/main', 'some text'],
    ['acme/bytes/main', Uint8Array.of(1, 2, 3)],
    [null, state('nameless')],
    ['acme/empty/main', new Uint8Array()],
    ['acme/last/main', state('last')],
  ])
  const ran = await runImport(data, 'hocuspocus-sqlite', file, '--organization', 'old', '--json')
  const { problems, ...counts } = JSON.parse(ran.out) as { problems: { name: string; problem: string }[] }
  expect(ran.code).toBe(1)
  expect(counts).toMatchObject({ documents: 7, made: 2 })
  expect(Object.fromEntries(problems.map(({ name, problem }) => [name, problem.split(':')[0]]))).toEqual({
    'acme/null/main': 'its data are not bytes',
    'acme/text/main': 'its data are not bytes',
    'acme/bytes/main': 'its update is malformed',
    'acme/empty/main': 'its update is malformed',
    'row 5': 'its name is not text',
  })
})

itLong(
  '[MOVE-8] rejects a file of another kind and a database that has a log or journal file, and writes nothing',
  async () => {
    const refused = async (sentence: string): Promise<void> => {
      const before = filesOf(old)
      const ran = await runImport(data, 'hocuspocus-sqlite', file)
      expect([ran.code, ran.out, ran.err]).toEqual([2, '', expect.stringContaining(sentence) as string])
      expect(filesOf(old)).toEqual(before)
    }
    await refused('there is no such file')
    writeFileSync(file, 'not a database, and long enough')
    await refused('is not a SQLite database')
    const database = new sqlite.Database(file.replace('db', 'other'))
    database.exec('CREATE TABLE "other" (x)')
    database.close()
    file = file.replace('db', 'other')
    await refused('no such table: documents')
    write([['acme/a/main', state('a')]])
    writeFileSync(`${file}-journal`, Buffer.from('d9d505f920a163d700000001', 'hex'))
    await refused('was being written')
    rmSync(`${file}-journal`)
    writeFileSync(`${file}-wal`, 'frames')
    await refused('has a write-ahead log')
    rmSync(`${file}-wal`)
    expect((await runImport(data, 'hocuspocus-sqlite', file)).code).toBe(0)
  },
)

itLong(
  '[MOVE-8] rejects a store that a server uses, and a store that no server has ever opened',
  async () => {
    write([['acme/a/main', state('a')]])
    const server = await startTestServer({ engine: 'level', dataDir: data })
    const ran = await runImport(data, 'hocuspocus-sqlite', file)
    expect([ran.code, ran.err]).toEqual([2, expect.stringContaining('is in use by the process') as string])
    await server.stop()
    expect(await storedOf(data, [pathOf('acme/a/main')])).toEqual([null])
    const elsewhere = await runImport(old, 'hocuspocus-sqlite', file)
    expect([elsewhere.code, elsewhere.err]).toEqual([
      2,
      expect.stringContaining('has no credentials') as string,
    ])
    const foreign = await runImport(data, 'hocuspocus-sqlite', file, '--api-key', 'nobody')
    expect([foreign.code, foreign.err]).toEqual([
      2,
      expect.stringContaining('not the configured API key "nobody"') as string,
    ])
  },
)

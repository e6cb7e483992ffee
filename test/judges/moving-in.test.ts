import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import * as Y from 'yjs'
import {
  allOf,
  docOf,
  filesOf,
  forget,
  type Moved,
  newStore,
  pathOf,
  runImport,
  sampleDocuments,
  storedOf,
  typedAfter,
} from '../support/moving.ts'
import { missingOf, openLeveldb } from './old-servers.ts'

const all = process.env.WEFT_TEST_ALL === '1'
const withoutLeveldb = missingOf(['y-leveldb'])
const withoutSqlite = missingOf(['@hocuspocus/extension-sqlite', 'better-sqlite3'])
for (const missing of [withoutLeveldb, withoutSqlite])
  if (missing.length > 0 && !all)
    console.log(`skipped: ${missing.join(', ')} not installed (cd test/judges && npm ci)`)

let data: string
let old: string

beforeEach(async () => {
  data = await newStore()
  old = mkdtempSync(join(tmpdir(), 'weft-old-'))
})

afterEach(async () => {
  await forget(data)
  await forget(old)
})

async function expectStored(documents: Moved): Promise<void> {
  const stored = await storedOf(data, [...documents.keys()].map(pathOf))
  const found = stored.map((each) => each && allOf(each.doc))
  expect(found).toEqual([...documents.values()].map((updates) => allOf(docOf(updates))))
}

const summary = ({ out }: { readonly out: string }): unknown => JSON.parse(out)

/** Stores each update as y-websocket's server does; every other document is flushed to one update. */
async function writeLeveldb(folder: string, documents: Moved): Promise<void> {
  const persistence = await openLeveldb(folder)
  for (const [index, [name, updates]] of [...documents].entries()) {
    for (const update of updates) await persistence.storeUpdate(name, update)
    if (index % 2 === 0) await persistence.flushDocument(name)
    await persistence.setMeta(name, 'update', { by: 'somebody' })
  }
  await persistence.destroy()
}

/** Stores the state of each document as Hocuspocus does: twice, of which the second time it is whole. */
async function writeSqlite(file: string, documents: Moved): Promise<void> {
  const { SQLite } = await import('@hocuspocus/extension-sqlite')
  const extension = new SQLite({ database: file })
  await extension.onConfigure()
  for (const [documentName, updates] of documents)
    for (const part of [updates.slice(0, 3), updates]) {
      const state = Buffer.from(Y.encodeStateAsUpdate(docOf(part)))
      await extension.configuration.store({ documentName, state } as never)
    }
  extension.db?.close()
}

it.skipIf(withoutLeveldb.length > 0 && !all)(
  '[MOVE-1] what the real y-leveldb has stored is in the store, byte-equal in state vector and deletions, and so is what it gets later',
  async () => {
    const seed = Date.now() % 1_000_000
    const documents = sampleDocuments(seed)
    const folder = join(old, 'leveldb')
    await writeLeveldb(folder, documents)
    const ran = await runImport(data, 'y-leveldb', folder, '--organization', 'old', '--json')
    expect({ seed, err: ran.err, code: ran.code }).toEqual({ seed, err: '', code: 0 })
    expect(summary(ran)).toMatchObject({ ok: true, documents: documents.size, made: documents.size })
    await expectStored(documents)
    const name = 'my room'
    const more = typedAfter(documents.get(name) ?? [], 'and more')
    await writeLeveldb(folder, new Map([[name, more]]))
    const again = await runImport(data, 'y-leveldb', folder, '--organization', 'old', '--json')
    expect(summary(again)).toMatchObject({ made: 0, added: 1, there: documents.size - 1 })
    await expectStored(new Map([...documents, [name, [...(documents.get(name) ?? []), ...more]]]))
  },
)

it.skipIf(withoutLeveldb.length > 0 && !all)(
  '[MOVE-8] a LevelDB that the old server has open is refused, and so is a folder that is none',
  async () => {
    const folder = join(old, 'leveldb')
    const serving = await openLeveldb(folder)
    await serving.storeUpdate('acme/plan/main', typedAfter([], 'x')[0] as Uint8Array)
    const ran = await runImport(data, 'y-leveldb', folder)
    expect([ran.code, ran.err]).toEqual([2, expect.stringContaining('stop the old server') as string])
    await serving.destroy()
    const none = await runImport(data, 'y-leveldb', old)
    expect([none.code, none.err]).toEqual([2, expect.stringContaining('holds no LevelDB') as string])
  },
)

it.skipIf(withoutSqlite.length > 0 && !all)(
  '[MOVE-2] what the real @hocuspocus/extension-sqlite has stored is in the store, and its file is as it was',
  async () => {
    const seed = Date.now() % 1_000_000
    const documents = sampleDocuments(seed)
    await writeSqlite(join(old, 'db.sqlite'), documents)
    const before = filesOf(old)
    const ran = await runImport(
      data,
      'hocuspocus-sqlite',
      join(old, 'db.sqlite'),
      '--organization',
      'old',
      '--json',
    )
    expect({ seed, err: ran.err, code: ran.code }).toEqual({ seed, err: '', code: 0 })
    expect(summary(ran)).toMatchObject({ ok: true, documents: documents.size, made: documents.size })
    await expectStored(documents)
    expect(filesOf(old)).toEqual(before)
  },
)

it.skipIf(withoutSqlite.length > 0 && !all)(
  '[MOVE-8] a database with a write-ahead log is refused, open or closed, with what makes it one that is read',
  async () => {
    const { SQLite } = await import('@hocuspocus/extension-sqlite')
    const file = join(old, 'db.sqlite')
    const extension = new SQLite({ database: file })
    await extension.onConfigure()
    extension.db?.pragma('journal_mode = WAL')
    const state = Buffer.from(typedAfter([], 'in the log')[0] ?? [])
    await extension.configuration.store({ documentName: 'acme/a/main', state } as never)
    const refused = [2, expect.stringContaining('PRAGMA journal_mode=DELETE') as string]
    const open = await runImport(data, 'hocuspocus-sqlite', file)
    expect([open.code, open.err]).toEqual(refused)
    extension.db?.close()
    const closed = await runImport(data, 'hocuspocus-sqlite', file)
    expect([closed.code, closed.err]).toEqual(refused)
    await extension.onConfigure()
    extension.db?.pragma('journal_mode = DELETE')
    extension.db?.close()
    expect((await runImport(data, 'hocuspocus-sqlite', file)).code).toBe(0)
    await expectStored(new Map([['acme/a/main', [state]]]))
  },
)

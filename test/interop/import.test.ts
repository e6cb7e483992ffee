import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import {
  expectStored,
  forget,
  type Moved,
  newStore,
  runImport,
  sampleDocuments,
  summary,
  typedAfter,
} from '../support/data/import-sources.ts'
import { seed } from '../support/data/seed.ts'
import { openLeveldb } from './legacy-servers.ts'

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

/** Stores each update like y-websocket's server; every second document is flushed to one update. */
async function writeLeveldb(folder: string, documents: Moved): Promise<void> {
  const persistence = await openLeveldb(folder)
  for (const [index, [name, updates]] of [...documents].entries()) {
    for (const update of updates) await persistence.storeUpdate(name, update)
    if (index % 2 === 0) await persistence.flushDocument(name)
    await persistence.setMeta(name, 'update', { by: 'somebody' })
  }
  await persistence.destroy()
}

it('[MOVE-1] imports everything that the real y-leveldb has stored, also later additions, with the same state vector, deletions and bytes', async () => {
  const documents = sampleDocuments(seed)
  const folder = join(old, 'leveldb')
  await writeLeveldb(folder, documents)
  const ran = await runImport(data, 'y-leveldb', folder, '--organization', 'old', '--json')
  expect({ seed, err: ran.err, code: ran.code }).toEqual({ seed, err: '', code: 0 })
  expect(summary(ran)).toMatchObject({ ok: true, documents: documents.size, made: documents.size })
  await expectStored(data, documents)
  const name = 'my room'
  const more = typedAfter(documents.get(name) ?? [], 'and more')
  await writeLeveldb(folder, new Map([[name, more]]))
  const again = await runImport(data, 'y-leveldb', folder, '--organization', 'old', '--json')
  expect(summary(again)).toMatchObject({ made: 0, added: 1, there: documents.size - 1 })
  await expectStored(data, new Map([...documents, [name, [...(documents.get(name) ?? []), ...more]]]))
})

it('[MOVE-8] rejects a LevelDB that the old server still uses, a folder that is not a LevelDB, and a store of Weft', async () => {
  const folder = join(old, 'leveldb')
  const serving = await openLeveldb(folder)
  await serving.storeUpdate('acme/plan/main', typedAfter([], 'x')[0] as Uint8Array)
  const ran = await runImport(data, 'y-leveldb', folder)
  expect([ran.code, ran.err]).toEqual([2, expect.stringContaining('stop the old server') as string])
  await serving.destroy()
  const none = await runImport(data, 'y-leveldb', old)
  expect([none.code, none.err]).toEqual([2, expect.stringContaining('holds no LevelDB') as string])
  const ours = await runImport(data, 'y-leveldb', join(data, 'store'))
  expect([ours.code, ours.err]).toEqual([2, expect.stringContaining('is a store of Weft') as string])
})

import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { restore } from '../../../src/capabilities/backups/storage/restore.ts'
import { verify } from '../../../src/capabilities/backups/storage/verify.ts'
import { loadRoom } from '../../../src/core/rooms/log/load-room.ts'
import { openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { claimable, docKey, loadLive, textOf } from '../suite/sample-data.ts'
import { type TemporaryDirectory, temporaryDirectory } from './store-tools.ts'

const kept = join(import.meta.dirname, '..', 'fixtures', 'format-2')
const ignore = () => undefined
let directory: TemporaryDirectory

beforeEach(async () => {
  directory = await temporaryDirectory()
})

afterEach(() => directory.remove())

async function expectAll(): Promise<void> {
  expect(await verify(directory.path, ignore)).toMatchObject({ damages: [], documents: 2 })
  const engine = await openLevelEngine({ directory: directory.path })
  const { log, kv, blobs } = engine
  for (const name of ['tail', 'compacted']) {
    const { state } = await loadRoom(log, docKey(name))
    expect(['by 1by 2', 'by 2by 1']).toContain(state.doc.getText('content').toString())
    expect((await loadLive(log, docKey(name))).changed.by).toBe('user 2')
  }
  expect(await log.load(docKey('deleted'))).toEqual({ state: 'deleted', epoch: 1 })
  expect(textOf((await kv.get(['part'], [['key']]))[0] ?? null)).toBe('value')
  expect(textOf(await blobs.get(['blob']))).toBe('bytes')
  expect(await claimable(engine)).toEqual(['id'])
  await engine.close()
}

it('[STORE-12] opens a store of format 2 with all its content', async () => {
  await cp(join(kept, 'store'), directory.store, { recursive: true })
  await expectAll()
})

it('[STORE-12] restores a backup of a store of format 2 with all its content', async () => {
  await restore(join(kept, 'backup'), directory.path, ignore)
  await expectAll()
})

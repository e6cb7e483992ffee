import { cp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { backupOffline } from '../../../src/capabilities/backups/storage/backup.ts'
import { openForReading } from '../../../src/capabilities/backups/storage/offline-store.ts'
import { verify } from '../../../src/capabilities/backups/storage/verify.ts'
import { systemClock } from '../../../src/core/base/clock.ts'
import { EngineOpenError } from '../../../src/core/store/engine.ts'
import { openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { compactFiles, startProblem } from '../../../src/core/store/level/maintenance.ts'
import { bytesOf } from '../suite/sample-data.ts'
import { flipped, type TemporaryDirectory, temporaryDirectory } from './store-tools.ts'

const keys = 1_500
const keysPerBatch = 150

let directory: TemporaryDirectory

beforeEach(async () => {
  directory = await temporaryDirectory()
  const engine = await openLevelEngine({ directory: directory.path })
  for (let first = 0; first < keys; first += keysPerBatch) {
    const batch = Array.from({ length: keysPerBatch }, (_, index) => `${first + index}`)
    await engine.kv.commit(['p'], { puts: batch.map((key) => ({ key: [key], value: bytesOf(key) })) })
  }
  await engine.close()
})

afterEach(() => directory.remove())

const open = () => openLevelEngine({ directory: directory.path })

const nameOf = async (pattern: RegExp): Promise<string> =>
  join(directory.store, (await readdir(directory.store)).find((name) => pattern.test(name)) ?? '')

async function cutLog(): Promise<string> {
  const path = await nameOf(/\.log$/)
  await truncate(path, Math.floor((await stat(path)).size / 2))
  return path
}

async function countKeys(): Promise<number> {
  const engine = await open()
  const found = await engine.kv.scan(['p'], { limit: 2 * keys })
  await engine.close()
  return found.length
}

const refusal = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => (error instanceof EngineOpenError ? `${error.reason}: ${error.message}` : 'else'),
  )

const refused = /^corrupted: .*\.log has \d+ of its \d+ bytes fewer .*restore .*remove .*CLOSED/

it('[STORE-20] when the log was truncated after a clean stop, rejects each start, and changes nothing', async () => {
  const path = await cutLog()
  const before = await readFile(path)
  for (let start = 0; start < 2; start++) expect(await refusal(open())).toMatch(refused)
  expect(await refusal(openForReading(directory.path))).toMatch(refused)
  expect(await refusal(backupOffline(directory.path, systemClock).next())).toMatch(refused)
  expect(await refusal(compactFiles(directory.path))).toMatch(refused)
  expect(await readFile(path)).toEqual(before)
})

it('[STORE-20] rejects a start when the log was changed or removed after a clean stop', async () => {
  const path = await nameOf(/\.log$/)
  const bytes = await readFile(path)
  await writeFile(path, flipped(bytes, Math.floor(bytes.length / 2)))
  expect(await refusal(open())).toMatch(/^corrupted: .*\.log is not what it was/)
  await rm(path)
  expect(await refusal(open())).toMatch(/^corrupted: .*\.log is missing/)
})

it('[STORE-20] rejects each start after verify has reported the truncated log, until the file CLOSED is removed', async () => {
  await cutLog()
  for (let run = 0; run < 2; run++) {
    const { damages } = await verify(directory.path, () => undefined)
    expect(damages).toMatchObject([{ kind: 'file', what: expect.stringMatching(/\.log$/) }])
    expect(await startProblem(directory.path)).toMatch(/\.log has \d+/)
    expect(await refusal(open())).toMatch(refused)
  }
  await rm(join(directory.store, 'CLOSED'))
  expect(await startProblem(directory.path)).toBeNull()
  const left = await countKeys()
  expect(left).toBeGreaterThan(0)
  expect(left).toBeLessThan(keys)
  expect(await countKeys()).toBe(left)
})

it('[STORE-21] opens a store that was copied after a clean stop, after a crash, or after an opening that was interrupted at any step', async () => {
  const closed = `${directory.path} closed`
  await cp(directory.path, closed, { recursive: true })
  const engine = await open()
  const crashed = `${directory.path} crashed`
  await cp(directory.path, crashed, { recursive: true })
  await engine.close()
  const stores = [closed, crashed]
  // An interrupted opening leaves any of the files that it removes.
  for (const former of await readdir(join(closed, 'store'))) {
    const isNew = await stat(join(crashed, 'store', former)).then(
      () => false,
      () => true,
    )
    if (!isNew) continue
    const opened = `${crashed} with ${former}`
    await cp(crashed, opened, { recursive: true })
    await cp(join(closed, 'store', former), join(opened, 'store', former))
    stores.push(opened)
  }
  expect(stores.length).toBeGreaterThan(3)
  for (const store of stores) {
    const other = `${store} for verify`
    await cp(store, other, { recursive: true })
    expect([store, (await verify(other, () => undefined)).damages]).toEqual([store, []])
    const opened = await openLevelEngine({ directory: store })
    expect((await opened.kv.scan(['p'], { limit: 2 * keys })).length).toBe(keys)
    await opened.close()
    for (const path of [store, other]) await rm(path, { recursive: true })
  }
})

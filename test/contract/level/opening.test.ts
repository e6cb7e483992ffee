import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, chmod, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { EngineOpenError, type OpenFailure } from '../../../src/core/store/engine.ts'
import { type LevelEngine, openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { addChecksum } from '../../../src/core/store/pairs/record-codec.ts'
import { docKey, entriesOf, loadLive, updates } from '../suite/sample-data.ts'
import { overwrite, storedPair, type TemporaryDirectory, temporaryDirectory } from './store-tools.ts'

const doc = docKey('document')
let directory: TemporaryDirectory

beforeEach(async () => {
  directory = await temporaryDirectory()
})

afterEach(() => directory.remove())

const open = (path = directory.path): Promise<LevelEngine> => openLevelEngine({ directory: path })

/** A store with one document, closed. */
async function fill(): Promise<void> {
  const engine = await open()
  await engine.log.append(doc, 'create', updates('1'))
  await engine.close()
}

async function expectRefused(reason: OpenFailure, sentence: RegExp): Promise<void> {
  const error = await open().then(
    (engine) => engine.close().then(() => 'opened'),
    (error: unknown) => error,
  )
  expect(error).toBeInstanceOf(EngineOpenError)
  expect((error as EngineOpenError).reason).toBe(reason)
  expect((error as EngineOpenError).message).toMatch(sentence)
  expect((error as EngineOpenError).message).toContain(directory.path)
}

it('[ENG-63] creates a missing data directory that only its owner can read', async () => {
  const path = join(directory.path, 'new', 'data')
  const engine = await open(path)
  expect(engine.warnings).toEqual([])
  await engine.close()
  for (const made of [join(directory.path, 'new'), path]) expect((await stat(made)).mode & 0o777).toBe(0o700)
})

it('[OPS-23] rejects a directory that this process or another one uses', async () => {
  const engine = await open()
  await expectRefused('locked', /in use/)
  await engine.close()
  const holder = spawn(process.execPath, [
    '--import',
    'tsx',
    join(import.meta.dirname, 'crash-child.ts'),
    directory.path,
  ])
  await once(holder.stdout, 'data')
  await expectRefused('locked', /in use/)
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  await (await open()).close()
})

it('[ENG-65] if the store has tables but the file CURRENT is missing, does not open it, and creates no empty store', async () => {
  await fill()
  await (await open()).close()
  expect((await readdir(directory.store)).some((name) => name.endsWith('.ldb'))).toBe(true)
  await rename(join(directory.store, 'CURRENT'), join(directory.path, 'CURRENT'))
  const before = await readdir(directory.store)
  await expectRefused('corrupted', /CURRENT/)
  expect(await readdir(directory.store)).toEqual(before)
  await rename(join(directory.path, 'CURRENT'), join(directory.store, 'CURRENT'))
  const engine = await open()
  expect(entriesOf(await loadLive(engine.log, doc))).toEqual([[1, '1']])
  await engine.close()
})

it('[ENG-65] if the creation of a store was interrupted, creates the store again', async () => {
  await mkdir(directory.store, { recursive: true })
  await writeFile(join(directory.store, 'LOCK'), '')
  await writeFile(join(directory.store, 'LOG'), 'text')
  await writeFile(join(directory.store, 'MANIFEST-000001'), 'half')
  await (await open()).close()
})

it('[ENG-66] rejects a damaged store with a one-sentence error', async () => {
  await fill()
  await writeFile(join(directory.store, 'CURRENT'), 'nonsense\n')
  await expectRefused('corrupted', /damaged|backup/)
  const manifest = (await readdir(directory.store)).find((name) => name.startsWith('MANIFEST')) ?? ''
  await writeFile(join(directory.store, 'CURRENT'), `${manifest}\n`)
  await rm(join(directory.store, manifest))
  await expectRefused('corrupted', /damaged|backup/)
})

it('[ENG-66] warns about records that LevelDB has dropped because they were damaged', async () => {
  const engine = await open()
  for (let seq = 1; seq <= 5; seq++) {
    await engine.log.append(doc, seq === 1 ? 'create' : 1, [
      { bytes: new Uint8Array(40_000).fill(seq), by: '' },
    ])
  }
  await engine.close()
  const log = (await readdir(directory.store)).find((name) => name.endsWith('.log')) ?? ''
  const path = join(directory.store, log)
  const bytes = await readFile(path)
  bytes.fill(0xff, 90_000, 90_010)
  await writeFile(path, bytes)
  // With the list of closed files the store is rejected before LevelDB opens it.
  await rm(join(directory.store, 'CLOSED'))
  const reopened = await open()
  expect(reopened.warnings.join('\n')).toMatch(/corruption/i)
  await reopened.close()
})

it('[ENG-67] [STORE-13] rejects a store of another format, and states the remedy', async () => {
  await fill()
  const [key] = await storedPair(directory.store, 'format')
  await overwrite(directory.store, key, addChecksum(key, Buffer.of(9)))
  await expectRefused('newerFormat', /newer version.*format 9/)
  await overwrite(directory.store, key, addChecksum(key, Buffer.of(0)))
  await expectRefused('olderFormat', /older version.*format 0, this one knows 2.*use that version/)
  await overwrite(directory.store, key, Buffer.from('nonsense'))
  await expectRefused('corrupted', /damaged|backup/)
})

it('[ENG-67] rejects a LevelDB of another program, and does not change it', async () => {
  await mkdir(directory.store)
  await overwrite(directory.store, Buffer.from('some key'), Buffer.from('some value'))
  await expectRefused('corrupted', /not known/)
  expect((await storedPair(directory.store, '')).toString()).toBe('some key,some value')
})

it('[ENG-68] rejects an unusable path with a one-sentence error', async () => {
  await writeFile(directory.store, 'a file')
  await expectRefused('failed', /cannot be opened/)
})

it.skipIf(process.getuid?.() === 0)('[ENG-68] rejects a directory that it cannot write', async () => {
  await fill()
  await chmod(directory.store, 0o500)
  await expectRefused('readOnly', /cannot be written/)
  await chmod(directory.store, 0o700)
})

it('[ENG-69] accepts a store whose last record a crash left incomplete', async () => {
  await fill()
  const log = (await readdir(directory.store)).find((name) => name.endsWith('.log')) ?? ''
  await appendFile(join(directory.store, log), Buffer.from([1, 2, 3, 4, 200, 0, 1, 9, 9]))
  const engine = await open()
  expect(engine.warnings).toEqual([])
  expect(entriesOf(await loadLive(engine.log, doc))).toEqual([[1, '1']])
  await engine.close()
})

import { randomBytes } from 'node:crypto'
import { cp, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { backupOffline } from '../../../src/capabilities/backups/storage/backup.ts'
import { openOfflineStore } from '../../../src/capabilities/backups/storage/offline-store.ts'
import { verify } from '../../../src/capabilities/backups/storage/verify.ts'
import { systemClock } from '../../../src/core/base/clock.ts'
import type { Log } from '../../../src/core/base/log.ts'
import { CorruptRecordError, type Engine, EngineOpenError } from '../../../src/core/store/engine.ts'
import { type LevelEngine, openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { ByteCursor } from '../../../src/core/store/level/files/table-check.ts'
import { compactFiles } from '../../../src/core/store/level/maintenance.ts'
import { openLevelStore, type Store } from '../../../src/core/store/level/store/store.ts'
import { runCli } from '../../support/servers/cli.ts'
import { itLong } from '../../support/time/full-run.ts'
import { bytesOf } from '../suite/sample-data.ts'

const names = Array.from({ length: 60 }, (_, index) => `name ${10 + index}`)
const ignore = () => undefined

let root: string
let copies = 0
/** The only table of the store that the tests copy. */
let table: string
let sound: Buffer

const storeOf = (directory: string): string => join(directory, 'store')
const closedOf = (directory: string): string => join(storeOf(directory), 'CLOSED')
const tableOf = (directory: string): string => join(storeOf(directory), table)

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'weft-fence-'))
  const template = join(root, 'template')
  const engine = await openLevelEngine({ directory: template })
  for (const name of names) {
    // The value does not compress well.
    const value = bytesOf(`${name} ${randomBytes(1_000).toString('latin1')}`)
    await engine.kv.commit(['p'], { puts: [{ key: [name], value }] })
  }
  await engine.close()
  await compactFiles(template)
  const tables = (await readdir(storeOf(template))).filter((name) => name.endsWith('.ldb'))
  expect(tables.length).toBe(1)
  table = tables[0] as string
  sound = await readFile(tableOf(template))
})

afterAll(() => rm(root, { recursive: true, force: true, maxRetries: 20 }))

interface Block {
  readonly at: number
  /** Position of the kind of compression. */
  readonly kindAt: number
}

const readBlock = (cursor: ByteCursor): Block => {
  const at = cursor.varint()
  return { at, kindAt: at + cursor.varint() }
}

function blocks(): { readonly filter: Block; readonly index: Block } {
  const footer = new ByteCursor(sound.subarray(-48))
  const metaindex = readBlock(footer)
  const index = readBlock(footer)
  const entry = new ByteCursor(sound.subarray(metaindex.at))
  entry.varint()
  const keyBytes = entry.varint()
  entry.varint()
  entry.bytes(keyBytes)
  return { filter: readBlock(entry), index }
}

/** Shortens the first key of a block. LevelDB would end the process when it reads such a block. */
function withShortKey(at: number): Buffer {
  const bytes = Buffer.from(sound)
  bytes[at + 1] = 3
  return bytes
}

async function damagedCopy(bytes = withShortKey(0)): Promise<string> {
  copies += 1
  const directory = join(root, String(copies))
  await cp(join(root, 'template'), directory, { recursive: true })
  await writeFile(tableOf(directory), bytes)
  return directory
}

/** Changes the list of files so that it accepts the table, as if the damage were older than the list. */
async function takenForSound(directory: string): Promise<string> {
  const list = JSON.parse(await readFile(closedOf(directory), 'utf8')) as {
    files: { name: string; crc: number }[]
  }
  for (const file of list.files) if (file.name === table) file.crc = crc32(await readFile(tableOf(directory)))
  await writeFile(closedOf(directory), JSON.stringify(list))
  return directory
}

/** Returns the names of rejected values. Other values must be as they were written. */
async function refused({ kv }: Engine): Promise<readonly string[]> {
  const found: string[] = []
  for (const name of names) {
    try {
      const [value] = await kv.get(['p'], [[name]])
      expect(Buffer.from(value ?? []).toString()).toMatch(new RegExp(`^${name} `))
    } catch (error) {
      if (!(error instanceof CorruptRecordError)) throw error
      found.push(name)
    }
  }
  return found
}

/** Returns the bytes in which the table differs from `before`. */
async function changedIn(directory: string, before: Buffer): Promise<readonly (readonly number[])[]> {
  const after = await readFile(tableOf(directory))
  return [...after.entries()].flatMap(([at, byte]) =>
    byte === before[at] ? [] : [[at, before[at] as number, byte]],
  )
}

/** Returns the error of a failed opening. */
async function failureOf(opening: Promise<unknown>): Promise<EngineOpenError> {
  const error = await opening.catch((reason: unknown) => reason)
  if (error instanceof EngineOpenError) return error
  throw new Error('it has been opened')
}

const fenceTold = /byte (\d+) was changed from (\d+) to (\d+)/

async function expectFenced(directory: string, what: string): Promise<void> {
  const [changed, ...others] = await changedIn(directory, withShortKey(0))
  expect(others, what).toEqual([])
  expect(changed?.[2], what).toBe((changed?.[1] as number) | 128)
}

for (const end of ['an orderly end', 'a crash'] as const)
  it(`[STORE-17] after ${end}, each start rejects reads of a damaged block and serves all other data`, async () => {
    const directory = await damagedCopy()
    if (end === 'a crash') await rm(closedOf(directory))
    for (let round = 0; round < 3; round++) {
      const engine = await openLevelEngine({ directory })
      const told = fenceTold.exec(engine.warnings.join('; '))?.slice(1).map(Number)
      expect(await changedIn(directory, withShortKey(0)), `start ${round}`).toEqual([told])
      expect(engine.warnings.join('; ')).toContain(table)
      const lost = await refused(engine)
      expect(lost.length).toBeGreaterThan(0)
      expect(lost.length).toBeLessThan(names.length / 2)
      await engine.close()
    }
    const { damages } = await verify(directory, ignore)
    expect(damages.find(({ what }) => what === table)?.problem).toMatch(fenceTold)
  })

it('[STORE-17] rejects reads of a table with a damaged index, and reads a table with a damaged filter without this filter', async () => {
  const { index, filter } = blocks()
  // This table also contains the format of the store.
  const error = await failureOf(openLevelEngine({ directory: await damagedCopy(withShortKey(index.at)) }))
  expect(error.reason).toBe('corrupted')
  expect(error.message).toContain(table)
  expect(error.message).toMatch(fenceTold)
  const emptied = Buffer.from(sound)
  emptied.fill(0, filter.at, filter.kindAt - 8)
  const slow = await openLevelEngine({ directory: await damagedCopy(emptied) })
  expect(await refused(slow)).toEqual([])
  await slow.close()
})

it('[STORE-17] rejects a scan or a backup that reaches a damaged block, instead of returning a part of the data', async () => {
  const directory = await damagedCopy()
  const engine = await openLevelEngine({ directory })
  const lost = await refused(engine)
  const after = names.slice(names.indexOf(lost.at(-1) as string) + 1)
  await expect(engine.kv.scan(['p'], { limit: names.length })).rejects.toBeInstanceOf(CorruptRecordError)
  const read = await engine.kv.scan(['p'], { after: [after[0] as string], limit: names.length })
  expect(read.map(({ key: [name] }) => name)).toEqual(after.slice(1))
  await engine.close()
  const all = async () => {
    for await (const _ of backupOffline(directory, systemClock));
  }
  await expect(all()).rejects.toBeInstanceOf(CorruptRecordError)
})

it('[STORE-17] each command that opens a stopped store checks every table', async () => {
  const commands: Readonly<Record<string, (directory: string) => Promise<unknown>>> = {
    verify: (directory) => verify(directory, ignore),
    audit: async (directory) => (await openOfflineStore(directory, 'open')).close(),
    backup: (directory) => backupOffline(directory, systemClock).next(),
    compact: (directory) => compactFiles(directory).catch(ignore),
  }
  for (const [what, command] of Object.entries(commands)) {
    const directory = await takenForSound(await damagedCopy())
    await command(directory)
    await expectFenced(directory, what)
  }
})

it('[STORE-17] reports a damaged block at each start, even if the store has much newer tables', async () => {
  const directory = await damagedCopy()
  await (await openLevelEngine({ directory })).close()
  // LevelDB removes this file.
  const newer = join(storeOf(directory), '999999.ldb')
  await writeFile(newer, '')
  await truncate(newer, 129 * 1024 * 1024)
  const engine = await openLevelEngine({ directory })
  expect(engine.warnings).toEqual([expect.stringMatching(fenceTold)])
  await engine.close()
})

it('[STORE-17] writes nothing into a store that another process uses', async () => {
  const directory = await damagedCopy(sound)
  const engine = await openLevelEngine({ directory })
  await writeFile(tableOf(directory), withShortKey(0))
  expect((await failureOf(openLevelEngine({ directory }))).reason).toBe('locked')
  expect((await failureOf(verify(directory, ignore))).reason).toBe('locked')
  expect(await changedIn(directory, withShortKey(0))).toEqual([])
  await writeFile(tableOf(directory), sound)
  await engine.close()
})

itLong(
  '[STORE-18] `weft compact` rejects a store with a damaged table, and keeps the report of the damage',
  async () => {
    const directory = await damagedCopy()
    const list = await readFile(closedOf(directory), 'utf8')
    for (let round = 0; round < 2; round++) {
      const { code, err } = await runCli(['compact', directory], root)
      expect(code).not.toBe(0)
      expect(err).toContain(`weft verify ${directory}`)
      expect(err).toContain(table)
      expect(err).toContain('restore')
    }
    await expectFenced(directory, 'compact')
    const { files } = JSON.parse(await readFile(closedOf(directory), 'utf8')) as { files: unknown }
    expect(files).toEqual((JSON.parse(list) as { files: unknown }).files)
    const { damages } = await verify(directory, ignore)
    expect(damages.some(({ what }) => what === table)).toBe(true)
  },
  60_000,
)

itLong(
  '[STORE-18] `weft compact` rejects a store whose log has changed, and does not open the store',
  async () => {
    const directory = await damagedCopy(sound)
    const engine = await openLevelEngine({ directory })
    await engine.kv.commit(['p'], { puts: [{ key: ['one'], value: bytesOf('more') }] })
    await engine.close()
    const names = await readdir(storeOf(directory))
    const log = join(storeOf(directory), names.find((name) => name.endsWith('.log')) ?? '')
    await truncate(log, (await readFile(log)).length - 1)
    for (const compacting of [() => openOfflineStore(directory, 'refuse'), () => compactFiles(directory)]) {
      await expect(compacting()).rejects.toThrow(/is damaged \(.+\.log .+weft verify/)
      expect(await readdir(storeOf(directory))).toEqual(names)
    }
  },
)

/** A store that can rewrite its tables on request, and whose next opening can be delayed. */
interface Held {
  store: Store | null
  opening: Promise<void>
}

async function openHeld(directory: string, held: Held, lines: string[]): Promise<LevelEngine> {
  const line = (about: unknown, what?: unknown) => void lines.push(`${JSON.stringify(about)} ${String(what)}`)
  const log = { info: line, warn: line, error: line, debug: line } as unknown as Log
  const openStore = async (path: string) => {
    await held.opening
    held.store = await openLevelStore(path)
    return held.store
  }
  return openLevelEngine({ directory, openStore, log })
}

it('[STORE-19] when a table compaction reads a damaged block, loses no acknowledged write, and names the table in the readiness check and the log', async () => {
  const directory = await damagedCopy()
  const held: Held = { store: null, opening: Promise.resolve() }
  const lines: string[] = []
  const engine = await openHeld(directory, held, lines)
  const put = (name: string) =>
    engine.kv.commit(['p'], { puts: [{ key: ['name 10', name], value: bytesOf(name) }] })
  await put('before')
  await held.store?.compactTables()
  let release: () => void = ignore
  held.opening = new Promise((resolve) => {
    release = resolve
  })
  const acknowledged = put('meanwhile')
  await expect.poll(() => engine.health()).toEqual({ ok: false, reason: expect.stringContaining(table) })
  release()
  await acknowledged
  await put('after')
  expect(engine.health()).toEqual({ ok: true })
  expect(lines.filter((line) => line.includes('a write failed') && line.includes(table))).not.toEqual([])
  await engine.close()
  const again = await openLevelEngine({ directory })
  const keys = ['before', 'meanwhile', 'after']
  const values = await again.kv.get(
    ['p'],
    keys.map((name) => ['name 10', name]),
  )
  expect(values.map((value) => Buffer.from(value ?? []).toString())).toEqual(keys)
  await again.close()
})

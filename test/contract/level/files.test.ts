import { cp, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { verify } from '../../../src/capabilities/backups/storage/verify.ts'
import { CorruptRecordError, type Engine, EngineOpenError } from '../../../src/core/store/engine.ts'
import { openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { checkManifest } from '../../../src/core/store/level/files/file-manifest.ts'
import { compactFiles } from '../../../src/core/store/level/maintenance.ts'
import { typed } from '../../support/clients/clients.ts'
import { Random } from '../../support/data/random-doc.ts'
import { seed } from '../../support/data/seed.ts'
import { bytesOf, docKey, textOf } from '../suite/sample-data.ts'
import { flipped } from './store-tools.ts'

const all = process.env.WEFT_TEST_LONG === '1'
const [flips, cuts] = all ? [60, 30] : [6, 4]
const names = Array.from({ length: 12 }, (_, index) => `document ${index}`)
const kinds = { CURRENT: /^CURRENT$/, MANIFEST: /^MANIFEST/, '.ldb': /\.ldb$/, '.log': /\.log$/ }
type Kind = keyof typeof kinds
/** The footer and the index of the table here, and a part of its filter. */
const searchedBytes = 200

let root: string
let copies = 0
const template = () => join(root, 'template')

/** Text that does not compress well. */
const textOfDocument = (random: Random): string =>
  Array.from({ length: 900 }, () => String.fromCharCode(97 + random.below(26))).join('')

async function fill(engine: Engine, random: Random, epochs: 'create' | 'append'): Promise<void> {
  for (const [index, name] of names.entries()) {
    const update = { bytes: typed(textOfDocument(random), epochs === 'create' ? 1 : 2), by: 'ada' }
    await engine.log.append(docKey(name), epochs === 'create' ? 'create' : 1, [update])
    await engine.kv.commit(['p'], { puts: [{ key: [epochs, name], value: bytesOf(`value ${index}`) }] })
  }
}

/** The readable content: the text of each document and value, or its rejection. */
async function contentsOf(engine: Engine): Promise<readonly string[]> {
  const read = async (what: () => Promise<string>) => {
    try {
      return await what()
    } catch (error) {
      if (error instanceof CorruptRecordError) return 'refused'
      throw error
    }
  }
  const found: string[] = []
  for (const name of names) {
    found.push(await read(async () => JSON.stringify(await engine.log.load(docKey(name)))))
    for (const epoch of ['create', 'append'])
      found.push(
        await read(async () => textOf((await engine.kv.get(['p'], [[epoch, name]]))[0] ?? null) ?? 'nothing'),
      )
  }
  return found
}

let sound: readonly string[]

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'weft-files-'))
  const random = new Random(seed)
  let engine = await openLevelEngine({ directory: template() })
  await fill(engine, random, 'create')
  await engine.close()
  await compactFiles(template())
  engine = await openLevelEngine({ directory: template() })
  await fill(engine, random, 'append')
  sound = await contentsOf(engine)
  await engine.close()
})

afterAll(() => rm(root, { recursive: true, force: true, maxRetries: 20 }))

async function copy(): Promise<string> {
  copies += 1
  const path = join(root, String(copies))
  await cp(template(), path, { recursive: true })
  return path
}

/** A copy in which one file is damaged by `how`. */
async function damagedCopy(kind: Kind, how: (path: string, bytes: Buffer) => Promise<void>): Promise<string> {
  const directory = await copy()
  const store = join(directory, 'store')
  const name = (await readdir(store)).find((each) => kinds[kind].test(each))
  if (name === undefined) throw new Error(`no ${kind}`)
  const path = join(store, name)
  await how(path, await readFile(path))
  return directory
}

/**
 * The warnings of a start and the content that is read then; null if the start is rejected with a sentence.
 */
async function start(
  directory: string,
): Promise<{ warnings: readonly string[]; read: readonly string[] } | null> {
  try {
    const engine = await openLevelEngine({ directory })
    const { warnings } = engine
    const read = await contentsOf(engine)
    await engine.close()
    return { warnings, read }
  } catch (error) {
    if (error instanceof EngineOpenError && error.reason === 'corrupted') return null
    throw error
  }
}

const ignore = () => undefined

/** The list of files at the time of the close. */
const closedList = (directory: string) => join(directory, 'store', 'CLOSED')

async function expectReported(directory: string, what: string): Promise<void> {
  await expectVerified(directory, what)
  const started = await start(directory)
  expect(started === null || started.warnings.length > 0, what).toBe(true)
}

async function expectVerified(directory: string, what: string): Promise<void> {
  const other = `${directory} for verify`
  await cp(directory, other, { recursive: true })
  const { damages } = await verify(other, ignore)
  expect(damages.length, what).toBeGreaterThan(0)
}

it('[STORE-7] finds no damage in an undamaged store', async () => {
  const directory = await copy()
  expect((await verify(directory, ignore)).damages).toEqual([])
  const started = await start(await copy())
  expect(started).toEqual({ warnings: [], read: sound })
})

it('[STORE-7] accepts an undamaged store even if its list of files is damaged', async () => {
  for (const text of [
    '',
    '{"files":[{"nbme":"CURRENT","bytes":1,"crc":1}]}',
    '{"files":[{"name":"MANIFEST"}]}',
  ]) {
    const directory = await copy()
    await writeFile(closedList(directory), text)
    expect((await verify(directory, ignore)).damages).toEqual([])
    await writeFile(closedList(directory), text)
    expect(await start(directory)).toEqual({ warnings: [], read: sound })
  }
})

for (const kind of Object.keys(kinds) as Kind[]) {
  it(`[STORE-7] reports any changed bit of ${kind} (seed ${seed})`, async () => {
    const random = new Random(seed)
    for (let round = 0; round < flips; round++) {
      let at = 0
      const directory = await damagedCopy(kind, async (path, bytes) => {
        at = random.below(bytes.length)
        await writeFile(path, flipped(bytes, at))
      })
      await expectReported(directory, `byte ${at} of ${kind}, seed ${seed}`)
    }
  }, 120_000)

  it(`[STORE-7] reports a ${kind} that is truncated at any place (seed ${seed})`, async () => {
    const random = new Random(seed)
    for (let round = 0; round < cuts; round++) {
      let at = 0
      const directory = await damagedCopy(kind, async (path, bytes) => {
        at = round === 0 ? bytes.length - 1 : random.below(bytes.length)
        await truncate(path, at)
      })
      await expectReported(directory, `${kind} cut at ${at}, seed ${seed}`)
    }
  }, 120_000)
}

// Without the list of files after a crash, the tables themselves must reveal damage.
it('[STORE-7] reports a record that one changed bit turns into a deletion, even after a crash', async () => {
  const places: number[] = []
  // The byte 1 behind the key distinguishes a record from a deletion.
  await damagedCopy('.ldb', async (_, bytes) => {
    for (const [at, byte] of bytes.entries()) if (byte === 1) places.push(at)
  })
  for (const at of places.slice(0, 40)) {
    const directory = await damagedCopy('.ldb', (path, bytes) => writeFile(path, flipped(bytes, at)))
    await rm(closedList(directory))
    await expectVerified(directory, `byte ${at} of .ldb without a list, seed ${seed}`)
  }
}, 120_000)

it(`[STORE-7] at a start after a crash, reports a changed bit in footer, index or filter of a table (seed ${seed})`, async () => {
  const random = new Random(seed)
  for (let round = 0; round < flips; round++) {
    let at = 0
    const directory = await damagedCopy('.ldb', async (path, bytes) => {
      at = bytes.length - 1 - random.below(searchedBytes)
      await writeFile(path, flipped(bytes, at))
    })
    await rm(closedList(directory))
    await expectReported(directory, `byte ${at} of .ldb without a list, seed ${seed}`)
  }
}, 120_000)

it(`[STORE-7] at a start after a crash, reports a changed bit or an extra byte in a table that was sound before (seed ${seed})`, async () => {
  const random = new Random(seed)
  const served = await copy()
  const engine = await openLevelEngine({ directory: served })
  const crashed = `${served} crashed`
  await cp(served, crashed, { recursive: true })
  await engine.close()
  expect(await checkManifest(join(crashed, 'store'), 'start')).toMatchObject({ problems: [] })
  expect((await checkManifest(join(crashed, 'store'), 'start')).sound.size).toBeGreaterThan(0)
  const [name = ''] = (await readdir(join(crashed, 'store'))).filter((each) => each.endsWith('.ldb'))
  const bytes = await readFile(join(crashed, 'store', name))
  for (let round = 0; round < flips; round++) {
    const at = random.below(bytes.length)
    const changed = round === 0 ? Buffer.concat([bytes, Buffer.alloc(1)]) : flipped(bytes, at)
    const directory = `${crashed} ${round}`
    await cp(crashed, directory, { recursive: true })
    await writeFile(join(directory, 'store', name), changed)
    await expectReported(directory, `round ${round}, byte ${at} of .ldb after a crash, seed ${seed}`)
  }
}, 120_000)

it('[ENG-69] accepts a table that a crash left incomplete', async () => {
  const directory = await damagedCopy('.ldb', async (path, bytes) => {
    await writeFile(join(path, '..', '000999.ldb'), bytes.subarray(0, bytes.length / 2))
  })
  await rm(closedList(directory))
  const other = `${directory} for verify`
  await cp(directory, other, { recursive: true })
  expect((await verify(other, ignore)).damages).toEqual([])
  expect(await start(directory)).toEqual({ warnings: [], read: sound })
})

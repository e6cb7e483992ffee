import { afterEach, beforeEach, expect, it } from 'vitest'
import { CorruptRecordError, type Engine } from '../../../src/core/store/engine.ts'
import { checkStore } from '../../../src/core/store/level/check/check-store.ts'
import { openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { keyspaces } from '../../../src/core/store/pairs/keyspaces.ts'
import { HeldClock } from '../../support/time/clock.ts'
import {
  bytesOf,
  claimable,
  docKey,
  enqueue,
  entriesOf,
  job,
  keepNone,
  loadLive,
  textOf,
  updates,
} from '../suite/sample-data.ts'
import {
  flipped,
  overwrite,
  storedKeys,
  storedPair,
  type TemporaryDirectory,
  temporaryDirectory,
} from './store-tools.ts'

const damaged = docKey('damaged')
const sound = docKey('sound')

let directory: TemporaryDirectory
let engine: Engine

const open = async () => {
  engine = await openLevelEngine({ directory: directory.path, clock: new HeldClock() })
}

beforeEach(async () => {
  directory = await temporaryDirectory()
  await open()
  for (const doc of [damaged, sound]) {
    await engine.log.append(doc, 'create', updates('first'))
    await engine.log.append(doc, 1, updates(`second of ${doc[3]}`))
    await engine.log.append(doc, 1, updates('third'))
  }
})

afterEach(async () => {
  await engine.close()
  await directory.remove()
})

async function stored(marker: string) {
  await engine.close()
  const pair = await storedPair(directory.store, marker)
  await open()
  return pair
}

/** Changes the record that contains `marker`. Returns a function that restores it. */
async function change(marker: string, how: (value: Buffer) => Buffer | null): Promise<() => Promise<void>> {
  await engine.close()
  const [key, value] = await storedPair(directory.store, marker)
  await overwrite(directory.store, key, how(value))
  await open()
  return async () => {
    await engine.close()
    await overwrite(directory.store, key, value)
    await open()
  }
}

async function expectOnlyDamagedRefused(): Promise<void> {
  const refusal = await engine.log.load(damaged).catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(CorruptRecordError)
  expect(String(refusal)).toContain('"damaged"')
  expect(entriesOf(await loadLive(engine.log, sound)).length).toBeGreaterThanOrEqual(3)
  const { head } = await loadLive(engine.log, sound)
  expect(await engine.log.append(sound, 1, updates('next'))).toMatchObject({ first: head + 1 })
}

it('[ENG-60] when one bit of an update has changed, rejects its document with an error that names the document, and serves the other documents', async () => {
  const [, record] = await stored('second of damaged')
  for (let at = 0; at < record.length; at += at < 12 ? 1 : 7) {
    const restore = await change('second of damaged', (value) => flipped(value, at))
    await expectOnlyDamagedRefused()
    await restore()
  }
  expect(entriesOf(await loadLive(engine.log, damaged))).toHaveLength(3)
})

it('[ENG-60] rejects only the document whose update is truncated, empty, or replaced by an update of another document', async () => {
  const [, other] = await stored('second of sound')
  const replacements = [(value: Buffer) => value.subarray(0, -1), () => other, () => Buffer.alloc(0)]
  for (const replacement of replacements) {
    const restore = await change('second of damaged', replacement)
    await expectOnlyDamagedRefused()
    await restore()
  }
  expect(entriesOf(await loadLive(engine.log, damaged))).toHaveLength(3)
})

it('[ENG-61] rejects a document with missing updates', async () => {
  await change('second of damaged', () => null)
  await expectOnlyDamagedRefused()
  const since = engine.log.load(damaged, { since: 1, epoch: 1 })
  await expect(since).rejects.toThrow(CorruptRecordError)
})

it('[ENG-61] rejects appends to a document whose only update is missing', async () => {
  const only = docKey('only')
  await engine.log.append(only, 'create', updates('the only one'))
  await change('the only one', () => null)
  await expect(engine.log.append(only, 1, updates('more'))).rejects.toThrow(CorruptRecordError)
  await expect(engine.log.load(only)).rejects.toThrow(CorruptRecordError)
})

it('[ENG-61] rejects a document with updates whose head is missing', async () => {
  await engine.close()
  const [head] = (await storedKeys(directory.store, 'damaged')).filter(
    (key) => key.indexOf(keyspaces.heads) === 0,
  )
  await overwrite(directory.store, head as Buffer, null)
  await open()
  await expectOnlyDamagedRefused()
  await expect(engine.log.append(damaged, 'create', updates('again'))).rejects.toThrow(CorruptRecordError)
})

it.each([
  ['with authors', 3, bytesOf('the authors')],
  ['without authors', 3, null],
  ['with later updates', 2, bytesOf('the authors')],
])('[ENG-61] rejects a compacted document %s whose head is missing', async (_, upTo, attribution) => {
  await engine.log.compact(damaged, 1, 0, upTo, bytesOf('the snapshot of damaged'), keepNone, attribution)
  await engine.close()
  const [head] = (await storedKeys(directory.store, 'damaged')).filter(
    (key) => key.indexOf(keyspaces.heads) === 0,
  )
  await overwrite(directory.store, head as Buffer, null)
  await open()
  await expectOnlyDamagedRefused()
  await expect(engine.log.append(damaged, 'create', updates('again'))).rejects.toThrow(CorruptRecordError)
  await expect(engine.log.heads([damaged])).rejects.toThrow(CorruptRecordError)
  await engine.log.destroy(damaged)
  expect(await engine.log.load(damaged)).toMatchObject({ state: 'deleted' })
  expect(await engine.log.append(damaged, 'recreate', updates('again'))).toMatchObject({ first: 1 })
})

it.each([
  ['changed', (value: Buffer) => flipped(value, value.length - 1)],
  ['missing', () => null],
])('[ENG-61] rejects a document whose snapshot is %s', async (_, how) => {
  await engine.log.compact(damaged, 1, 0, 2, bytesOf('the snapshot of damaged'), keepNone)
  await change('the snapshot of damaged', how)
  await expectOnlyDamagedRefused()
})

it('[ENG-61] rejects appends to a document whose last update is damaged', async () => {
  await engine.log.append(damaged, 1, updates('last of damaged'))
  await change('last of damaged', (value) => flipped(value, value.length - 1))
  await expect(engine.log.append(damaged, 1, updates('more'))).rejects.toThrow(CorruptRecordError)
  await expectOnlyDamagedRefused()
})

it('[ENG-61] deletes a damaged document, and creates it again', async () => {
  for (const marker of ['second of damaged', 'third of damaged']) {
    await engine.log.append(damaged, 'recreate', updates('first')).catch(() => undefined)
    const { epoch } = await loadLive(engine.log, damaged)
    await engine.log.append(damaged, epoch, updates(`${marker} in ${epoch}`))
    await change(`${marker} in ${epoch}`, (value) => flipped(value, value.length - 1))
    await engine.log.destroy(damaged)
    expect(await engine.log.load(damaged)).toEqual({ state: 'deleted', epoch })
  }
})

it.each([
  ['changed', (value: Buffer) => flipped(value, value.length - 1)],
  ['missing', () => null],
])(
  '[ENG-57] if an older snapshot is %s, rejects only the versions that need it, and still serves the document',
  async (_, how) => {
    await engine.log.compact(damaged, 1, 0, 2, bytesOf('the anchor of damaged'), keepNone)
    await engine.log.compact(damaged, 1, 2, 3, bytesOf('the base of damaged'), 0)
    expect(textOf((await engine.log.loadAt(damaged, 1, 2))?.snapshot ?? null)).toBe('the anchor of damaged')
    await change('the anchor of damaged', how)
    await expect(engine.log.loadAt(damaged, 1, 2)).rejects.toThrow(CorruptRecordError)
    expect(textOf((await loadLive(engine.log, damaged)).snapshot)).toBe('the base of damaged')
    expect(textOf((await engine.log.loadAt(damaged, 1, 3))?.snapshot ?? null)).toBe('the base of damaged')
    expect(await engine.log.append(damaged, 1, updates('next'))).toMatchObject({ first: 4 })
    expect(await engine.log.compact(damaged, 1, 3, 4, bytesOf('anew'), keepNone)).toBe(true)
    expect(await engine.log.loadAt(damaged, 1, 2)).toBeNull()
  },
)

it('[ENG-57] if an update before the snapshot is damaged, rejects only the versions that contain it, and still serves the document', async () => {
  await engine.log.append(damaged, 1, updates('fourth'))
  await engine.log.compact(damaged, 1, 0, 3, bytesOf('the base of damaged'), 0)
  await change('second of damaged', () => null)
  expect(entriesOf(await loadLive(engine.log, damaged))).toEqual([[4, 'fourth']])
  expect((await engine.log.loadAt(damaged, 1, 1))?.entries).toHaveLength(1)
  await expect(engine.log.loadAt(damaged, 1, 2)).rejects.toThrow(CorruptRecordError)
  await expect(engine.log.loadAt(damaged, 1, 2, { after: 1 })).rejects.toThrow(CorruptRecordError)
  expect((await engine.log.loadAt(damaged, 1, 4))?.entries).toHaveLength(1)
})

it.each([
  ['changed', (value: Buffer) => flipped(value, value.length - 1)],
  ['missing', () => null],
  ['that of another snapshot', null],
])('[ENG-88] serves a document whose attribution is %s, without its attribution', async (_, how) => {
  const attribution = bytesOf('the authors of damaged')
  await engine.log.compact(damaged, 1, 0, 2, bytesOf('the base of damaged'), keepNone, attribution)
  if (how !== null) {
    await change('the authors of damaged', how)
  } else {
    const [key, value] = await stored('the authors of damaged')
    await engine.log.compact(damaged, 1, 2, 3, bytesOf('the base of damaged'), keepNone)
    await engine.close()
    await overwrite(directory.store, key, value)
    await open()
  }
  const loaded = await loadLive(engine.log, damaged, { attribution: true })
  expect([textOf(loaded.snapshot), loaded.attribution]).toEqual(['the base of damaged', null])
  const renewed = bytesOf('the authors anew')
  expect(await engine.log.compact(damaged, 1, loaded.base, 3, bytesOf('all'), keepNone, renewed)).toBe(true)
  const again = await loadLive(engine.log, damaged, { attribution: true })
  expect(textOf(again.attribution ?? null)).toBe('the authors anew')
})

it('[ENG-88] verify reports a damaged attribution, and no damage of its document', async () => {
  const attribution = bytesOf('the authors of damaged')
  await engine.log.compact(damaged, 1, 0, 3, bytesOf('the base of damaged'), keepNone, attribution)
  await change('the authors of damaged', (value) => flipped(value, value.length - 1))
  await engine.close()
  const check = await checkStore(directory.path, {
    contentProblem: async () => null,
    expected: () => [],
    removed: () => null,
    onProgress: () => undefined,
  })
  expect(check.damages).toMatchObject([
    { kind: 'attribution', what: expect.stringContaining('"damaged"'), problem: 'a checksum is wrong' },
  ])
  await open()
})

it('[ENG-62] rejects a read of a damaged value or blob, and returns the other values and blobs', async () => {
  await engine.kv.commit(['p'], {
    puts: ['damaged', 'sound'].map((key) => ({ key: [key], value: bytesOf(`value of ${key}`) })),
  })
  await engine.blobs.put(['damaged'], bytesOf('blob of damaged'))
  await engine.blobs.put(['sound'], bytesOf('blob of sound'))
  await change('value of damaged', (value) => flipped(value, value.length - 1))
  await change('blob of damaged', (value) => flipped(value, value.length - 1))
  await expect(engine.kv.get(['p'], [['damaged']])).rejects.toThrow(CorruptRecordError)
  await expect(engine.blobs.get(['damaged'])).rejects.toThrow(CorruptRecordError)
  expect((await engine.kv.get(['p'], [['sound']]))[0]).toEqual(Buffer.from('value of sound'))
  expect(await engine.blobs.get(['sound'])).toEqual(Buffer.from('blob of sound'))
})

it('[ENG-62] runs the other jobs of a queue that has a damaged job', async () => {
  await enqueue(engine, job('a', 0, 'payload of damaged'), job('b', 1), job('c', 2))
  await change('payload of damaged', (value) => flipped(value, value.length - 1))
  expect(await claimable(engine)).toEqual(['b', 'c'])
})

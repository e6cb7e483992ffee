import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Engine } from '../../../src/core/store/engine.ts'
import { openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { HeldClock } from '../../support/time/clock.ts'
import {
  bytesOf,
  claimable,
  docKey,
  enqueue,
  entriesOf,
  job,
  loadLive,
  numbered,
  outcomeOf,
  textOf,
  updates,
} from '../suite/sample-data.ts'
import { FaultyStore } from './faulty-store.ts'
import { type TemporaryDirectory, temporaryDirectory } from './store-tools.ts'

const holdMs = 30_000
const pendingBytesMax = 64 * 1024
const doc = docKey('document')

let directory: TemporaryDirectory
let clock: HeldClock
let disk: FaultyStore
let engine: Engine

beforeEach(async () => {
  directory = await temporaryDirectory()
  clock = new HeldClock()
  disk = new FaultyStore()
  const { openStore } = disk
  engine = await openLevelEngine({ directory: directory.path, clock, holdMs, pendingBytesMax, openStore })
  await engine.log.append(doc, 'create', updates('1'))
})

afterEach(async () => {
  disk.weather = 'fine'
  disk.release()
  await passTime(engine.close())
  await directory.remove()
})

const turn = () => new Promise((resolve) => setTimeout(resolve, 1))

/** Advances the clock in small steps until `awaited` has ended. */
async function passTime<T>(awaited: Promise<T>, stepMs = 100): Promise<T> {
  const ended = { yes: false }
  const end = () => {
    ended.yes = true
  }
  void awaited.then(end, end)
  while (!ended.yes) {
    await turn()
    clock.advance(stepMs)
  }
  return awaited
}

/** Resolves when `isTrue`, and lets other work run meanwhile. */
async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) {
    clock.advance(1)
    await turn()
  }
}

/** Starts every kind of write, and collects the outcomes. */
function writeEverywhere(): { readonly ended: string[]; readonly all: Promise<string[]> } {
  const ended: string[] = []
  const writes: [string, Promise<unknown>][] = [
    ['append', engine.log.append(doc, 1, updates('2', '3'))],
    ['next append', engine.log.append(doc, 1, updates('4'), { jobs: [job('of append', 0)] })],
    ['create', engine.log.append(docKey('new'), 'create', updates('1'))],
    [
      'commit',
      engine.kv.commit(['p'], { puts: [{ key: ['k'], value: bytesOf('v') }], jobs: [job('of kv', 0)] }),
    ],
    ['blob', engine.blobs.put(['b'], bytesOf('b'))],
  ]
  const outcomes = writes.map(async ([name, write]) => {
    const outcome = `${name}: ${await outcomeOf(write)}`
    ended.push(outcome)
    return outcome
  })
  return { ended, all: Promise.all(outcomes) }
}

const allDone = ['append', 'next append', 'create', 'commit', 'blob'].map((name) => `${name}: appended`)
const allUnknown = allDone.map((line) => line.replace('appended', 'StoreUnavailableError'))

async function expectAllWritten(): Promise<void> {
  expect(entriesOf(await loadLive(engine.log, doc)).map(([, text]) => text)).toEqual(['1', '2', '3', '4'])
  expect(entriesOf(await loadLive(engine.log, docKey('new')))).toEqual([[1, '1']])
  expect(await engine.kv.get(['p'], [['k']])).not.toEqual([null])
  expect(await engine.blobs.get(['b'])).not.toBeNull()
  expect((await claimable(engine)).sort()).toEqual(['of append', 'of kv'])
}

describe('level with a paused disk', () => {
  it('[DUR-1] neither acknowledges a write nor returns it to readers before it is on disk', async () => {
    disk.hold()
    const { ended, all } = writeEverywhere()
    await until(() => engine.pendingBytes() > 0 && disk.writes > 2)
    for (let turns = 0; turns < 20; turns++) await turn()
    expect(ended).toEqual([])
    expect((await loadLive(engine.log, doc)).head).toBe(1)
    expect(await engine.log.heads([doc, docKey('new')])).toMatchObject([{ epoch: 1, head: 1 }, null])
    expect(await engine.log.list([], { limit: 10 })).toEqual([doc])
    expect(await engine.kv.get(['p'], [['k']])).toEqual([null])
    expect(await engine.blobs.get(['b'])).toBeNull()
    expect(await claimable(engine)).toEqual([])
    disk.release()
    expect(await all).toEqual(allDone)
    await expectAllWritten()
  })

  it('writes all appends of a tick in one batch', async () => {
    const before = disk.writes
    const appends = Array.from({ length: 100 }, (_, index) => engine.log.append(doc, 1, updates(`${index}`)))
    await Promise.all(appends)
    expect(disk.writes - before).toBe(1)
  })

  it('[ENG-4] the head of a document includes an append in progress, even after reads of many other documents', async () => {
    disk.hold()
    const second = outcomeOf(engine.log.append(doc, 1, updates('2')))
    // More than the number of heads that the engine caches.
    for (let group = 0; group < 50; group++) {
      const others = Array.from({ length: 100 }, (_, index) => docKey(`other ${group} ${index}`))
      const outcomes = others.map((other) => outcomeOf(engine.log.append(other, 1, updates('x'))))
      expect(new Set(await Promise.all(outcomes))).toEqual(new Set(['absent']))
    }
    const third = outcomeOf(engine.log.append(doc, 1, updates('3'), { expectHead: 2 }))
    // When this append is answered, the third one has read its head, before the second one is on disk.
    expect(await outcomeOf(engine.log.append(docKey('last'), 1, updates('x')))).toBe('absent')
    disk.release()
    expect(await Promise.all([second, third])).toEqual(['appended', 'appended'])
    expect(entriesOf(await loadLive(engine.log, doc)).map(([, text]) => text)).toEqual(['1', '2', '3'])
  })

  it('[ENG-52] rejects writes beyond the limit of pending bytes, and stores nothing of them', async () => {
    disk.hold()
    const bytes = new Uint8Array(16 * 1024)
    const appends = Array.from({ length: 10 }, () => engine.log.append(doc, 1, [{ bytes, by: '' }]))
    const refused = engine.kv.commit(['p'], { puts: [{ key: ['k'], value: bytesOf('v') }] })
    expect(await outcomeOf(refused)).toBe('StoreUnavailableError')
    expect(engine.pendingBytes()).toBeGreaterThan(pendingBytesMax)
    expect(engine.pendingBytes()).toBeLessThan(2 * pendingBytesMax)
    disk.release()
    const outcomes = await Promise.all(appends.map(outcomeOf))
    const accepted = outcomes.filter((outcome) => outcome === 'appended').length
    expect(outcomes).toEqual(
      outcomes.map((_, index) => (index < accepted ? 'appended' : 'StoreUnavailableError')),
    )
    expect((await loadLive(engine.log, doc)).head).toBe(1 + accepted)
    expect(engine.pendingBytes()).toBe(0)
    const after = await engine.log.append(doc, 1, updates('after'))
    expect(after).toMatchObject({ first: 2 + accepted })
  })
})

describe('level with a full disk', () => {
  it('[STORE-9] delays writes while the disk is full, and completes them without a restart when there is space', async () => {
    disk.weather = 'full'
    const { ended, all } = writeEverywhere()
    await until(() => !engine.health().ok)
    for (let step = 0; step < 50; step++) {
      clock.advance(100)
      await turn()
    }
    expect(ended).toEqual([])
    expect(engine.health()).toEqual({ ok: false, reason: expect.stringContaining('No space left') })
    disk.weather = 'fine'
    expect(await passTime(all)).toEqual(allDone)
    expect(engine.health()).toEqual({ ok: true })
    expect(engine.pendingBytes()).toBe(0)
    await expectAllWritten()
  })

  it('[STORE-9] delays loads, and appends that must read the head, until the store is available', async () => {
    disk.weather = 'full'
    const pending = engine.log.append(doc, 1, updates('2'))
    await until(() => !engine.health().ok)
    const other = engine.log.append(docKey('other'), 'create', updates('1'))
    const load = loadLive(engine.log, doc)
    await turn()
    disk.weather = 'fine'
    const [appended, made] = await passTime(Promise.all([pending, other]))
    expect([appended, made]).toMatchObject([{ first: 2 }, { first: 1 }])
    expect((await load).head).toBeGreaterThanOrEqual(1)
  })

  it('[ENG-76] delays a read of a cached value until the store is available', async () => {
    await engine.kv.commit(['p'], { puts: [{ key: ['k'], value: bytesOf('v') }] })
    const read = async () => (await engine.kv.get(['p'], [['k']])).map(textOf)
    const scan = () => engine.kv.scan(['p'], { limit: 1 })
    expect(await read()).toEqual(['v'])
    expect(await scan()).toHaveLength(1)
    disk.weather = 'full'
    const pending = engine.log.append(doc, 1, updates('2'))
    await until(() => !engine.health().ok)
    const ended: string[] = []
    const value = read().finally(() => ended.push('read'))
    const scanned = scan().finally(() => ended.push('scan'))
    for (let turns = 0; turns < 20; turns++) await turn()
    expect(ended).toEqual([])
    disk.weather = 'fine'
    expect(await passTime(value)).toEqual(['v'])
    expect(await passTime(scanned)).toHaveLength(1)
    expect(await passTime(pending)).toMatchObject({ first: 2 })
  })

  it('[STORE-9] if the disk has stored operations but returned an error, writes them again, and they take effect only once', async () => {
    await enqueue(engine, job('claimed', 0))
    disk.weather = 'silent'
    const { all } = writeEverywhere()
    const claim = engine.queue.claim('queue', 1, 10 * holdMs)
    await until(() => !engine.health().ok)
    disk.weather = 'fine'
    expect(await passTime(all)).toEqual(allDone)
    expect((await claim).map(({ id, attempt }) => [id, attempt])).toEqual([['claimed', 1]])
    await expectAllWritten()
  })

  it('[ENG-54] fails writes that wait too long with StoreUnavailableError, and rejects new writes immediately', async () => {
    disk.weather = 'full'
    const { all } = writeEverywhere()
    expect(await passTime(all, 1_000)).toEqual(allUnknown)
    expect(await outcomeOf(engine.log.append(doc, 1, updates('x')))).toBe('StoreUnavailableError')
    expect(await outcomeOf(engine.log.append(docKey('unread'), 'create', updates('x')))).toBe(
      'StoreUnavailableError',
    )
    expect(await outcomeOf(engine.kv.commit(['p'], {}))).toBe('StoreUnavailableError')
    expect(engine.health().ok).toBe(false)
    expect(engine.pendingBytes()).toBe(0)
  })

  it.each(['full', 'silent'] as const)(
    '[ENG-54] after failed writes, drops cached state, and reads from the store which writes succeeded (%s)',
    async (weather) => {
      disk.weather = weather
      const { all } = writeEverywhere()
      expect(await passTime(all, 1_000)).toEqual(allUnknown)
      disk.weather = 'fine'
      while (!engine.health().ok) {
        clock.advance(1_000)
        await turn()
      }
      const { head, entries } = await loadLive(engine.log, doc)
      expect(entries).toHaveLength(head)
      expect(await engine.log.append(doc, 1, updates('next'), { expectHead: head })).toMatchObject({
        epoch: 1,
        first: head + 1,
        last: head + 1,
      })
      const [value] = await engine.kv.get(['p'], [['k']])
      const check = { key: ['k'], value: value ?? null }
      expect(await engine.kv.commit(['p'], { checks: [check] })).toBe(true)
      const isMade = (await engine.log.load(docKey('new'))).state === 'live'
      const made = await outcomeOf(engine.log.append(docKey('new'), 'create', numbered(1, 1)))
      expect(made).toBe(isMade ? 'exists' : 'appended')
    },
  )

  it('[ENG-78] after failed writes, writes nothing of a commit if the state of one of its jobs is unknown', async () => {
    await enqueue(engine, job('read early', 0))
    const release = disk.holdReads('read late')
    const commit = engine.kv.commit(['p'], {
      puts: [{ key: ['k'], value: bytesOf('v') }],
      jobs: [job('read early', 0), job('read late', 0)],
    })
    const outcome = outcomeOf(commit)
    disk.weather = 'full'
    expect(await passTime(outcomeOf(engine.log.append(doc, 1, updates('2'))), 1_000)).toBe(
      'StoreUnavailableError',
    )
    disk.weather = 'fine'
    while (!engine.health().ok) {
      clock.advance(1_000)
      await turn()
    }
    release()
    expect(await passTime(outcome)).toBe('StoreUnavailableError')
    // The next group commit writes what a rejected commit leaves behind.
    await engine.blobs.put(['b'], bytesOf('b'))
    expect(await engine.kv.get(['p'], [['k']])).toEqual([null])
    expect(await claimable(engine)).toEqual(['read early'])
  })

  it('[ENG-55] the engine closes while the disk is full, and does not acknowledge pending writes', async () => {
    disk.weather = 'full'
    const { all } = writeEverywhere()
    await until(() => !engine.health().ok)
    await passTime(engine.close(), 1_000)
    expect(await all).toEqual(allUnknown)
  })
})

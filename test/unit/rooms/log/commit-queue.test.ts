import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { systemClock } from '../../../../src/core/base/clock.ts'
import { ApiError, errorMessage } from '../../../../src/core/base/errors.ts'
import { documentFences } from '../../../../src/core/directory/organizations/access-change.ts'
import { FencedRight } from '../../../../src/core/directory/write-right.ts'
import {
  AppendBacklog,
  CommitQueue,
  type CommittingRoom,
} from '../../../../src/core/rooms/log/commit-queue.ts'
import { type Change, Commit } from '../../../../src/core/rooms/updates/change.ts'
import type { Engine } from '../../../../src/core/store/engine.ts'
import { openLevelEngine } from '../../../../src/core/store/level/engine.ts'
import { openMemoryEngine } from '../../../../src/core/store/memory/engine.ts'
import { readUpdate } from '../../../../src/core/update/read-update.ts'
import { advance } from '../../../../src/core/update/summary.ts'
import { typed } from '../../../support/clients/clients.ts'
import { withLog } from '../../../support/stores/pausable-engine.ts'
import { heldStore } from '../../../support/stores/pausable-store.ts'
import { gate } from '../../../support/time/gate.ts'
import { listening } from './commit-listeners.ts'

const doc = ['acme', 'commits', 'main']
const fenced = { clock: systemClock, within: null } as const

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const lineOf = (
  { log }: Engine,
  listeners: Partial<CommittingRoom>,
  queued = new AppendBacklog(() => 0),
): CommitQueue => new CommitQueue(log, doc, { state: 'absent' }, queued, listening(listeners))

function broadcastOf(text: string, client: number, right?: Change['right']): Commit {
  const bytes = typed(text, client)
  const summary = readUpdate(bytes)
  return new Commit([{ bytes, by: 'ada', from: null, summary, right }], 0)
}

it('[ROOM-1] does not count an update as broadcast before it was broadcast, so that a slow reader receives it later', async () => {
  const engine = await openMemoryEngine()
  ends.push(() => engine.close())
  const clocks = new Map<number, number>()
  const seen: (readonly (readonly [number, number])[])[] = []
  const line = lineOf(engine, {
    broadcast: () => seen.push([...line.broadcastClocks(clocks)].filter(([, clock]) => clock > 0)),
    fail: () => {},
  })
  for (const client of [1, 2]) {
    const broadcast = broadcastOf('abc', client)
    for (const { summary } of broadcast.changes) advance(summary, clocks)
    line.commit(broadcast, 0)
  }
  await line.durable
  expect(seen).toEqual([[], [[1, 3]]])
  expect([...line.broadcastClocks(clocks)]).toEqual([
    [1, 3],
    [2, 3],
  ])
})

it('[ROOM-40] [USE-30] acknowledges and counts a durable update even if a later update was rejected meanwhile', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'weft-commits-'))
  ends.push(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }))
  const store = heldStore()
  const engine = await openLevelEngine({ directory, openStore: store.openStore })
  ends.push(() => engine.close())
  const told: string[] = []
  const queued = new AppendBacklog(() => 0, 1_000)
  const line = lineOf(
    engine,
    {
      broadcast: () => void told.push('durable'),
      accepted: ({ changes }) => void told.push(`accepted ${changes.length}`),
      fail: () => void told.push('failed'),
    },
    queued,
  )
  store.hold()
  line.commit(broadcastOf('a'.repeat(900), 1), 0)
  const first = line.durable
  await expect.poll(() => engine.pendingBytes()).toBeGreaterThan(900)
  expect(queued.undurableBytes).toBe(0)
  line.commit(broadcastOf('b'.repeat(1_100), 2), 0)
  const second = line.durable
  second.catch(() => {})
  await expect.poll(() => told).toEqual(['failed'])
  store.release()
  expect(await first).toBe(1)
  await expect(second).rejects.toThrow('too many bytes')
  await expect(line.durable).rejects.toThrow('too many bytes')
  expect([told, queued.undurableBytes]).toEqual([['failed', 'accepted 1'], 0])
})

it('[ROOM-67] sends each append at once, and stores none after one that is not stored', async () => {
  const store = await openMemoryEngine()
  ends.push(() => store.close())
  const asked: (number | undefined)[] = []
  const held = gate()
  let last: Promise<unknown> = held.opened
  const engine = withLog(store, (log) => ({
    append: (...parameters) => {
      const [, , , { expectHead } = {}] = parameters
      asked.push(expectHead)
      const appended = last
        .catch(() => {})
        .then(() => {
          if (expectHead === 2) throw new Error('the disk is full')
          return log.append(...parameters)
        })
      last = appended
      return appended
    },
  }))
  await store.log.append(doc, 'create', [{ bytes: typed('before', 9), by: 'ada' }])
  const told: string[] = []
  const listeners = listening({
    broadcast: ({ changes }) => void told.push(`durable ${changes[0]?.bytes.length}`),
    fail: (error) => void told.push(errorMessage(error)),
  })
  const loaded = await store.log.load(doc)
  const line = new CommitQueue(engine.log, doc, loaded, new AppendBacklog(() => 0), listeners)
  const broadcasts = [1, 2, 3].map((client) => broadcastOf('a'.repeat(client), client))
  const durable = broadcasts.map((broadcast) => {
    line.commit(broadcast, 0)
    return line.durable
  })
  expect([asked, line.head]).toEqual([[1, 2, 3], 4])
  held.open()
  expect((await Promise.allSettled(durable)).map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'rejected',
  ])
  await line.settled()
  expect(told).toEqual([`durable ${broadcasts[0]?.changes[0]?.bytes.length}`, 'the disk is full'])
  expect((await store.log.heads([doc]))[0]?.head).toBe(2)
})

it('[DOC-18] keeps updates back until the record of a new document is stored, then appends them in order', async () => {
  const engine = await openMemoryEngine()
  ends.push(() => engine.close())
  const recorded = gate()
  const told: unknown[] = []
  const backlog = new AppendBacklog(() => 0)
  const log = withLog(engine, (inner) => ({
    append: (...parameters) => {
      told.push(parameters[1])
      return inner.append(...parameters)
    },
  }))
  const line = lineOf(log, { record: () => recorded.opened, broadcast: () => told.push('durable') }, backlog)
  const commits = [1, 2, 3].map((client) => broadcastOf('abc', client))
  for (const commit of commits.slice(0, 2)) line.commit(commit, 0)
  await new Promise(setImmediate)
  expect([told, backlog.undurableBytes]).toEqual([[], (commits[0]?.bytes ?? 0) + (commits[1]?.bytes ?? 0)])
  recorded.open()
  await line.durable
  line.commit(commits[2] as Commit, 0)
  expect(await line.durable).toBe(3)
  expect([told, backlog.undurableBytes]).toEqual([['create', 'durable', 'durable', 1, 'durable'], 0])
})

it('[DOC-18] appends nothing if the record of the document cannot be stored', async () => {
  const engine = await openMemoryEngine()
  ends.push(() => engine.close())
  const told: string[] = []
  const line = lineOf(engine, {
    record: () => Promise.reject(new Error('no record')),
    broadcast: () => void told.push('durable'),
    fail: (error) => void told.push(errorMessage(error)),
  })
  for (const client of [1, 2]) line.commit(broadcastOf('abc', client), 0)
  await expect(line.durable).rejects.toThrow('no record')
  await line.settled()
  expect([told, (await engine.log.load(doc)).state]).toEqual([['no record'], 'absent'])
})

it.each([
  ['repeats all rejected appends in order when the right remains', true],
  ['appends nothing when the right has ended', false],
])('[ROOM-61] %s', async (_, remains) => {
  const engine = await openMemoryEngine()
  ends.push(() => engine.close())
  const scope = { workspaceId: 'w', apiKey: 'k', organizationId: 'acme' }
  let isAllowed = true
  const check = async (): Promise<number> => {
    if (!isAllowed) throw new ApiError('document/disabled', 'disabled')
    return Number.POSITIVE_INFINITY
  }
  const right = await FencedRight.read({
    ...fenced,
    fences: engine.fences,
    names: documentFences(scope, 'd'),
    check,
  })
  const told: string[] = []
  const line = lineOf(engine, {
    broadcast: ({ changes }) => void told.push(`${changes[0]?.by} ${changes[0]?.bytes.length}`),
    fail: (error) => void told.push(errorMessage(error)),
  })
  await engine.kv.commit(['organization'], { fences: documentFences(scope, 'd') })
  isAllowed = remains
  line.commit(broadcastOf('first', 1, right), 0)
  line.commit(broadcastOf('second one', 2), 0)
  const durable = line.durable
  durable.catch(() => {})
  await line.settled()
  const loaded = await engine.log.load(doc)
  if (remains) {
    expect(await durable).toBe(2)
    expect(told).toHaveLength(2)
    const lengths = loaded.state === 'live' ? loaded.entries.map(({ bytes }) => bytes.length) : []
    expect(told).toEqual(lengths.map((length) => `ada ${length}`))
  } else {
    await expect(durable).rejects.toThrow('disabled')
    expect([told, loaded.state]).toEqual([['disabled'], 'absent'])
  }
})

it('[ROOM-61] fails an append when a fence is raised during its first attempt and each of twenty repeats', async () => {
  const engine = await openMemoryEngine()
  ends.push(() => engine.close())
  const scope = { workspaceId: 'w', apiKey: 'k', organizationId: 'acme' }
  let checks = 0
  const check = async (): Promise<number> => {
    checks += 1
    await engine.kv.commit(['organization'], { fences: documentFences(scope, 'd') })
    return Number.POSITIVE_INFINITY
  }
  const right = await FencedRight.read({
    ...fenced,
    fences: engine.fences,
    names: documentFences(scope, 'd'),
    check,
  })
  const told: string[] = []
  const line = lineOf(engine, {
    broadcast: () => void told.push('durable'),
    fail: (error) => void told.push(errorMessage(error)),
  })
  line.commit(broadcastOf('first', 1, right), 0)
  await line.settled()
  expect(told).toEqual(['rights change too often'])
  expect(checks).toBe(1 + 20)
  await expect(line.durable).rejects.toThrow('rights change too often')
})

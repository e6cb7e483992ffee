import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import type { Engine } from '../../../src/engine/engine.ts'
import { openLevelEngine } from '../../../src/engine/level/engine.ts'
import { openMemoryEngine } from '../../../src/engine/memory/index.ts'
import { CommitLine, type CommitListeners } from '../../../src/rooms/commits.ts'
import { Delivery } from '../../../src/rooms/delivery.ts'
import { readUpdate } from '../../../src/update/read.ts'
import { advance } from '../../../src/update/summary.ts'
import { typed } from '../../support/clients.ts'
import { heldStore } from '../../support/held-store.ts'

const doc = ['acme', 'commits', 'main']

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const lineOf = ({ log }: Engine, listeners: CommitListeners): CommitLine =>
  new CommitLine(log, doc, { state: 'absent' }, listeners)

function deliveryOf(text: string, client: number): Delivery {
  const bytes = typed(text, client)
  const summary = readUpdate(bytes, { allowSubdocuments: false })
  return new Delivery([{ bytes, by: 'ada', from: null, summary }], 0)
}

it('[ROOM-1] what is being delivered does not count as delivered: who has no room for it gets it later', async () => {
  const engine = await openMemoryEngine()
  ends.push(() => engine.close())
  const clocks = new Map<number, number>()
  const seen: (readonly (readonly [number, number])[])[] = []
  const line = lineOf(engine, {
    durable: () => seen.push([...line.deliveredClocks(clocks)].filter(([, clock]) => clock > 0)),
    failed: () => {},
  })
  for (const client of [1, 2]) {
    const delivery = deliveryOf('abc', client)
    for (const { summary } of delivery.updates) advance(summary, clocks)
    line.commit(delivery, 0)
  }
  await line.durable
  expect(seen).toEqual([[], [[1, 3]]])
  expect([...line.deliveredClocks(clocks)]).toEqual([
    [1, 3],
    [2, 3],
  ])
})

it('[ROOM-40] what is durable is acknowledged, also where what came after it was refused meanwhile', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'weft-commits-'))
  ends.push(() => rm(directory, { recursive: true, force: true }))
  const store = heldStore()
  const engine = await openLevelEngine({ directory, openStore: store.openStore, pendingBytesMax: 1_000 })
  ends.push(() => engine.close())
  const told: string[] = []
  const line = lineOf(engine, {
    durable: () => void told.push('durable'),
    failed: () => void told.push('failed'),
  })
  store.hold()
  line.commit(deliveryOf('a'.repeat(900), 1), 0)
  const first = line.durable
  await expect.poll(() => engine.pendingBytes()).toBeGreaterThan(1_000)
  line.commit(deliveryOf('b', 2), 0)
  const second = line.durable
  second.catch(() => {})
  await expect.poll(() => told).toEqual(['failed'])
  store.release()
  expect(await first).toBe(1)
  await expect(second).rejects.toThrow('too many bytes')
  await expect(line.durable).rejects.toThrow('too many bytes')
  expect(told).toEqual(['failed'])
})

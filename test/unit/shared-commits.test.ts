import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { systemClock } from '../../src/clock.ts'
import { openMemoryEngine } from '../../src/engine/memory/engine.ts'
import { Delivery } from '../../src/rooms/delivery.ts'
import { QueuedBytes } from '../../src/rooms/queued-bytes.ts'
import { SharedCommits } from '../../src/rooms/shared-commits.ts'
import { readUpdate } from '../../src/update/read.ts'
import { typed } from '../support/clients.ts'
import { withLog } from '../support/held-engine.ts'

it('[CR-18] the number of the last update is never told too high, also where others have compacted what was appended', async () => {
  const engine = await openMemoryEngine({ clock: systemClock })
  const doc = ['a']
  const entry = (client: number) => ({ bytes: typed('x', client), by: '' })
  const others = [entry(1), entry(2)] as const
  const own = entry(3)
  await engine.log.append(doc, 'create', [others[0]])
  const { log } = withLog(engine, (store) => ({
    append: async (...parameters) => {
      await store.append(doc, 1, [others[1]])
      const appended = await store.append(...parameters)
      const snapshot = Y.mergeUpdates([...others, own].map(({ bytes }) => bytes))
      await store.compact(doc, 1, 0, appended.last, snapshot, Number.POSITIVE_INFINITY)
      return appended
    },
  }))
  const heads: number[] = []
  const commits = new SharedCommits({
    log,
    doc,
    loaded: await log.load(doc),
    queued: new QueuedBytes(),
    listeners: {
      durable: () => undefined,
      failed: (error) => expect(error).toBe(null),
      foreign: () => heads.push(commits.head),
      appended: () => undefined,
    },
  })
  commits.commit(
    new Delivery([{ ...own, from: null, summary: readUpdate(own.bytes, { allowSubdocuments: true }) }], 0),
    0,
  )
  expect([commits.head, await commits.durable, commits.head, heads]).toEqual([2, 3, 3, [3]])
  await engine.close()
})

import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { systemClock } from '../../../../src/core/base/clock.ts'
import { Commits } from '../../../../src/core/rooms/log/commits.ts'
import { LogTruncatedError } from '../../../../src/core/rooms/log/read-log-since.ts'
import { AppendBacklog } from '../../../../src/core/rooms/log/recorded-log.ts'
import { UpdateBroadcast } from '../../../../src/core/rooms/updates/broadcast.ts'
import { StoreUnavailableError } from '../../../../src/core/store/engine.ts'
import { requireAppended } from '../../../../src/core/store/log-state.ts'
import { openMemoryEngine } from '../../../../src/core/store/memory/engine.ts'
import { readUpdate } from '../../../../src/core/update/read-update.ts'
import { typed } from '../../../support/clients/clients.ts'
import { delegatedLog } from '../../../support/stores/delegated-log.ts'
import { withLog } from '../../../support/stores/pausable-engine.ts'
import { gate } from '../../../support/time/gate.ts'
import { listening, remoteUpdates } from './commit-listeners.ts'

const doc = ['a']
const entry = (client: number) => ({ bytes: typed('x', client), by: '' })
const broadcastOf = (client: number): UpdateBroadcast => {
  const { bytes, by } = entry(client)
  return new UpdateBroadcast([{ bytes, by, from: null, summary: readUpdate(bytes) }], 0)
}
/** Other nodes append to the log. */
const manyWriters = { hasOneWriter: false }

it('[CR-18] never reports a head that is too high, even if another node has compacted the appended update', async () => {
  const engine = await openMemoryEngine({ clock: systemClock })
  const others = [entry(1), entry(2)] as const
  const own = entry(3)
  await engine.log.append(doc, 'create', [others[0]])
  const { log } = withLog(engine, (store) => ({
    ...manyWriters,
    append: async (...parameters) => {
      await store.append(doc, 1, [others[1]])
      const appended = await store.append(...parameters)
      const snapshot = Y.mergeUpdates([...others, own].map(({ bytes }) => bytes))
      await store.compact(doc, 1, 0, requireAppended(appended).last, snapshot, Number.POSITIVE_INFINITY)
      return appended
    },
  }))
  const heads: number[] = []
  const commits = new Commits(
    log,
    doc,
    await log.load(doc),
    new AppendBacklog(),
    listening({
      fail: (error) => expect(error).toBe(null),
      replica: { ...remoteUpdates, apply: () => void heads.push(commits.head) },
    }),
  )
  commits.commit(broadcastOf(3), 0)
  expect([commits.head, await commits.durable, commits.head, heads]).toEqual([2, 3, 3, [3]])
  await engine.close()
})

it('[CR-23] fails a read if a change of the same node fails during the read', async () => {
  const engine = await openMemoryEngine({ clock: systemClock })
  await engine.log.append(doc, 'create', [entry(1)])
  const held = gate()
  const { log } = withLog(engine, () => ({
    ...manyWriters,
    append: async () => {
      await held.opened
      throw new StoreUnavailableError('the database is away')
    },
  }))
  const commits = new Commits(log, doc, await log.load(doc), new AppendBacklog(), listening())
  const changing = commits.commitAt(1, {
    broadcast: broadcastOf(2),
    at: 0,
    jobs: [],
    apply: () => undefined,
  })
  await engine.log.append(doc, 1, [entry(3)])
  const reading = commits.reach()
  await new Promise((resolve) => setImmediate(resolve))
  held.open()
  await expect(changing).rejects.toThrow(StoreUnavailableError)
  await expect(reading).rejects.toThrow(StoreUnavailableError)
  await engine.close()
}, 2_000)

it('[CR-22] ends a room whose replica has more updates than its log', async () => {
  const [before, after] = [
    await openMemoryEngine({ clock: systemClock }),
    await openMemoryEngine({ clock: systemClock }),
  ]
  await before.log.append(doc, 'create', [entry(1), entry(2), entry(3)])
  await after.log.append(doc, 'create', [entry(1)])
  const copyOf = async () => {
    const failures: unknown[] = []
    const commits = new Commits(
      { ...delegatedLog(after.log), ...manyWriters },
      doc,
      await before.log.load(doc),
      new AppendBacklog(),
      listening({ fail: (error) => void failures.push(error) }),
    )
    return { commits, failures }
  }
  const read = await copyOf()
  await expect(read.commits.reach()).rejects.toThrow(LogTruncatedError)
  const looked = await copyOf()
  const [head = null] = await after.log.heads([doc])
  expect(looked.commits.differs(head, looked.commits.durableTo)).toBe(true)
  looked.commits.catchUp()
  await looked.commits.settled()
  const written = await copyOf()
  written.commits.commit(broadcastOf(4), 0)
  await expect(written.commits.durable).rejects.toThrow(LogTruncatedError)
  for (const { failures } of [read, looked, written])
    expect(failures.map((error) => error instanceof LogTruncatedError)).toEqual([true])
  await Promise.all([before.close(), after.close()])
})

import { expect, it } from 'vitest'
import { AuditRetention } from '../../../src/core/audit/audit.ts'
import { AuditLog } from '../../../src/core/audit/log.ts'
import { createLog } from '../../../src/core/base/log.ts'
import { createTenancy } from '../../../src/core/directory/tenants/tenancy.ts'
import type { Kv, KvCommit, KvRange } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { HeldClock } from '../../support/time/clock.ts'

const hourMs = 3_600_000
const minuteMs = 60_000
const keepMs = 24 * hourMs
const owner = { name: 'Ann', email: 'ann@example.com', avatar: '' }
const record = { operation: '/v2/users/add', actor: 'key' } as const

it('[AUDIT-7] removes expired records from every log, a limited number at a time, and keeps all other records', async () => {
  const [engine, clock, log] = [await openMemoryEngine(), new HeldClock(), createLog('silent')]
  const commits: KvCommit[] = []
  const scans: (readonly [string, KvRange])[] = []
  const kv: Kv = {
    get: (part, keys) => engine.kv.get(part, keys),
    scan: (part, range) => {
      scans.push([part.join(), range])
      return engine.kv.scan(part, range)
    },
    commit: (part, commit) => {
      commits.push(commit)
      return engine.kv.commit(part, commit)
    },
  }
  const { tenants, workspaces } = createTenancy({ ...engine, kv }, clock)
  const made = [0, 1, 2].map(() => workspaces.create({ name: 'w', owner }))
  const places = [null, ...(await Promise.all(made)).map(({ workspace }) => workspace.id)]
  const audit = new AuditLog(kv, clock, log)
  const left = async () => {
    const range = { order: 'asc', after: undefined, limit: 10_000 } as const
    const found = await Promise.all(places.map((place) => audit.list(place, {}, range)))
    return found.map(({ items }) => items.length)
  }
  for (const place of places)
    await audit.add(
      place,
      Array.from({ length: 1_100 }, () => record),
    )
  clock.advance(hourMs)
  for (const place of places) await audit.add(place, [record])
  const sweep = new AuditRetention({ kv, tenants, clock, log, keepMs })
  await sweep.run()
  expect(await left()).toEqual([1_101, 1_101, 1_101, 1_101])
  clock.advance(keepMs - hourMs)
  commits.length = 0
  scans.length = 0
  sweep.task.start()
  expect(scans).toEqual([])
  clock.advance(minuteMs)
  await sweep.task.stop()
  expect(await left()).not.toEqual([1, 1, 1, 1])
  const next = new AuditRetention({ kv, tenants, clock, log, keepMs })
  scans.length = 0
  await next.run()
  // A scan over removed entries would take a store longer each time.
  const fromStart = scans.filter(([part, { after }]) => part.startsWith('audit') && after === undefined)
  expect(fromStart).toHaveLength(places.length)
  expect(await left()).toEqual([1, 1, 1, 1])
  expect(Math.max(...commits.map(({ dels = [] }) => dels.length))).toBe(250)
})

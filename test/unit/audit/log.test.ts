import { expect, it } from 'vitest'
import { AuditLog } from '../../../src/core/audit/log.ts'
import { createLog } from '../../../src/core/base/log.ts'
import type { Kv } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { HeldClock } from '../../support/time/clock.ts'

const record = { operation: '/v2/users/add', actor: 'key' } as const
const range = { order: 'asc', after: undefined, limit: 1 } as const

it('[AUDIT-6] reads at most one page of the audit log at a time for each workspace, and at most two for all workspaces', async () => {
  const engine = await openMemoryEngine()
  const reading = new Map<string, number>()
  let most = { each: 0, all: 0 }
  const kv: Kv = {
    get: (part, keys) => engine.kv.get(part, keys),
    commit: (part, commit) => engine.kv.commit(part, commit),
    scan: async (part, of) => {
      const place = part.join()
      reading.set(place, (reading.get(place) ?? 0) + 1)
      const all = [...reading.values()]
      most = {
        each: Math.max(most.each, ...all),
        all: Math.max(
          most.all,
          all.reduce((sum, each) => sum + each, 0),
        ),
      }
      await new Promise((resolve) => setImmediate(resolve))
      reading.set(place, (reading.get(place) ?? 0) - 1)
      return engine.kv.scan(part, of)
    },
  }
  const audit = new AuditLog(kv, new HeldClock(), createLog('silent'))
  const places = ['a', 'b', 'c']
  for (const place of places)
    await audit.add(
      place,
      Array.from({ length: 600 }, () => record),
    )
  const query = { operation: 'none' }
  const asked = places.flatMap((place) => Array.from({ length: 4 }, () => audit.list(place, query, range)))
  expect((await Promise.all(asked)).map(({ items }) => items.length)).toEqual(asked.map(() => 0))
  expect(most).toEqual({ each: 1, all: 2 })
})

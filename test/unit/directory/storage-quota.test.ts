import { pino } from 'pino'
import { expect, it } from 'vitest'
import { systemClock } from '../../../src/core/base/clock.ts'
import { StorageQuota } from '../../../src/core/directory/storage-quota.ts'
import { TenantStore } from '../../../src/core/directory/tenants/tenant-store.ts'
import { createMetrics } from '../../../src/core/metrics/metrics.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { HeldClock } from '../../support/time/clock.ts'

it('[LIM-23] when the store cannot measure a workspace, accepts updates, and logs `storage_quota.measurement_failed`', async () => {
  const engine = await openMemoryEngine()
  const lines: unknown[] = []
  const quota = new StorageQuota({
    engine,
    tenants: new TenantStore(engine.kv),
    clock: systemClock,
    log: pino({ base: null }, { write: (line) => void lines.push(JSON.parse(line)) }),
    metrics: createMetrics(),
    bytesMax: 1,
  })
  await engine.close()
  await quota.ready('acme')
  expect(quota.fullAt('acme')).toBeNull()
  expect(lines).toMatchObject([{ event: 'storage_quota.measurement_failed', workspaceId: 'acme' }])
})

it('[OPS-47] measures a workspace that has no limit only on request, and at most once in 5 minutes', async () => {
  const { kv } = await openMemoryEngine()
  const clock = new HeldClock()
  const measurements: number[] = []
  const quota = new StorageQuota({
    engine: {
      storedBytes: async () => {
        measurements.push(clock.now())
        if (measurements.length === 1) throw new Error('the store is not available')
        return 1_000
      },
    },
    tenants: new TenantStore(kv),
    clock,
    log: pino({ enabled: false }),
    metrics: createMetrics(),
    bytesMax: 0,
  })
  quota.added('acme', 70)
  await quota.ready('acme')
  expect(measurements).toEqual([])
  expect(await quota.measured('acme')).toBeNull()
  expect(await quota.measured('acme')).toEqual({ storedBytes: 1_000, storedBytesMax: 0 })
  quota.added('acme', 30)
  clock.advance(299_000)
  for (const _ of [1, 2])
    expect(await quota.measured('acme')).toEqual({ storedBytes: 1_030, storedBytesMax: 0 })
  expect(measurements).toHaveLength(2)
  clock.advance(1_000)
  expect(await quota.measured('acme')).toEqual({ storedBytes: 1_000, storedBytesMax: 0 })
  expect(measurements).toHaveLength(3)
})

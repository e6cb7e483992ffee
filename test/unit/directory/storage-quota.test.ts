import { pino } from 'pino'
import { expect, it } from 'vitest'
import { systemClock } from '../../../src/clock.ts'
import { StorageQuota } from '../../../src/directory/storage-quota.ts'
import { TenantStore } from '../../../src/directory/tenants/tenant-store.ts'
import { openMemoryEngine } from '../../../src/engine/memory/engine.ts'
import { createMetrics } from '../../../src/metrics.ts'

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

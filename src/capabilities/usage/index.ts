import type { Clock } from '../../core/base/clock.ts'
import type { Log } from '../../core/base/log.ts'
import type { StorageQuota } from '../../core/directory/storage-quota.ts'
import type { TenantStore } from '../../core/directory/tenants/tenant-store.ts'
import type { Engine } from '../../core/store/engine.ts'
import { defineCapability } from '../../rest/capability.ts'
import { UsageMeter } from './usage-meter.ts'
import { UsageReader } from './usage-reader.ts'
import { UsageRetention } from './usage-retention.ts'

/** The usage of workspaces and organizations. */
interface UsageModule {
  /** Counts the usage on this node. Start it with the server. Stop it before the engine closes. */
  readonly meter: UsageMeter
  /** Reads the stored usage of all nodes. */
  readonly reader: UsageReader
  /** Merges and deletes old records. Start it with the server. Stop it before the engine closes. */
  readonly retention: UsageRetention
}

interface UsageOptions {
  readonly engine: Pick<Engine, 'kv' | 'cluster'>
  readonly storage: Pick<StorageQuota, 'measured'>
  readonly tenants: Pick<TenantStore, 'workspaceIds'>
  readonly clock: Clock
  readonly log: Log
}

export function createUsage({ engine, storage, tenants, clock, log }: UsageOptions): UsageModule {
  const { kv, cluster } = engine
  const reader = new UsageReader(kv)
  const { self: node, incarnation: writer } = cluster
  return {
    meter: new UsageMeter({ node, writer, kv, storage, clock, log }),
    reader,
    retention: new UsageRetention(kv, reader, tenants, clock, log),
  }
}

declare module '../../rest/services.ts' {
  interface Services {
    readonly usage: UsageModule
  }
}

/** Usage of workspaces and organizations, by hour, day and month. */
export const usage = defineCapability({
  name: 'usage',
  create(services) {
    const usage = createUsage(services)
    return { usage, counts: usage.meter }
  },
  start({ usage }) {
    usage.meter.start()
    usage.retention.task.start()
  },
  stop: ({ usage }) => usage.retention.task.stop(),
  flush: ({ usage }) => usage.meter.stop(),
})

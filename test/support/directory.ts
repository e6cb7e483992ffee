import { AccessNews } from '../../src/access/access-news.ts'
import { AccessReader } from '../../src/access/document-access.ts'
import { PermissionReader } from '../../src/access/permission-report.ts'
import { type Clock, systemClock } from '../../src/clock.ts'
import { createDirectory, type Directory } from '../../src/directory/directory.ts'
import type { OrganizationScope } from '../../src/directory/organization-keys.ts'
import { OrganizationStore } from '../../src/directory/organization-store.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { openMemoryEngine } from '../../src/engine/memory/engine.ts'
import { Events } from '../../src/events/events.ts'
import { createLog } from '../../src/log.ts'
import { Memory } from '../../src/memory/memory.ts'
import type { Tenant } from '../../src/model/address.ts'
import { HeldClock } from './clock.ts'

/** The directory's services without a server; their removals are not started. */
export interface TestDirectory extends Directory {
  readonly engine: Engine
  readonly store: OrganizationStore
  readonly memory: Memory
  readonly reader: AccessReader
  readonly permissionReader: PermissionReader
}

/** On a store that may be a server's, too. */
export function directoryOn(engine: Engine, clock: Clock = systemClock): TestDirectory {
  const events = new Events(clock, () => false)
  const store = new OrganizationStore(engine, events)
  const memory = new Memory(engine.kv, store, clock)
  return {
    ...createDirectory(engine, {
      store,
      clock,
      log: createLog('silent'),
      events,
      forget: (scope, goOn) => memory.forget(scope, goOn),
      forgetDocument: () => Promise.resolve(),
      editWindowMs: 600_000,
      awayMs: 10_000,
    }),
    memory,
    engine,
    store,
    reader: new AccessReader(store, new AccessNews({ engine, clock, log: createLog('silent') }), clock),
    permissionReader: new PermissionReader(store, clock),
  }
}

/** With a store and a clock of its own. */
export interface OpenDirectory extends TestDirectory {
  readonly clock: HeldClock
  readonly close: () => Promise<void>
}

export async function openDirectory(): Promise<OpenDirectory> {
  const engine = await openMemoryEngine()
  const clock = new HeldClock()
  return { ...directoryOn(engine, clock), clock, close: () => engine.close() }
}

export const tenant: Tenant = { workspaceId: 'workspace', apiKey: 'key' }

export const scopeOf = (tenant: Tenant, organizationId: string): OrganizationScope => ({
  workspaceId: tenant.workspaceId,
  apiKey: tenant.apiKey,
  organizationId,
})

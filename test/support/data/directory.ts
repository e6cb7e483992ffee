import { AccessChangeFeed } from '../../../src/access/access-change-feed.ts'
import { AccessReader } from '../../../src/access/roles/document-access.ts'
import { PermissionReporter } from '../../../src/access/roles/permission-report.ts'
import { type Clock, systemClock } from '../../../src/clock.ts'
import { createCommentCascade } from '../../../src/comments/comment-cascade.ts'
import { DecisionMemory } from '../../../src/decisions/decision-memory.ts'
import { createDirectory, type Directory } from '../../../src/directory/directory.ts'
import type { OrganizationScope } from '../../../src/directory/organizations/organization-keys.ts'
import { OrganizationStore } from '../../../src/directory/organizations/organization-store.ts'
import type { AccessType } from '../../../src/directory/store/records.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import { openMemoryEngine } from '../../../src/engine/memory/engine.ts'
import { EventRecorder } from '../../../src/events/event-recorder.ts'
import { createLog } from '../../../src/log.ts'
import type { Tenant } from '../../../src/model/address.ts'
import { createNotificationCascade } from '../../../src/notifications/notification-cascade.ts'
import { HeldClock } from '../time/clock.ts'

/** The services of the directory without a server. Removals do not start automatically. */
export interface TestDirectory extends Directory {
  readonly engine: Engine
  readonly store: OrganizationStore
  readonly memory: DecisionMemory
  readonly reader: AccessReader
  readonly permissionReader: PermissionReporter
}

/** Creates the services on a store. A server may use the same store. */
export function directoryOn(
  engine: Engine,
  clock: Clock = systemClock,
  defaultAccess: AccessType = 'public',
): TestDirectory {
  const events = new EventRecorder(clock, () => false)
  const store = new OrganizationStore(engine, events)
  const memory = new DecisionMemory(engine.kv, store, clock)
  return {
    ...createDirectory(engine, {
      store,
      clock,
      log: createLog('silent'),
      events,
      cascade: [
        createNotificationCascade(store),
        createCommentCascade(store, memory),
        { removeOrganization: (scope, goOn) => memory.forget(scope, goOn) },
      ],
      editWindowMs: 600_000,
      awayMs: 10_000,
      defaultAccess,
    }),
    memory,
    engine,
    store,
    reader: new AccessReader(store, new AccessChangeFeed({ engine }), clock, defaultAccess),
    permissionReader: new PermissionReporter(store, clock),
  }
}

/** The services with their own store and clock. */
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

import { createCommentCascade } from '../../../src/capabilities/comments/comment-removal.ts'
import { DecisionMemory } from '../../../src/capabilities/decisions/decision-memory.ts'
import { createNotificationCascade } from '../../../src/capabilities/notifications/notification-removal.ts'
import { AccessChangeFeed } from '../../../src/core/access/access-change-feed.ts'
import { AccessReader } from '../../../src/core/access/roles/document-access.ts'
import { PermissionReporter } from '../../../src/core/access/roles/permission-report.ts'
import { type Clock, systemClock } from '../../../src/core/base/clock.ts'
import { createLog } from '../../../src/core/base/log.ts'
import { createDirectory, type Directory } from '../../../src/core/directory/directory.ts'
import type { OrganizationScope } from '../../../src/core/directory/organizations/organization-keys.ts'
import { OrganizationStore } from '../../../src/core/directory/organizations/organization-store.ts'
import type { AccessType } from '../../../src/core/directory/store/records.ts'
import { EventRecorder } from '../../../src/core/events/event-recorder.ts'
import type { Tenant } from '../../../src/core/model/address.ts'
import type { Engine } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
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
      keepDeletedMs: 0,
    }),
    memory,
    engine,
    store,
    reader: new AccessReader(store, new AccessChangeFeed(engine), clock, defaultAccess),
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

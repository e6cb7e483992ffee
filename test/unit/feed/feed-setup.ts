import type { FeedItem } from '../../../src/capabilities/feed/feed-reader.ts'
import { FeedRemoval } from '../../../src/capabilities/feed/feed-removal.ts'
import { FeedService } from '../../../src/capabilities/feed/feed-service.ts'
import { createWebhookModule } from '../../../src/capabilities/webhooks/index.ts'
import { createLog } from '../../../src/core/base/log.ts'
import { keys } from '../../../src/core/directory/organizations/organization-keys.ts'
import { OrganizationStore } from '../../../src/core/directory/organizations/organization-store.ts'
import { EventRecorder } from '../../../src/core/events/event-recorder.ts'
import type { EventType, QueuedEvent } from '../../../src/core/events/outbound-event.ts'
import { createMetrics } from '../../../src/core/metrics/metrics.ts'
import {
  addressKey,
  type DocumentAddress,
  type OrganizationAddress,
} from '../../../src/core/model/address.ts'
import type { Engine } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { HeldClock } from '../../support/time/clock.ts'

export const tenant = { workspaceId: 'w', apiKey: 'k' }
export const scope: OrganizationAddress = { ...tenant, organizationId: 'acme' }
export const address: DocumentAddress = { ...scope, documentId: 'd', editorId: 'main' }

/**
 * Opens a feed that is on, of one API key with one organization.
 * @param wrap replaces parts of the engine
 */
export async function openFeed(wrap: (engine: Engine) => Engine = (engine) => engine) {
  const engine = wrap(await openMemoryEngine())
  const clock = new HeldClock()
  const stopping = new AbortController()
  const services = {
    ...createWebhookModule(engine, clock),
    engine,
    clock,
    log: createLog('silent'),
    metrics: createMetrics(),
    store: new OrganizationStore(engine, new EventRecorder(clock, () => false)),
    feedRemoval: new FeedRemoval(engine, clock),
    stopping: stopping.signal,
  }
  const feed = new FeedService(services)
  await addOrganization(services.store)
  await feed.configure(tenant, { enabled: true })
  return { ...services, services, feed }
}

export const addOrganization = (organizations: OrganizationStore): Promise<void> =>
  organizations.change(scope, async (transaction) => {
    transaction.put(keys.organization, {
      organizationId: 'acme',
      organizationName: 'Acme',
      metadata: {},
      createdAt: 0,
      lastUpdated: 0,
    })
  })

export type OpenFeed = Awaited<ReturnType<typeof openFeed>>

let count = 0

/** Creates an event with a new id. */
export const eventOf = (type: EventType, more: Partial<QueuedEvent> = {}): QueuedEvent => ({
  id: `evt_${String(count++).padStart(16, '0')}`,
  type,
  scope,
  documentId: 'd',
  actionUser: { userId: 'ann' },
  data: {},
  at: 1_700_000_000_000,
  ...more,
})

/** Creates the event of the job of an editor, as a commit leaves it. */
export const changeOf = ({ documentId, editorId }: DocumentAddress = address): QueuedEvent => ({
  ...eventOf('crdt.update_data', { documentId, data: { editorId } }),
  id: `feed_${documentId}_${editorId}`,
  only: 'feed',
})

/** Appends updates of users to the log of an editor. */
export async function appendUpdates(
  { log }: Pick<Engine, 'log'>,
  authors: readonly string[],
  at: DocumentAddress = address,
): Promise<void> {
  const key = addressKey(at)
  const [head] = await log.heads([key])
  await log.append(
    key,
    head?.epoch ?? 'create',
    authors.map((by) => ({ bytes: new Uint8Array([0, 0]), by })),
  )
}

/** Returns all events of a feed. */
export async function allOf({ feed }: OpenFeed): Promise<readonly FeedItem[]> {
  return (await feed.page(tenant, { start: 'oldest', limit: 1_000 }, 0)).events
}

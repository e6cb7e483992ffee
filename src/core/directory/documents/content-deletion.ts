import { type ContentDeletion, deletionJob } from '../../events/change-jobs.ts'
import type { EventRecorder } from '../../events/event-recorder.ts'
import type { OrganizationStore } from '../organizations/organization-store.ts'

/** Adds the event of a deletion of content to the change feed. Call it before the deletion and after it. */
export async function tellFeedOfDeletion(
  store: OrganizationStore,
  events: EventRecorder,
  deletion: ContentDeletion,
  when: 'before' | 'after',
): Promise<void> {
  const { address } = deletion
  if (!events.wants(address, 'crdt.delete_data')) return
  await store.carryOut(address, async (transaction) => transaction.enqueue(deletionJob(deletion, when)))
}

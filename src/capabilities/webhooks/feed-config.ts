import * as s from '../../core/base/schema.ts'
import { type EventType, eventTypes } from '../../core/events/outbound-event.ts'
import type { RecordType } from '../../core/store/stored-record.ts'

/** Configuration of the change feed of an API key. */
export interface FeedConfig {
  readonly enabled: boolean
  /** Time in seconds for which the feed keeps an event. */
  readonly keepSeconds: number
}

/** The configuration of an API key that has never configured its feed. The feed then keeps events for a week. */
export const noFeedConfig: FeedConfig = { enabled: false, keepSeconds: 604_800 }

export const feedConfigType: RecordType<FeedConfig> = {
  name: 'configuration of a feed',
  schema: s.object({ enabled: s.boolean, keepSeconds: s.number }),
}

/** Types of events that are about webhooks themselves. The feed does not contain them. */
const typesOfWebhooks: readonly EventType[] = ['webhook.test', 'message.attempt.exhausted']

/** Types of the events that the feed gets from webhook events. */
export const feedEventTypes = eventTypes.filter((type) => !typesOfWebhooks.includes(type))

/**
 * Types of the events that must be recorded for a feed. The feed records the changes of content itself, because
 * its events form a chain of versions.
 */
export const typesForFeed = feedEventTypes.filter((type) => type !== 'crdt.update_data')

import type { QueuedEvent } from '../../core/events/outbound-event.ts'
import type { OutgoingRequest } from '../../core/outgoing/checked-sender.ts'
import type { MessageRecord } from '../subscriptions/deliveries/delivery-records.ts'

/** A message and its event. */
export interface OutgoingMessage {
  readonly message: MessageRecord
  readonly event: QueuedEvent
}

/** The request for a message. */
export interface ComposedMessage {
  readonly request: OutgoingRequest
  /** The version that the request of the callback `store` contains; otherwise null. */
  readonly version: string | null
}

import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../../core/base/clock.ts'
import { ApiError } from '../../../core/base/errors.ts'
import { eventJob, eventTopic, orderAt, type QueuedEvent } from '../../../core/events/outbound-event.ts'
import type { Bus, Key } from '../../../core/store/engine.ts'
import { lastSegment } from '../../../core/store/key-encoding.ts'
import { storedEditorOf } from '../callback-records.ts'
import {
  type CursorPage,
  deliveriesPart,
  deliveryTopic,
  dueJob,
  deliveryKeys as keys,
  type ListingCursor,
  pageAtCursor,
  serveJob,
  sweepJob,
  timeIn,
} from './delivery-keys.ts'
import {
  type DeliveryState,
  type DeliveryStatus,
  deliveryLimits,
  deliveryStateType,
  firstState,
  type MessageRecord,
  messageEventType,
  messageIdOf,
  messageIdStart,
  messageRecordType,
  type TargetAddress,
} from './delivery-records.ts'
import type { DeliveryChange, DeliveryStore } from './delivery-store.ts'
import {
  type AttemptResult,
  failMessage,
  newMessage,
  nextStoreMessage,
  recordAttempt,
  requeueMessage,
  skipStoreMessage,
  stateAfter,
} from './message-transitions.ts'

/** Reasons why messages fail although they have attempts left, by outcome. */
const dropReasons = {
  overflow: 'too many messages are waiting',
  disabled: 'the endpoint is disabled',
} as const

type DropOutcome = keyof typeof dropReasons

/**
 * Function that receives messages that failed although they had attempts left. The `reason` of each message
 * is set.
 */
type DropListener = (address: TargetAddress, outcome: DropOutcome, messages: readonly MessageRecord[]) => void

/** Time in ms between two looks at a message. Another node can make the attempt, so there is no event to wait for. */
const lookMs = 100

/** Maximum number of messages that one commit fails or requeues. */
const changedAtOnce = 200
/** Interval in ms at which the delivery log of a target is swept (1 day). */
export const sweepMs = 86_400_000

/** Rules for failed attempts. */
export interface RetryPolicy {
  /**
   * Returns the time in ms until the next attempt, if `failures` attempts have failed; null if there are no
   * more attempts.
   */
  retryAfter(failures: number): number | null
  /**
   * Returns the event that reports that the last attempt of a message has failed; null if no event must be
   * sent.
   */
  exhausted(message: MessageRecord): QueuedEvent | null
}

/**
 * Result of recording attempts. Instead of a message, `messages` contains null if the message was deleted or
 * has failed meanwhile.
 */
interface RecordedAttempt {
  readonly messages: readonly (MessageRecord | null)[]
  readonly state: DeliveryState
}

/** Keeps the messages of targets: their queue, their outcomes, and their log. */
export class DeliveryService {
  readonly #store: DeliveryStore
  readonly #bus: Bus
  readonly #clock: Clock
  /** Limits of the deliveries. The default is `deliveryLimits`; tests use smaller limits. */
  readonly #limits: Readonly<Record<keyof typeof deliveryLimits, number>>
  #dropped: DropListener = () => {}

  constructor(
    store: DeliveryStore,
    bus: Bus,
    clock: Clock,
    limits: Readonly<Record<keyof typeof deliveryLimits, number>> = deliveryLimits,
  ) {
    this.#store = store
    this.#bus = bus
    this.#clock = clock
    this.#limits = limits
  }

  /**
   * Sets the listener for messages that fail although they have attempts left. The listener is called after
   * the commit.
   */
  onDropped(listener: DropListener): void {
    this.#dropped = listener
  }

  /**
   * Enqueues events for a target, in the given order. An event that already has a message is skipped. If the
   * target then has too many pending messages, the oldest ones fail.
   */
  async enqueue(address: TargetAddress, events: readonly QueuedEvent[]): Promise<void> {
    const now = this.#clock.now()
    const failed = await this.#store.change(address, async (change) => {
      const ids = events.map((event) => messageIdOf(event, address.targetId))
      const known = await change.get(ids)
      const added = events.flatMap((event, index) =>
        known[index] === null ? [{ event, message: newMessage(event, ids[index] as string, now) }] : [],
      )
      if (added.length === 0) return []
      const excess = change.state.pending + added.length - this.#limits.pending
      const failed =
        excess > 0
          ? fail(
              change,
              await change.first('pending', Math.min(excess, added.length + changedAtOnce)),
              'overflow',
            )
          : []
      for (const { message, event } of added) change.add(message, event)
      change.enqueue(serveJob(address, now))
      change.enqueue(sweepJob(address, now + sweepMs))
      return failed
    })
    this.#drop(address, 'overflow', failed)
    this.#wake()
  }

  /**
   * Enqueues events for a target of the callback `store`. Each editor has one message, which stands for all its
   * events. Their number is therefore not limited.
   * @param spacingMs minimum time in ms between two attempts for an editor
   */
  async enqueueStore(
    address: TargetAddress,
    events: readonly QueuedEvent[],
    spacingMs: number,
  ): Promise<void> {
    const now = this.#clock.now()
    const last = new Map(events.map((event) => [storedEditorOf(event).name, event]))
    await this.#store.change(address, async (change) => {
      const editors = [...last]
      const prior = await change.ofEditors(editors.map(([editor]) => editor))
      const times = editors.flatMap(([editor, event], index) => {
        const known = prior[index] ?? null
        const next = nextStoreMessage(known, { event, editor, ...address }, { now, spacingMs })
        if (known?.id === next.id) change.replace(known, next)
        else {
          if (known !== null) change.remove(known)
          change.add(next, { ...event, at: now })
        }
        return next.dueAt === known?.dueAt ? [] : (next.dueAt ?? [])
      })
      this.#enqueueDue(address, change, times)
      change.enqueue(sweepJob(address, now + sweepMs))
    })
    this.#wake()
  }

  /**
   * Records that the receiver of a message of the callback `store` already has the version of the editor.
   * @param events as in `skipStoreMessage`
   */
  async skip(address: TargetAddress, messageId: string, events: number): Promise<void> {
    const now = this.#clock.now()
    await this.#store.change(address, async (change) => {
      const [message] = await change.get([messageId])
      if (message?.status !== 'pending') return
      const after = skipStoreMessage(message, events, now)
      change.replace(message, after)
      if (after.dueAt !== null) this.#enqueueDue(address, change, [after.dueAt])
    })
  }

  /** Enqueues one event for a target. Returns the id of its message. */
  async send(address: TargetAddress, event: QueuedEvent): Promise<string> {
    await this.enqueue(address, [event])
    return messageIdOf(event, address.targetId)
  }

  /**
   * Waits for the first attempt of a message. Returns the message as it is then, or after `waitMs`; null if it was
   * deleted.
   */
  async attempted(address: TargetAddress, messageId: string, waitMs: number): Promise<MessageRecord | null> {
    const until = performance.now() + waitMs
    for (;;) {
      const message = await this.#store.read(address).get(keys.message(messageId), messageRecordType)
      if (message === null || message.attempts.length > 0 || message.status !== 'pending') return message
      if (performance.now() >= until) return message
      await sleep(lookMs)
    }
  }

  /** Returns a page of messages, sorted by the time of their events, the newest first. */
  list(
    address: TargetAddress,
    status: DeliveryStatus | undefined,
    cursor: ListingCursor | null,
    limit: number,
  ): Promise<CursorPage<MessageRecord>> {
    const reader = this.#store.read(address)
    const prefix = status === undefined ? keys.messages : keys.by(status)
    const listing = { reader, prefix, reverse: true, keyOf: keys.message, type: messageRecordType }
    return pageAtCursor(listing, cursor, limit)
  }

  /** Returns the due messages, sorted by the time at which they are due. */
  async due(address: TargetAddress, limit: number): Promise<readonly MessageRecord[]> {
    const now = this.#clock.now()
    const reader = this.#store.read(address)
    const entries = await reader.scan({ prefix: keys.due, limit })
    const ids = entries.filter(({ key }) => timeIn(key) <= now).map(({ key }) => lastSegment(key))
    const messages = await reader.getAll(ids.map(keys.message), messageRecordType)
    return messages.filter((message) => message !== null)
  }

  /** Returns the event of a message; null if the message was deleted. */
  eventOf(address: TargetAddress, messageId: string): Promise<QueuedEvent | null> {
    return this.#store.read(address).get(keys.event(messageId), messageEventType)
  }

  async state(address: TargetAddress): Promise<DeliveryState> {
    return (await this.#store.read(address).get(keys.state, deliveryStateType)) ?? firstState
  }

  /**
   * Returns the number of pending messages, and the time of their oldest event in epoch milliseconds. The
   * time is null if no message is pending.
   */
  async waiting(
    address: TargetAddress,
  ): Promise<{ readonly pending: number; readonly oldestAt: number | null }> {
    const { pending } = await this.state(address)
    if (pending === 0) return { pending, oldestAt: null }
    const { items } = await this.list(address, 'pending', { upTo: '' }, 1)
    return { pending, oldestAt: items[0]?.at ?? null }
  }

  /**
   * Records the outcomes of attempts, and schedules the next attempts.
   * @param results outcomes in the order of the attempts, at most one for each message
   */
  async record(
    address: TargetAddress,
    results: readonly AttemptResult[],
    rules: RetryPolicy,
  ): Promise<RecordedAttempt> {
    const now = this.#clock.now()
    let hasEvents = false
    const recorded = await this.#store.change(address, async (change) => {
      const before = await change.get(results.map(({ messageId }) => messageId))
      const messages = results.map((result, index) => {
        change.state = stateAfter(change.state, result.attempt)
        const message = before[index]
        // The message has failed or has been deleted meanwhile.
        if (message?.status !== 'pending') return null
        const after = recordAttempt(message, result, (failures) => {
          const delay = rules.retryAfter(failures)
          return delay === null ? null : now + delay
        })
        change.replace(message, after)
        if (after.dueAt !== null) this.#enqueueDue(address, change, [after.dueAt])
        const exhausted = after.status === 'failed' ? rules.exhausted(after) : null
        if (exhausted !== null) change.enqueue(eventJob(exhausted))
        hasEvents ||= exhausted !== null
        return after
      })
      return { messages, state: change.state }
    })
    if (hasEvents) this.#bus.publish(eventTopic, new Uint8Array())
    return recorded
  }

  /**
   * Sends a message again with the same id. The message may have any status.
   * @throws ApiError NOT_FOUND if the target has no message with this id
   */
  async resend(address: TargetAddress, messageId: string): Promise<void> {
    await this.#store.change(address, async (change) => {
      const [message] = await change.get([messageId])
      if (!message)
        throw new ApiError(
          'webhook/message-not-found',
          'there is no such message of the endpoint; see advancedwebhook/deliveries/get',
        )
      this.#requeue(address, change, [message])
    })
    this.#wake()
  }

  /**
   * Requeues failed messages whose events happened at `since` or later, the oldest first. Returns the number
   * of requeued messages. This number is limited by `deliveryLimits.recovered` and by the free space in the
   * queue.
   * @param since epoch milliseconds
   */
  async recover(address: TargetAddress, since: number): Promise<number> {
    const { recovered } = this.#limits
    const after = keys.byStatus('failed', messageIdStart + orderAt(since))
    let count = 0
    for (let some = -1; some !== 0 && count < recovered; count += some)
      some = await this.#recoverSome(address, after, Math.min(recovered - count, changedAtOnce))
    this.#wake()
    return count
  }

  /** Enqueues a job, due immediately, that processes the messages of a target. */
  async serve(address: TargetAddress): Promise<void> {
    await this.#store.kv.commit(deliveriesPart(address), { jobs: [serveJob(address, this.#clock.now())] })
    this.#wake()
  }

  /**
   * Fails up to `changedAtOnce` pending messages of a disabled endpoint, the oldest first. Returns the number
   * of failed messages.
   * @param isOff returns whether the endpoint is disabled. A message that is added later is not failed
   */
  async failDisabled(address: TargetAddress, isOff: () => Promise<boolean>): Promise<number> {
    const failed = await this.#store.change(address, async (change) => {
      // Read before `isOff`: a message that arrives afterwards is not among them.
      const oldest = await change.first('pending', changedAtOnce)
      return (await isOff()) ? fail(change, oldest, 'disabled') : []
    })
    this.#drop(address, 'disabled', failed)
    return failed.length
  }

  #drop(address: TargetAddress, outcome: DropOutcome, messages: readonly MessageRecord[]): void {
    if (messages.length > 0) this.#dropped(address, outcome, messages)
  }

  #recoverSome(address: TargetAddress, after: Key, limit: number): Promise<number> {
    return this.#store.change(address, async (change) => {
      const room = Math.min(limit, this.#limits.pending - change.state.pending)
      const messages = room > 0 ? await change.first('failed', room, after) : []
      this.#requeue(address, change, messages)
      return messages.length
    })
  }

  /** Enqueues jobs for the times at which messages are due. */
  #enqueueDue(address: TargetAddress, change: DeliveryChange, times: readonly number[]): void {
    const now = this.#clock.now()
    if (times.some((at) => at <= now)) change.enqueue(serveJob(address, now))
    for (const at of new Set(times)) if (at > now) change.enqueue(dueJob(address, at))
  }

  #requeue(address: TargetAddress, change: DeliveryChange, messages: readonly MessageRecord[]): void {
    const now = this.#clock.now()
    for (const message of messages) change.replace(message, requeueMessage(message, now))
    if (messages.length > 0) change.enqueue(serveJob(address, now))
  }

  #wake(): void {
    this.#bus.publish(deliveryTopic, new Uint8Array())
  }
}

/** Fails pending messages, and returns them as they are then. */
function fail(
  change: DeliveryChange,
  messages: readonly MessageRecord[],
  outcome: DropOutcome,
): readonly MessageRecord[] {
  return messages.map((message) => {
    const failed = failMessage(message, dropReasons[outcome])
    change.replace(message, failed)
    return failed
  })
}

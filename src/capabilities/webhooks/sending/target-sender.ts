import { ApiError } from '../../../core/base/errors.ts'
import { traceEvent } from '../../../core/events/event-trace.ts'
import type { Services } from '../../../rest/services.ts'
import { firstState, type MessageRecord, type TargetAddress } from '../deliveries/delivery-records.ts'
import type { AttemptResult } from '../deliveries/message-transitions.ts'
import type { WebhookTarget } from '../target.ts'
import { type AttemptOutcome, type AttemptSender, traceDelivery } from './delivery-attempt.ts'
import { disableAfterMs, type FailureLog, retryPolicyFor } from './failed-attempts.ts'
import type { OutgoingMessage, RequestComposer } from './request-composer.ts'

/**
 * Time in ms for which a target uses its slot. When this time has passed, the attempt in progress is the last
 * one, and another target gets the slot.
 */
const sliceMs = 1_000
/** Maximum number of messages in one read. */
const batchSize = 16
/**
 * Maximum time in ms for which a target keeps its slot while it waits for its rate limit. If the wait is
 * longer, another target gets the slot.
 */
const waitMs = 100
/** Delay in ms before due messages are read again while they are being deleted. */
const removedMs = 1_000

/** The parts that send the messages of all targets. */
export interface SendContext {
  readonly services: Services
  readonly composer: RequestComposer
  readonly attempts: AttemptSender
  readonly failures: FailureLog
  /** Aborts the attempts in progress. */
  readonly cut: AbortSignal
}

/** Result of serving a target: why the sender has stopped. */
type SendResult =
  | { readonly kind: 'empty' }
  /** Nothing may be sent to the target any more. */
  | { readonly kind: 'closed' }
  | { readonly kind: 'waits'; readonly ms: number }

/** Sends the due messages of one target in order, one at a time, for about `sliceMs`. */
export class TargetSender {
  readonly #sending: SendContext
  readonly #services: Services
  readonly #address: TargetAddress
  readonly #mayGoOn: () => boolean
  readonly #until: number
  /** Outcomes that are not stored yet, in the order of the attempts. */
  readonly #outcomes: AttemptResult[] = []
  #recording: Promise<void> | null = null
  #hasFailed = false
  #state = firstState
  #attemptedAt = 0

  /** @param mayGoOn called before each attempt; if it returns false, sending ends */
  constructor(sending: SendContext, address: TargetAddress, mayGoOn: () => boolean) {
    this.#sending = sending
    this.#services = sending.services
    this.#address = address
    this.#mayGoOn = mayGoOn
    this.#until = this.#services.clock.now() + sliceMs
  }

  async serve(): Promise<SendResult> {
    this.#state = await this.#services.deliveries.state(this.#address)
    this.#attemptedAt = this.#state.attemptedAt
    for (;;) {
      const due = await this.#services.deliveries.due(this.#address, batchSize)
      if (due.length === 0) return (await this.#target()) === null ? { kind: 'closed' } : { kind: 'empty' }
      const served = await this.#sendAll(due)
      await this.#recording
      const target = await this.#target()
      if (target !== null) await this.#disableFailing(target)
      if (served !== null) return served
    }
  }

  #target(): Promise<WebhookTarget | null> {
    return this.#services.subscriptions.targetOf(this.#address, this.#address.targetId)
  }

  /**
   * Sends messages. Returns null if all of them have been sent. Reads the target and the event of each
   * message immediately before its attempt.
   */
  async #sendAll(due: readonly MessageRecord[]): Promise<SendResult | null> {
    for (const message of due) {
      const [target, event] = await Promise.all([
        this.#target(),
        this.#services.deliveries.eventOf(this.#address, message.id),
      ])
      if (target === null) return { kind: 'closed' }
      const wait = this.#waitFor(target)
      if (wait > waitMs) return { kind: 'waits', ms: wait }
      if (wait > 0) await new Promise<void>((resolve) => this.#services.clock.after(wait, resolve))
      if (!this.#mayGoOn() || this.#services.clock.now() >= this.#until) return { kind: 'waits', ms: 0 }
      if (event === null) return { kind: 'waits', ms: removedMs }
      // Sends nothing more: outcomes are no longer recorded, so every further message would be sent twice.
      if (this.#hasFailed) return null
      const goesOn = await this.#send(target, { message, event })
      if (!goesOn) return { kind: 'waits', ms: 0 }
    }
    return null
  }

  /** Returns the time in ms until the rate limit allows the next attempt. */
  #waitFor(target: WebhookTarget): number {
    const rateLimit = target.kind === 'endpoint' ? target.endpoint.rateLimit : null
    if (rateLimit === null) return 0
    const spacing = Math.ceil(1_000 / rateLimit)
    // `Math.min` prevents a longer wait than `spacing` if the clock was set back.
    return Math.min(spacing, this.#attemptedAt + spacing - this.#services.clock.now())
  }

  /** Sends a message. Returns false if no further message may be sent now. */
  async #send(target: WebhookTarget, outgoing: OutgoingMessage): Promise<boolean> {
    const { clock, metrics } = this.#services
    const at = clock.now()
    const made = await traceDelivery(this.#services.spans, outgoing.event, this.#address.targetId, () =>
      this.#attempt(target, outgoing, at),
    )
    if (made === null) {
      const { id, progress } = outgoing.message
      await this.#services.deliveries.skip(this.#address, id, progress?.events ?? 0)
      return true
    }
    const { outcome, version } = made
    if (outcome === null) return false
    this.#attemptedAt = at
    const { result, ...answer } = outcome
    const attempt = { at, ...answer }
    metrics.webhookAttemptSeconds.observe(attempt.durationMs / 1000)
    metrics.webhookAttempts.inc({ outcome: result === 'answered' ? 'succeeded' : 'failed' })
    if (target.kind === 'store' && result !== 'unsent') {
      metrics.callbackCalls.inc({ callback: 'store', result })
      metrics.callbackSeconds.observe({ callback: 'store' }, attempt.durationMs / 1000)
    }
    const { httpStatus, durationMs, error } = attempt
    const fields = { target: this.#address.targetId, httpStatus, durationMs, error }
    traceEvent(this.#services.tracer, 'event_attempted', outgoing.event, fields)
    this.#record({
      messageId: outgoing.message.id,
      attempt,
      ...storeAttemptOf(target, outgoing, version),
    })
    this.#sending.failures.attempted(this.#address, outgoing.message, attempt)
    if (attempt.httpStatus !== 410 || target.kind !== 'endpoint') return true
    await this.#disable(target.endpoint.id, 'gone')
    return false
  }

  /** Makes an attempt. Returns null if the receiver needs no request. */
  async #attempt(
    target: WebhookTarget,
    outgoing: OutgoingMessage,
    at: number,
  ): Promise<{ readonly outcome: AttemptOutcome | null; readonly version: string | null } | null> {
    const { unreadResponses } = this.#services.memoryAccounts
    const claim = unreadResponses.open({ workspaceId: this.#address.workspaceId, address: null }, null)
    try {
      const composed = await this.#sending.composer.compose(target, outgoing, at)
      if (composed === null) return null
      const { request, version } = composed
      claim.reserve(request.body.byteLength)
      return { outcome: await this.#sending.attempts.make(request, this.#sending.cut), version }
    } catch (err) {
      if (err instanceof ApiError && isTemporary(err))
        return { outcome: failedWith(err.message), version: null }
      this.#services.log.error(
        { event: 'webhook.payload_failed', err, type: outgoing.message.type },
        'could not create the payload of an event',
      )
      return { outcome: failedWith('the payload could not be created'), version: null }
    } finally {
      claim.release()
    }
  }

  /**
   * Records an outcome while the next attempts run. One commit records all outcomes that are ready. After a crash,
   * messages whose outcome was not recorded are sent again.
   */
  #record(result: AttemptResult): void {
    this.#outcomes.push(result)
    this.#recording ??= this.#recordAll()
    // `serve` throws this error to its caller.
    this.#recording.catch(() => {
      this.#hasFailed = true
    })
  }

  async #recordAll(): Promise<void> {
    const { deliveries, metrics } = this.#services
    while (this.#outcomes.length > 0) {
      const outcomes = this.#outcomes.splice(0)
      const rules = retryPolicyFor(this.#services, this.#address)
      const { messages, state } = await deliveries.record(this.#address, outcomes, rules)
      this.#state = state
      for (const message of messages) {
        if (message?.status === 'failed') metrics.webhookMessages.inc({ outcome: 'exhausted' })
        if (message?.status === 'succeeded') metrics.webhookMessages.inc({ outcome: 'succeeded' })
      }
    }
    this.#recording = null
  }

  /**
   * Disables an endpoint that has had no success for `disableAfterMs`. The time counts from the first failure
   * since the last success, or from the time at which the endpoint was enabled, whichever is later.
   */
  async #disableFailing(target: WebhookTarget): Promise<void> {
    const { failingSince } = this.#state
    if (target.kind !== 'endpoint' || failingSince === null) return
    const since = Math.max(failingSince, target.endpoint.enabledSince)
    if (this.#services.clock.now() - since >= disableAfterMs)
      await this.#disable(target.endpoint.id, 'failures')
  }

  async #disable(endpointId: string, by: 'gone' | 'failures'): Promise<void> {
    const { workspaceId, apiKey } = this.#address
    const event = 'webhook.endpoint_disabled'
    this.#services.log.warn({ event, workspaceId, apiKey, endpointId, by }, 'disabling a webhook endpoint')
    await this.#services.endpoints.disable({ workspaceId, apiKey }, endpointId, by)
  }
}

/** Returns whether the content of an editor could not be read at this time, or there was no memory for it. */
const isTemporary = ({ status }: ApiError): boolean =>
  status === 'UNAVAILABLE' || status === 'RESOURCE_EXHAUSTED' || status === 'ABORTED'

const failedWith = (error: string): AttemptOutcome => ({
  result: 'unsent',
  httpStatus: null,
  durationMs: 0,
  error,
})

/** Returns what the message of an editor must know of an attempt of the callback `store`. */
const storeAttemptOf = (
  target: WebhookTarget,
  { message: { progress } }: OutgoingMessage,
  version: string | null,
): Pick<AttemptResult, 'store'> =>
  target.kind === 'store' && progress !== undefined
    ? { store: { events: progress.events, version, spacingMs: target.callback.minSeconds * 1000 } }
    : {}

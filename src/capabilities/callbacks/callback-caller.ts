import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { pauseAfter } from '../../core/base/backoff.ts'
import { type CurrentTrace, currentTrace, runTraced, startSpan } from '../../core/base/current-trace.ts'
import { ApiError } from '../../core/base/errors.ts'
import { MalformedJsonError } from '../../core/base/json.ts'
import type { Tenant } from '../../core/model/address.ts'
import { CheckedSender, ResponseTimeoutError } from '../../core/outgoing/checked-sender.ts'
import { isSuccess, ResponseTooLargeError } from '../../core/outgoing/http-post.ts'
import { failureText } from '../../core/outgoing/no-response-error.ts'
import { signatureHeaders, signingSecrets } from '../../core/outgoing/sign.ts'
import { RepeatedEvents } from '../../core/quota/repeated-events.ts'
import { keyName } from '../../core/store/key-encoding.ts'
import type { Services } from '../../rest/services.ts'
import type { CallbacksRecord } from '../webhooks/callback-records.ts'
import { CallSlots } from './call-slots.ts'
import { CircuitBreakers } from './circuit-breaker.ts'
import { type AnsweringCallbackName, attemptPauses, attemptsMax, callLimits } from './limits.ts'

/**
 * Why a call failed. `status`: the status was not 2xx. `invalid`: the response has the wrong form or is too
 * large. `busy`: no slot was free in time. `paused`: the circuit breaker is open.
 */
type CallFailure = 'timeout' | 'unreachable' | 'status' | 'invalid' | 'busy' | 'paused'

type CallbackOutcome<Answer> =
  | { readonly kind: 'answered'; readonly answer: Answer }
  | { readonly kind: 'failed'; readonly failure: CallFailure; readonly reason: string }

type Failed = Extract<CallbackOutcome<never>, { kind: 'failed' }>

type CallingServices = Pick<Services, 'clock' | 'metrics' | 'log' | 'destinations' | 'stopping' | 'functions'>

interface CallbackCall<Answer> {
  readonly tenant: Tenant
  readonly name: AnsweringCallbackName
  readonly callbacks: CallbacksRecord
  /** Members of the request, in addition to its name and the API key. */
  readonly data: object
  /**
   * Id of the user whom the call concerns; null if it concerns no single user. Failures of the calls for one user
   * do not affect the calls for others.
   */
  readonly userId: string | null
  /** Name of the only thing that an invalid response may concern, such as an editor. */
  readonly subject: string
  /** Reads a response. @throws MalformedJsonError if it has the wrong form; ApiError if it cannot be read now */
  readonly read: (body: Uint8Array) => Promise<Answer>
}

interface FailureEvent {
  readonly workspaceId: string
  readonly apiKey: string
  readonly callback: AnsweringCallbackName
  readonly failure: CallFailure
  readonly reason: string
}

/**
 * Calls the callbacks of API keys, and waits for their responses. A call has one timeout, which includes the
 * wait for a slot and the attempts. Slots (`call-slots.ts`) limit the concurrent calls, and circuit breakers pause
 * the calls that fail, so that they affect no other API key, and no other user.
 */
export class CallbackCaller {
  readonly #services: CallingServices
  readonly #sender: CheckedSender
  readonly #slots: Readonly<Record<AnsweringCallbackName, CallSlots>>
  readonly #breakers: Readonly<Record<AnsweringCallbackName, CircuitBreakers>>
  readonly #failures: RepeatedEvents<FailureEvent>
  readonly #end = new AbortController()

  constructor(services: CallingServices) {
    const { clock, log, metrics, destinations, functions, stopping } = services
    this.#services = services
    this.#sender = new CheckedSender({ destinations, clock, receivers: functions?.receivers })
    // All calls end when the server stops.
    stopping.addEventListener('abort', () => this.#end.abort(), { once: true })
    // Each call in progress has a listener; the slots limit their number.
    setMaxListeners(0, this.#end.signal)
    const { authorize, load } = callLimits
    this.#slots = { authorize: new CallSlots(authorize, clock), load: new CallSlots(load, clock) }
    this.#breakers = { authorize: new CircuitBreakers(clock), load: new CircuitBreakers(clock) }
    this.#failures = new RepeatedEvents(clock, (event, times) =>
      log.warn({ event: 'callback.failed', ...event, times }, 'a callback failed'),
    )
    for (const [callback, breakers] of Object.entries(this.#breakers))
      metrics.callbackBreakers.push({ callback, open: () => breakers.open })
  }

  /** Calls a callback. The promise never rejects: failures are outcomes. */
  async call<Answer>(call: CallbackCall<Answer>): Promise<CallbackOutcome<Answer>> {
    const { tenant, name, callbacks } = call
    const { metrics } = this.#services
    const config = callbacks[name]
    if (config === null) return failed('unreachable', 'the callback is not configured')
    const receiver = keyName([tenant.workspaceId, tenant.apiKey, config.url, call.userId ?? ''])
    const stopTimer = metrics.callbackSeconds.startTimer({ callback: name })
    const outcome = this.#breakers[name].isPaused(receiver)
      ? paused
      : await this.#traced(call, config, receiver)
    stopTimer()
    const result = outcome.kind === 'answered' ? outcome.kind : outcome.failure
    metrics.callbackCalls.inc({ callback: name, result })
    if (outcome.kind === 'failed') this.#log(tenant, name, outcome)
    return outcome
  }

  /** Logs the failures that have not been logged yet. */
  end(): void {
    this.#failures.end()
  }

  /** Makes the call as a part of the current trace, if there is one. */
  async #traced<Answer>(
    call: CallbackCall<Answer>,
    config: { readonly url: string; readonly timeoutMs: number },
    receiver: string,
  ): Promise<CallbackOutcome<Answer>> {
    const trace = currentTrace()
    if (trace === undefined) return this.#inSlot(call, config, receiver, undefined)
    const attributes = { 'http.request.method': 'POST', 'weft.workspace_id': call.tenant.workspaceId }
    const span = startSpan(`callback ${call.name}`, attributes, 'client')
    const inner = span === null ? trace : { ...trace, context: span.context }
    const outcome = await this.#inSlot(call, config, receiver, inner)
    span?.end(outcome.kind === 'failed' ? outcome.failure : undefined)
    return outcome
  }

  /** Waits for a slot, then makes the call. Gives up when the timeout of the call has passed. */
  async #inSlot<Answer>(
    call: CallbackCall<Answer>,
    { url, timeoutMs }: { readonly url: string; readonly timeoutMs: number },
    receiver: string,
    trace: CurrentTrace | undefined,
  ): Promise<CallbackOutcome<Answer>> {
    const { name, tenant } = call
    const { clock } = this.#services
    const breakers = this.#breakers[name]
    const slots = this.#slots[name]
    if (slots.isFull(tenant)) return tooBusy
    const deadline = clock.now() + timeoutMs
    return new Promise((resolve) => {
      let isWaiting = true
      const end = new AbortController()
      const disarm = clock.after(timeoutMs, () => {
        if (isWaiting) resolve(tooBusy)
      })
      const makeCall = async (): Promise<void> => {
        // A call that waited too long has failed already. Its slot is free again at once.
        if (clock.now() >= deadline) return
        isWaiting = false
        disarm()
        // Earlier calls may have failed meanwhile.
        if (!breakers.admit(receiver, timeoutMs)) return resolve(paused)
        // The call that has freed the slot may belong to another trace.
        const attempts = (): Promise<CallbackOutcome<Answer>> =>
          this.#attempts(call, { url, deadline, stop: AbortSignal.any([this.#end.signal, end.signal]) })
        const made = await (trace === undefined ? attempts() : runTraced(trace, attempts))
        const outcome = end.signal.aborted && made.kind === 'failed' ? tooBusy : made
        if (isOutage(outcome)) breakers.failed(receiver)
        else if (outcome.kind === 'failed' && outcome.failure === 'invalid')
          breakers.failed(receiver, call.subject)
        // A failure of this server does not concern the receiver.
        else if (outcome.kind === 'answered' || outcome.failure !== 'busy') breakers.succeeded(receiver)
        resolve(outcome)
      }
      const isSuspect = breakers.isFailing(receiver)
      void slots.run({ tenant, userId: call.userId, isSuspect, call: makeCall, abort: () => end.abort() })
    })
  }

  /** Repeats failed attempts while there is time. */
  async #attempts<Answer>(
    call: CallbackCall<Answer>,
    { url, deadline, stop }: { readonly url: string; readonly deadline: number; readonly stop: AbortSignal },
  ): Promise<CallbackOutcome<Answer>> {
    const { clock } = this.#services
    const id = `call_${randomUUID()}`
    const body = Buffer.from(
      JSON.stringify({ callback: call.name, apiKey: call.tenant.apiKey, ...call.data }),
    )
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#attempt(call, { url, id, body, deadline, stop })
      const pause = pauseAfter(attemptPauses, attempt)
      const isLast = attempt >= attemptsMax || clock.now() + pause >= deadline || stop.aborted
      if (isLast || !isOutage(outcome)) return outcome
      await new Promise<void>((resolve) => void clock.after(pause, resolve))
    }
  }

  async #attempt<Answer>(
    { name, callbacks, read }: CallbackCall<Answer>,
    request: {
      readonly url: string
      readonly id: string
      readonly body: Uint8Array
      readonly deadline: number
      readonly stop: AbortSignal
    },
  ): Promise<CallbackOutcome<Answer>> {
    const { clock } = this.#services
    const { url, id, body, deadline, stop } = request
    const now = clock.now()
    try {
      const response = await this.#sender.send(
        {
          url,
          body,
          headers: signatureHeaders({ id, at: now, body }, signingSecrets(callbacks, now)),
        },
        {
          stop,
          reads: 'body',
          deadlineMs: deadline - now,
          answerBytesMax: callLimits[name].answerBytesMax,
        },
      )
      if (!isSuccess(response.status)) return failed('status', statusText(response.status))
      return { kind: 'answered', answer: await read(response.body ?? new Uint8Array()) }
    } catch (error) {
      if (error instanceof MalformedJsonError)
        return failed('invalid', `the answer is not valid: ${error.message}`)
      if (error instanceof ApiError) return failed('busy', error.message)
      if (error instanceof ResponseTooLargeError) return failed('invalid', error.message)
      if (error instanceof ResponseTimeoutError) return failed('timeout', error.message)
      return failed('unreachable', failureText(error))
    }
  }

  #log({ workspaceId, apiKey }: Tenant, callback: AnsweringCallbackName, { failure, reason }: Failed): void {
    const event = { workspaceId, apiKey, callback, failure, reason }
    this.#failures.note(`${workspaceId} ${apiKey} ${callback} ${failure}`, event, {
      kind: callback,
      event: { ...event, workspaceId: 'others', apiKey: 'others' },
    })
  }
}

const failed = (failure: CallFailure, reason: string): Failed => ({ kind: 'failed', failure, reason })

const paused = failed('paused', 'the callback is not called at the moment, because its latest calls failed')

const tooBusy = failed('busy', 'too many calls of the callback are in progress')

const statusText = (status: number): string =>
  `the callback answered ${status}${status >= 300 && status < 400 ? '; redirects are not followed' : ''}`

/** Returns whether the receiver is not available, so that another attempt makes sense. */
const isOutage = (outcome: CallbackOutcome<unknown>): boolean =>
  outcome.kind === 'failed' && ['timeout', 'unreachable', 'status'].includes(outcome.failure)

import type { Clock } from '../base/clock.ts'
import type { TraceContext } from '../base/trace-context.ts'
import type { DocumentAddress } from '../model/address.ts'
import type { Tracer } from '../tracing/trace.ts'
import {
  type CountingWindow,
  countIn,
  DebounceWindows,
  type EditAuthor,
  type EditListener,
  editorName,
  type StartedWindows,
} from './debounce-windows.ts'
import type { HasSubscriber } from './event-recorder.ts'
import { traceEvent } from './event-trace.ts'
import { eventIdOf, eventJob, type QueuedEvent, queuedEvent } from './outbound-event.ts'

interface ChangeWindowsOptions {
  readonly clock: Clock
  readonly windowMs: number
  readonly wanted: HasSubscriber
  /** Called when events are due. */
  readonly due: () => void
  readonly tracer?: Tracer | undefined
}

/**
 * Groups all commits to an editor into windows, for all authors together. Each window becomes one event
 * `crdt.update_data`, which is sent when the window ends. The first commit of a window enqueues the event as
 * a job; nothing else is stored.
 */
export class ChangeWindows implements EditListener {
  readonly #options: ChangeWindowsOptions
  readonly #windows: DebounceWindows<string>
  /** The last window of each editor, because a search by name costs more than the counting. */
  readonly #last = new WeakMap<DocumentAddress, CountingWindow>()

  constructor(options: ChangeWindowsOptions) {
    this.#options = options
    const { clock, windowMs, due } = options
    this.#windows = new DebounceWindows(clock, windowMs, due)
  }

  noted(
    address: DocumentAddress,
    editors: readonly EditAuthor[],
    trace: TraceContext | null = null,
  ): StartedWindows | null {
    if (!this.#options.wanted(address, 'crdt.update_data')) return null
    if (countIn(this.#last.get(address), this.#options.clock.now())) return null
    const name = editorName(address)
    const open = this.#windows.count(name)
    if (open !== null) {
      this.#last.set(address, open)
      return null
    }
    const window = this.#windows.begin(name, name)
    const { until } = window
    this.#last.set(address, window)
    const event = this.#eventOf(address, editors, { id: eventIdOf(until, name), trace })
    traceEvent(this.#options.tracer, 'event_created', event)
    return {
      jobs: [{ ...eventJob(event), at: until }],
      stored: () => {},
      lost: () => this.#windows.forget(name),
    }
  }

  /**
   * Creates the event of a window. Its acting user is the author of the first commit. If the author is
   * unknown, the acting user has the id of the API key.
   */
  #eventOf(
    address: DocumentAddress,
    [first]: readonly EditAuthor[],
    { id, trace }: { readonly id: string; readonly trace: TraceContext | null },
  ): QueuedEvent {
    const { apiKey, documentId, editorId } = address
    const at = this.#options.clock.now()
    const user = first === undefined || first.userId === '' ? { userId: apiKey } : first
    const event = { type: 'crdt.update_data', documentId, actionUser: user, data: { editorId } } as const
    return queuedEvent(address, event, { id, at, trace })
  }
}

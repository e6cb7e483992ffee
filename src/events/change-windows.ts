import type { Clock } from '../clock.ts'
import type { DocumentAddress } from '../model/address.ts'
import { ClockAlignedWindows } from './clock-aligned-windows.ts'
import { type EditAuthor, type EditListener, editorName, type StartedWindows } from './debounce-windows.ts'
import type { HasSubscriber } from './event-recorder.ts'
import { eventIdOf, eventJob, type QueuedEvent, queuedEvent } from './outbound-event.ts'

export interface ChangeWindowsOptions {
  readonly clock: Clock
  readonly windowMs: number
  /** A commit that belongs to a window at one node has been stored this long after its end at every node, in ms. */
  readonly clockSkewMs: number
  readonly wanted: HasSubscriber
  /** Events are due. */
  readonly due: () => void
}

/**
 * Windows of the commits to each editor, whoever makes them: each is one event `crdt.update_data`, told when the
 * window ends. It waits as a job that came with the first commit; nothing else is kept of it.
 */
export class ChangeWindows implements EditListener {
  readonly #options: ChangeWindowsOptions
  readonly #windows: ClockAlignedWindows<QueuedEvent>

  constructor(options: ChangeWindowsOptions) {
    this.#options = options
    const { clock, windowMs, clockSkewMs, due } = options
    this.#windows = new ClockAlignedWindows(clock, windowMs, () => void clock.after(clockSkewMs, due))
  }

  noted(address: DocumentAddress, editors: readonly EditAuthor[]): StartedWindows | null {
    if (!this.#options.wanted(address, 'crdt.update_data')) return null
    const name = editorName(address)
    if (this.#windows.count(name)) return null
    const until = this.#windows.endOf(name)
    const event = this.#eventOf(address, editors, eventIdOf(until, name))
    this.#windows.begin(name, event)
    return {
      jobs: [{ ...eventJob(event), at: until + this.#options.clockSkewMs }],
      stored: () => {},
      lost: () => this.#windows.forget(name),
    }
  }

  /** Who edits first stands for all of the window; what nobody known does is done by the API key. */
  #eventOf(address: DocumentAddress, [first]: readonly EditAuthor[], id: string): QueuedEvent {
    const { apiKey, documentId, editorId } = address
    const at = this.#options.clock.now()
    const user = first === undefined || first.userId === '' ? { userId: apiKey } : first
    const event = { type: 'crdt.update_data', documentId, actionUser: user, data: { editorId } } as const
    return queuedEvent(address, event, { id, at })
  }
}

import type { Clock } from '../clock.ts'
import type { DocumentAddress } from '../model/address.ts'
import { ClockAlignedWindows } from './clock-aligned-windows.ts'
import {
  DebounceWindows,
  type EditAuthor,
  type EditListener,
  editorName,
  type StartedWindows,
  type WindowCounter,
} from './debounce-windows.ts'
import type { HasSubscriber } from './event-recorder.ts'
import { EventIds, eventIdOf, eventJob, type QueuedEvent, queuedEvent } from './outbound-event.ts'

export interface ChangeWindowsOptions {
  readonly clock: Clock
  readonly windowMs: number
  /** May other nodes note commits to the same editors? Then all mean the same windows. */
  readonly isShared: boolean
  readonly wanted: HasSubscriber
  /** Events are due. */
  readonly due: () => void
}

/** Clocks of nodes may be so far apart, in ms: a commit that belongs to a window at one has come when it is told of it. */
const graceMs = 500

/** A window has its event at every node. */
interface Ahead {
  readonly id: string
  /** Epoch milliseconds at which it is told. */
  readonly tellAt: number
}

/**
 * Windows of the commits to each editor, whoever makes them: each is one event `crdt.update_data`, told when the
 * window ends. It waits as a job that came with the first commit; nothing else is kept of it.
 */
export class ChangeWindows implements EditListener {
  readonly #options: ChangeWindowsOptions
  readonly #windows: WindowCounter<QueuedEvent>
  readonly #ahead: (name: string) => Ahead

  constructor(options: ChangeWindowsOptions) {
    this.#options = options
    const { clock, windowMs, isShared, due } = options
    if (!isShared) {
      const ids = new EventIds()
      this.#windows = new DebounceWindows(clock, windowMs, due)
      this.#ahead = () => ({ id: ids.next(clock.now()), tellAt: clock.now() + windowMs })
      return
    }
    const windows = new ClockAlignedWindows<QueuedEvent>(
      clock,
      windowMs,
      () => void clock.after(graceMs, due),
    )
    this.#windows = windows
    this.#ahead = (name) => {
      const until = windows.endOf(name)
      return { id: eventIdOf(until, name), tellAt: until + graceMs }
    }
  }

  noted(address: DocumentAddress, editors: readonly EditAuthor[]): StartedWindows | null {
    if (!this.#options.wanted(address, 'crdt.update_data')) return null
    const name = editorName(address)
    if (this.#windows.count(name)) return null
    const { id, tellAt } = this.#ahead(name)
    const event = this.#eventOf(address, editors, id)
    this.#windows.begin(name, event)
    return {
      jobs: [{ ...eventJob(event), at: tellAt }],
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

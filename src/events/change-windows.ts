import type { Clock } from '../clock.ts'
import type { DocumentAddress } from '../model/address.ts'
import type { Wanted } from './events.ts'
import { EventIds, eventJob, type StoredEvent, storedEvent } from './outbound.ts'
import { type Begun, type EditNotes, type Editor, editorName, Windows } from './windows.ts'

export interface ChangeWindowsOptions {
  readonly clock: Clock
  readonly windowMs: number
  readonly wanted: Wanted
  /** Events are due. */
  readonly due: () => void
}

/**
 * Windows of the commits to each editor, whoever makes them: each is one event `crdt.update_data`, told when the
 * window ends. It waits as a job that came with the first commit; nothing else is kept of it.
 */
export class ChangeWindows implements EditNotes {
  readonly #options: ChangeWindowsOptions
  readonly #windows: Windows<StoredEvent>
  readonly #ids = new EventIds()

  constructor(options: ChangeWindowsOptions) {
    this.#options = options
    this.#windows = new Windows(options.clock, options.windowMs, options.due)
  }

  noted(address: DocumentAddress, editors: readonly Editor[]): Begun | null {
    if (!this.#options.wanted(address, 'crdt.update_data')) return null
    const name = editorName(address)
    if (this.#windows.count(name)) return null
    const event = this.#eventOf(address, editors)
    this.#windows.begin(name, event)
    return {
      jobs: [{ ...eventJob(event), at: event.at + this.#options.windowMs }],
      stored: () => {},
      lost: () => this.#windows.forget(name),
    }
  }

  /** Who edits first stands for all of the window; what nobody known does is done by the API key. */
  #eventOf(address: DocumentAddress, [first]: readonly Editor[]): StoredEvent {
    const { apiKey, documentId, editorId } = address
    const at = this.#options.clock.now()
    const user = first === undefined || first.userId === '' ? { userId: apiKey } : first
    const event = { type: 'crdt.update_data', documentId, actionUser: user, data: { editorId } } as const
    return storedEvent(address, event, { id: this.#ids.next(at), at })
  }
}

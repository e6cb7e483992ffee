import type { Clock } from '../../core/base/clock.ts'
import { type EditListener, editorName, type StartedWindows } from '../../core/events/debounce-windows.ts'
import type { DocumentAddress } from '../../core/model/address.ts'
import { automaticJob } from './version-jobs.ts'

/**
 * Records when an automatic version is due. This is stored as a job in the commit of an edit, so that a crash does
 * not lose it.
 */
export class EditTaskWindows implements EditListener {
  readonly #clock: Clock
  readonly #everyMs: number
  /** End of the current window of each editor whose job is enqueued, in epoch milliseconds. */
  readonly #windows = new Map<string, number>()

  /** @param everyMs interval in ms at which edited documents get automatic versions */
  constructor(clock: Clock, everyMs: number) {
    this.#clock = clock
    this.#everyMs = everyMs
  }

  /**
   * Returns the job for the automatic version of the current window; null if the job is already enqueued.
   * Windows start at fixed times, so they are the same after a restart. The start differs between editors, so
   * that not all windows end at the same time.
   */
  noted(address: DocumentAddress): StartedWindows | null {
    const everyMs = this.#everyMs
    const name = editorName(address)
    const now = this.#clock.now()
    if (now < (this.#windows.get(name) ?? 0)) return null
    const shift = shiftOf(name) % everyMs
    const end = (Math.floor((now - shift) / everyMs) + 1) * everyMs + shift
    this.#windows.set(name, end)
    const forget = (): void => {
      if (this.#windows.get(name) === end) this.#windows.delete(name)
    }
    this.#clock.after(end - now, forget)
    return { jobs: [automaticJob(address, end)], stored() {}, lost: forget }
  }
}

/** Returns a hash of a name. The hash spreads the ends of windows over time. */
function shiftOf(name: string): number {
  let hash = 0
  for (let at = 0; at < name.length; at++) hash = (Math.imul(hash, 31) + name.charCodeAt(at)) >>> 0
  return hash
}

import type { Clock } from '../../core/base/clock.ts'
import { type EditListener, editorName, type StartedWindows } from '../../core/events/debounce-windows.ts'
import type { DocumentAddress } from '../../core/model/address.ts'
import { type VersionTask, windowJob } from './version-jobs.ts'

/** Maximum number of windows in memory. The job of a forgotten window is enqueued again, with the same id. */
const windowsMax = 100_000

/**
 * Records when an automatic version or the check of a prune is due. This is stored as a job in the commit of an edit,
 * so that a crash does not lose it.
 */
export class EditTaskWindows implements EditListener {
  readonly #is: VersionTask['is']
  readonly #clock: Clock
  readonly #everyMs: number
  /** End of the current window of each editor whose job is enqueued, in epoch milliseconds. */
  readonly #windows = new Map<string, number>()

  /**
   * @param is the task that edited documents get
   * @param everyMs interval in ms at which they get it
   */
  constructor(is: VersionTask['is'], clock: Clock, everyMs: number) {
    this.#is = is
    this.#clock = clock
    this.#everyMs = everyMs
  }

  /**
   * Returns the job for the end of the current window; null if the job is already enqueued.
   */
  noted(address: DocumentAddress): StartedWindows | null {
    const everyMs = this.#everyMs
    const name = editorName(address)
    const now = this.#clock.now()
    if (now < (this.#windows.get(name) ?? 0)) return null
    const end = windowEnd(name, everyMs, now)
    this.#windows.delete(name)
    const [oldest] = this.#windows.keys()
    if (oldest !== undefined && this.#windows.size >= windowsMax) this.#windows.delete(oldest)
    this.#windows.set(name, end)
    const lost = (): void => {
      if (this.#windows.get(name) === end) this.#windows.delete(name)
    }
    return { jobs: [windowJob(this.#is, address, end)], stored() {}, lost }
  }
}

/**
 * Returns the end of the window of an editor at `now`. Windows start at fixed times, so they are the same after a restart.
 * The start differs between editors, so that not all windows end at the same time.
 */
export function windowEnd(name: string, everyMs: number, now: number): number {
  const shift = shiftOf(name) % everyMs
  return (Math.floor((now - shift) / everyMs) + 1) * everyMs + shift
}

/** Returns a hash of a name. The hash spreads the ends of windows over time. */
function shiftOf(name: string): number {
  let hash = 0
  for (let at = 0; at < name.length; at++) hash = (Math.imul(hash, 31) + name.charCodeAt(at)) >>> 0
  return hash
}

import type { Clock } from '../base/clock.ts'
import { runUntraced } from '../base/current-trace.ts'
import type { TraceContext } from '../base/trace-context.ts'
import { addressKey, type DocumentAddress } from '../model/address.ts'
import type { Job } from '../store/engine.ts'
import { cachedKeyNames, keyName } from '../store/key-encoding.ts'

/** The author of a commit, as a user. */
export interface EditAuthor {
  /** '' if the user is unknown. */
  readonly userId: string
  readonly name?: string
}

/**
 * Windows that a commit has started. The caller must call `stored` when the commit is durable, or `lost` if
 * it failed.
 */
export interface StartedWindows {
  /** Jobs that must be enqueued in the same commit. */
  readonly jobs: readonly Job[]
  readonly stored: () => void
  readonly lost: () => void
}

/** Receives a call for each commit to a document. */
export interface EditListener {
  /**
   * Must be called for each commit to a document. Returns the windows that the commit starts; null if it
   * starts no window.
   * @param trace trace of the call that has caused the commit; null if there is none
   */
  noted(
    address: DocumentAddress,
    editors: readonly EditAuthor[],
    trace?: TraceContext | null,
  ): StartedWindows | null
}

/** Returns one listener that calls all the given listeners. */
export const combineEditListeners = (all: readonly EditListener[]): EditListener => ({
  noted(address, editors, trace) {
    let begun: StartedWindows[] | null = null
    for (const notes of all) {
      const one = notes.noted(address, editors, trace)
      if (one !== null) begun = [...(begun ?? []), one]
    }
    return begun === null ? null : together(begun)
  },
})

const together = (begun: readonly StartedWindows[]): StartedWindows => ({
  jobs: begun.flatMap(({ jobs }) => jobs),
  stored: () => {
    for (const { stored } of begun) stored()
  },
  lost: () => {
    for (const { lost } of begun) lost()
  },
})

/** Returns a text that identifies an editor in a Map. */
export const editorName = cachedKeyNames((address: DocumentAddress) => keyName(addressKey(address)))

/** Returns a text that identifies a user of an editor. It begins with the name of the editor. */
export const userName = (address: DocumentAddress, userId: string): string =>
  keyName([...addressKey(address), userId])

/** Counts the occurrences of one name. A caller may keep it, and then needs no search by name. */
export interface CountingWindow {
  /** End of the window in epoch milliseconds; 0 if the window was removed or renewed. */
  until: number
  count: number
}

interface Window<Subject> extends CountingWindow {
  /** True from `renewAll` until the caller of `count` sets it to false. */
  isRenewed: boolean
  /** The value that the callback gets when the window ends. Null if there is no callback. */
  readonly subject: Subject | null
}

/** Counts one occurrence if the window is open at `now`. Returns false if it is not open. */
export function countIn(window: CountingWindow | undefined, now: number): window is CountingWindow {
  if (window === undefined || now >= window.until) return false
  window.count += 1
  return true
}

interface WindowBounds {
  /**
   * Returns the end of a window that begins at `now`, in epoch milliseconds. For a later `now`, the end must
   * not be earlier.
   */
  readonly endAt: (now: number) => number
  /** Maximum number of open windows. */
  readonly max: number
}

/**
 * Maximum number of open windows. If this number is exceeded, the window with the earliest end ends
 * immediately.
 */
export const windowsMax = 50_000

/**
 * Counts in memory how often each name occurs within a window. The first occurrence begins the window, and
 * further occurrences only increase the count. The caller enqueues a job when a window begins, so that a
 * crash does not lose the event. All windows have the same length, or end as `bounds` defines. Windows
 * therefore end in the order in which they began, and one timer is sufficient.
 */
export class DebounceWindows<Subject> {
  readonly #clock: Clock
  readonly #bounds: WindowBounds
  readonly #ended: ((subject: Subject, count: number) => void) | null
  readonly #open = new Map<string, Window<Subject>>()
  #cancelTimer: (() => void) | null = null

  /**
   * Creates windows of `windowMs` milliseconds.
   * @param ended called at the end of each window with its subject and its count. Null: there is no callback,
   * and subjects are not stored.
   */
  constructor(
    clock: Clock,
    windowMs: number,
    ended: ((subject: Subject, count: number) => void) | null,
    bounds: WindowBounds = { endAt: (now) => now + windowMs, max: windowsMax },
  ) {
    this.#clock = clock
    this.#bounds = bounds
    this.#ended = ended
  }

  /**
   * Counts one occurrence if the window of the name is open, and returns the window. Returns null if no window
   * is open; the caller must then begin a window.
   */
  count(name: string): Window<Subject> | null {
    const window = this.#open.get(name)
    return window !== undefined && countIn(window, this.#clock.now()) ? window : null
  }

  /** Begins a window, counts its first occurrence, and returns the window. */
  begin(name: string, subject: Subject): CountingWindow {
    // Ends the previous window of the name, if its timer is late.
    this.#end(name)
    const kept = this.#ended === null ? null : subject
    const until = this.#bounds.endAt(this.#clock.now())
    const window = { subject: kept, until, count: 1, isRenewed: false }
    this.#open.set(name, window)
    if (this.#open.size > this.#bounds.max) this.#endFirst()
    this.#schedule()
    return window
  }

  /** Number of open windows. */
  get size(): number {
    return this.#open.size
  }

  /** Removes the window without calling the callback for its end. Returns false if no window was open. */
  forget(name: string): boolean {
    return this.#take(name) !== undefined
  }

  /**
   * Renews the windows of all names with this prefix: each one stays open, and the caller of `count` learns of the
   * renewal, because windows that callers have kept count nothing any more.
   */
  renewAll(start: string): void {
    for (const [name, window] of this.#open) {
      if (!name.startsWith(start)) continue
      // The new object has the place of the old one in the order of the ends.
      this.#open.set(name, { ...window, isRenewed: true })
      window.until = 0
    }
  }

  /** Ends all windows immediately. */
  end(): void {
    for (const name of this.#open.keys()) this.#end(name)
  }

  #schedule(): void {
    if (this.#cancelTimer !== null) return
    for (const { until } of this.#open.values()) {
      this.#cancelTimer = this.#clock.after(Math.max(0, until - this.#clock.now()), () => this.#tick())
      return
    }
  }

  #tick(): void {
    this.#cancelTimer = null
    const now = this.#clock.now()
    for (const [name, { until }] of this.#open) {
      if (until > now) break
      this.#end(name)
    }
    this.#schedule()
  }

  #stop(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = null
  }

  #endFirst(): void {
    for (const name of this.#open.keys()) return this.#end(name)
  }

  #end(name: string): void {
    const window = this.#take(name)
    const ended = this.#ended
    if (ended === null || window === undefined || window.subject === null) return
    const { subject, count } = window
    // The start of another window may end this one, so the end belongs to the trace of none.
    runUntraced(() => ended(subject, count))
  }

  #take(name: string): Window<Subject> | undefined {
    const window = this.#open.get(name)
    if (window !== undefined) window.until = 0
    this.#open.delete(name)
    if (this.#open.size === 0) this.#stop()
    return window
  }
}

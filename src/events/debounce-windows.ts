import type { Clock } from '../clock.ts'
import type { Job } from '../engine/engine.ts'
import { cachedKeyNames, keyName } from '../engine/key-encoding.ts'
import { addressKey, type DocumentAddress } from '../model/address.ts'

/** The author of a commit. */
export interface EditAuthor {
  /** '' if the user is unknown. */
  readonly userId: string
  readonly name?: string
}

/** Windows that a commit begins. The caller must call `stored` or `lost`. */
export interface StartedWindows {
  /** Enqueue these with the commit. */
  readonly jobs: readonly Job[]
  readonly stored: () => void
  readonly lost: () => void
}

/** Receives the commits to documents. */
export interface EditListener {
  /** Reports a commit to a document. Returns null if it begins no window. */
  noted(address: DocumentAddress, editors: readonly EditAuthor[]): StartedWindows | null
}

/** Combines several listeners to one. */
export const combineEditListeners = (all: readonly EditListener[]): EditListener => ({
  noted(address, editors) {
    let begun: StartedWindows[] | null = null
    for (const notes of all) {
      const one = notes.noted(address, editors)
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

/** Returns a unique name of an editor for a Map. */
export const editorName = cachedKeyNames((address: DocumentAddress) => keyName(addressKey(address)))

/** Number of cached user names of one editor. */
const keptUsersMax = 1_000
const namesOfUsers = new WeakMap<DocumentAddress, Map<string, string>>()

/** Returns a unique name of a user of an editor; it begins with the name of the editor. */
export function userName(address: DocumentAddress, userId: string): string {
  const names = namesOfUsers.get(address) ?? new Map<string, string>()
  const known = names.get(userId)
  if (known !== undefined) return known
  const name = keyName([...addressKey(address), userId])
  if (names.size >= keptUsersMax) names.clear()
  namesOfUsers.set(address, names.set(userId, name))
  return name
}

interface Window<Subject> {
  /** Null if no callback gets its end. */
  readonly subject: Subject | null
  /** Epoch milliseconds. */
  readonly until: number
  count: number
}

/** Counts the events of each name within a window. */
export interface WindowCounter<Subject> {
  /** Counts within a window. Returns false if none is open: then the caller must begin one. */
  count(name: string): boolean
  /** Begins a window, and counts its first event. */
  begin(name: string, subject: Subject): void
  /** Drops the window without ending it. */
  forget(name: string): void
  /** Drops the windows of all names with this prefix. */
  forgetAll(start: string): void
  /** Ends every window now. */
  end(): void
}

interface WindowBounds {
  /**
   * Returns the end of a window that begins now, in epoch milliseconds; later windows never end before
   * earlier ones.
   */
  readonly endAt: (now: number) => number
  /** Maximum number of open windows. */
  readonly max: number
}

/** Maximum number of open windows. The earliest ones end early. */
export const windowsMax = 50_000

/**
 * Counts in memory how often each name occurs within a time. The first occurrence begins a window; further
 * ones only count. A new window enqueues a job, so that a crash does not lose it. All windows have the same
 * length, or end as `bounds` defines, so they are ordered by their ends, and one timer is sufficient.
 */
export class DebounceWindows<Subject> implements WindowCounter<Subject> {
  readonly #clock: Clock
  readonly #bounds: WindowBounds
  readonly #ended: ((subject: Subject, count: number) => void) | null
  readonly #open = new Map<string, Window<Subject>>()
  #cancelTimer: (() => void) | null = null

  /**
   * @param ended called with the subject of a window and the count of its name; null: subjects are not kept
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

  /** Counts within a window. Returns false if none is open: then the caller must begin one. */
  count(name: string): boolean {
    const window = this.#open.get(name)
    if (window === undefined || this.#clock.now() >= window.until) return false
    window.count += 1
    return true
  }

  /** Begins a window, and counts its first event. */
  begin(name: string, subject: Subject): void {
    // Its job may have been done although its timer is late.
    this.#end(name)
    const kept = this.#ended === null ? null : subject
    this.#open.set(name, { subject: kept, until: this.#bounds.endAt(this.#clock.now()), count: 1 })
    if (this.#open.size > this.#bounds.max) this.#endFirst()
    this.#schedule()
  }

  /** Drops the window without ending it. */
  forget(name: string): void {
    this.#take(name)
  }

  /** Drops the windows of all names with this prefix. */
  forgetAll(start: string): void {
    for (const name of this.#open.keys()) if (name.startsWith(start)) this.#take(name)
  }

  /** Ends every window now. */
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
    if (this.#ended !== null && window !== undefined && window.subject !== null)
      this.#ended(window.subject, window.count)
  }

  #take(name: string): Window<Subject> | undefined {
    const window = this.#open.get(name)
    this.#open.delete(name)
    if (this.#open.size === 0) this.#stop()
    return window
  }
}

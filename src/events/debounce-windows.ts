import type { Clock } from '../clock.ts'
import type { Job } from '../engine/engine.ts'
import { cachedKeyNames, keyName } from '../engine/key-encoding.ts'
import { addressKey, type DocumentAddress } from '../model/address.ts'

/** Who makes a commit. */
export interface EditAuthor {
  /** '' when nobody is known. */
  readonly userId: string
  readonly name?: string
}

/** Windows that a commit begins. One of the two has to be called. */
export interface StartedWindows {
  /** To be enqueued with the commit. */
  readonly jobs: readonly Job[]
  readonly stored: () => void
  readonly lost: () => void
}

/** Whoever notes who edits. */
export interface EditListener {
  /** Notes a commit to a document. Null when it begins no window. */
  noted(address: DocumentAddress, editors: readonly EditAuthor[]): StartedWindows | null
}

/** Notes of several, as one. */
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

/** Tells editors apart in a Map. */
export const editorName = cachedKeyNames((address: DocumentAddress) => keyName(addressKey(address)))

/** Of one editor. */
const keptUsersMax = 1_000
const namesOfUsers = new WeakMap<DocumentAddress, Map<string, string>>()

/** Tells users of editors apart; begins with the name of the editor. */
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
  /** Null where nobody is told of its end. */
  readonly subject: Subject | null
  /** Epoch milliseconds. */
  readonly until: number
  count: number
}

/** Counts what happens under a name within a window. */
export interface WindowCounter<Subject> {
  /** Counts within a window. False where none is open: then one has to be begun. */
  count(name: string): boolean
  /** Begins a window, and counts the first. */
  begin(name: string, subject: Subject): void
  /** As if there had been none. */
  forget(name: string): void
  /** Likewise for every name that starts so. */
  forgetAll(start: string): void
  /** Ends every window now. */
  end(): void
}

interface WindowBounds {
  /** When a window ends that begins now; later ones never end before earlier ones. Epoch milliseconds. */
  readonly endAt: (now: number) => number
  /** Windows that are open at once. */
  readonly max: number
}

/** Windows that are open at once; of more, those that began first end early. */
export const windowsMax = 50_000

/**
 * Counts in memory what happens under a name within a time: the first one begins a window, the others cost nothing
 * but counting. A window that begins brings a job with it, so that a crash does not lose that there was one. All are
 * equally long, or end as `bounds` says, so they are in the order of their ends: one timer serves them.
 */
export class DebounceWindows<Subject> implements WindowCounter<Subject> {
  readonly #clock: Clock
  readonly #bounds: WindowBounds
  readonly #ended: ((subject: Subject, count: number) => void) | null
  readonly #open = new Map<string, Window<Subject>>()
  #cancelTimer: (() => void) | null = null

  /** @param ended called with what a window was begun with, and how often its name was counted; null: that is not kept */
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

  /** Counts within a window. False where none is open: then one has to be begun. */
  count(name: string): boolean {
    const window = this.#open.get(name)
    if (window === undefined || this.#clock.now() >= window.until) return false
    window.count += 1
    return true
  }

  /** Begins a window, and counts the first. */
  begin(name: string, subject: Subject): void {
    // Its job may have been done, though its timer is late.
    this.#end(name)
    const kept = this.#ended === null ? null : subject
    this.#open.set(name, { subject: kept, until: this.#bounds.endAt(this.#clock.now()), count: 1 })
    if (this.#open.size > this.#bounds.max) this.#endFirst()
    this.#schedule()
  }

  /** As if there had been none. */
  forget(name: string): void {
    this.#take(name)
  }

  /** Likewise for every name that starts so. */
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

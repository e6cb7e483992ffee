import type { Clock } from '../clock.ts'

/** Time between two lines of a kind, in ms. */
export const repeatEveryMs = 10_000
/** Kinds of events that are distinguished at a time. Events of further kinds use the shared kind of their caller. */
const kindsMax = 200

export interface RepeatedEventsOptions<Event> {
  readonly clock: Clock
  /** Writes one line. @param times how often the event occurred since the last line of its kind; at least 1 */
  readonly write: (event: Event, times: number) => void
}

interface Repeated<Event> {
  /** The last event of the kind. */
  event: Event
  /** Number of events that are not written yet. */
  times: number
}

/**
 * Bounds the log lines of frequent events. The first event of a kind is written at once; later ones share one line
 * every 10 s, with their number. At most 200 kinds are distinguished, so that memory and lines are bounded.
 */
export class RepeatedEvents<Event> {
  readonly #options: RepeatedEventsOptions<Event>
  readonly #kinds = new Map<string, Repeated<Event>>()
  #cancel: (() => void) | null = null

  constructor(options: RepeatedEventsOptions<Event>) {
    this.#options = options
  }

  /**
   * @param kind events of one kind share lines
   * @param shared the kind that counts the event while there are too many kinds
   */
  note(kind: string, event: Event, shared: { readonly kind: string; readonly event: Event }): void {
    const known = this.#kinds.get(kind)
    if (known !== undefined) {
      known.event = event
      known.times += 1
    } else if (this.#kinds.size < kindsMax) {
      const begun = { event, times: 1 }
      this.#kinds.set(kind, begun)
      this.#write(begun)
    } else this.#share(shared.kind, shared.event)
    this.#cancel ??= this.#options.clock.after(repeatEveryMs, () => this.#writeAll())
  }

  /** Writes what has not been written yet. */
  end(): void {
    this.#cancel?.()
    this.#cancel = null
    for (const repeated of this.#kinds.values()) this.#write(repeated)
    this.#kinds.clear()
  }

  #share(kind: string, event: Event): void {
    const shared = this.#kinds.get(kind) ?? { event, times: 0 }
    shared.times += 1
    this.#kinds.set(kind, shared)
  }

  #writeAll(): void {
    this.#cancel = null
    for (const [kind, repeated] of this.#kinds) {
      if (repeated.times === 0) this.#kinds.delete(kind)
      else this.#write(repeated)
    }
    if (this.#kinds.size > 0) this.#cancel = this.#options.clock.after(repeatEveryMs, () => this.#writeAll())
  }

  #write(repeated: Repeated<Event>): void {
    const { event, times } = repeated
    if (times === 0) return
    repeated.times = 0
    this.#options.write(event, times)
  }
}

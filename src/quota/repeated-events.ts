import type { Clock } from '../clock.ts'

/** Time between two lines of a kind, in ms. */
export const repeatEveryMs = 10_000
/**
 * Kinds of events that are distinguished at a time. Events of further kinds use the shared kind of their
 * caller.
 */
const kindsMax = 200
/** Kinds of a group that are distinguished at a time. Events of further kinds of the group share a kind. */
const kindsOfGroupMax = 10

export interface RepeatedEventsOptions<Event> {
  readonly clock: Clock
  /**
   * Writes one line.
   * @param times how often the event occurred since the last line of its kind; at least 1
   */
  readonly write: (event: Event, times: number) => void
}

interface Kind<Event> {
  readonly kind: string
  readonly event: Event
}

interface Repeated<Event> {
  readonly group: string
  /** The last event of the kind. */
  event: Event
  /** Number of events that are not written yet. */
  times: number
}

/**
 * Bounds the log lines of frequent events. The first event of a kind is written at once; later ones share one
 * line every 10 s, with their number. At most 200 kinds are distinguished, and 10 of a group, so that memory
 * and lines are bounded.
 */
export class RepeatedEvents<Event> {
  readonly #options: RepeatedEventsOptions<Event>
  readonly #kinds = new Map<string, Repeated<Event>>()
  /** Number of distinguished kinds of each group. */
  readonly #groups = new Map<string, number>()
  #cancel: (() => void) | null = null

  constructor(options: RepeatedEventsOptions<Event>) {
    this.#options = options
  }

  /**
   * @param kind events of one kind share lines
   * @param shared the kind that counts the event while there are too many kinds
   * @param group kinds of one group share a line, as this kind, while there are too many of them
   */
  note(kind: string, event: Event, shared: Kind<Event>, group: Kind<Event> = { kind, event }): void {
    const isOwn = this.#kinds.has(kind) || (this.#groups.get(group.kind) ?? 0) < kindsOfGroupMax
    const own = isOwn ? { kind, event } : group
    const known = this.#kinds.get(own.kind)
    if (known !== undefined) {
      known.event = own.event
      known.times += 1
    } else if (this.#kinds.size < kindsMax) {
      const begun = this.#begin(own.kind, own.event, group.kind)
      begun.times = 1
      this.#write(begun)
    } else (this.#kinds.get(shared.kind) ?? this.#begin(shared.kind, shared.event)).times += 1
    this.#cancel ??= this.#options.clock.after(repeatEveryMs, () => this.#writeAll())
  }

  /** Writes the pending lines. */
  end(): void {
    this.#cancel?.()
    this.#cancel = null
    for (const repeated of this.#kinds.values()) this.#write(repeated)
    this.#kinds.clear()
    this.#groups.clear()
  }

  #begin(kind: string, event: Event, group = kind): Repeated<Event> {
    const begun = { group, event, times: 0 }
    this.#kinds.set(kind, begun)
    this.#groups.set(group, (this.#groups.get(group) ?? 0) + 1)
    return begun
  }

  #forget(kind: string, { group }: Repeated<Event>): void {
    this.#kinds.delete(kind)
    const left = (this.#groups.get(group) ?? 0) - 1
    if (left > 0) this.#groups.set(group, left)
    else this.#groups.delete(group)
  }

  #writeAll(): void {
    this.#cancel = null
    for (const [kind, repeated] of this.#kinds) {
      if (repeated.times === 0) this.#forget(kind, repeated)
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

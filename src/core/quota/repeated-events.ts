import type { Clock } from '../base/clock.ts'

/** Minimum milliseconds between two log lines for events of the same kind. */
export const repeatEveryMs = 10_000
/**
 * Maximum number of kinds of events that are counted separately at the same time. Events of further kinds are
 * counted under the kind `shared` that the caller specifies.
 */
const kindsMax = 200
/**
 * Maximum number of kinds in one group that are counted separately at the same time. Events of further kinds
 * in the group are counted together, under the kind `group`.
 */
const kindsOfGroupMax = 10

interface Kind<Event> {
  readonly kind: string
  readonly event: Event
}

interface Repeated<Event> {
  readonly group: string
  /** The latest event of the kind. */
  event: Event
  /** Number of events that no log line has reported yet. */
  times: number
}

/**
 * Limits the number of log lines for frequent events. The first event of a kind is written immediately. Later
 * events of the kind are combined into one line every 10 s, which contains their number. At most 200 kinds,
 * and at most 10 kinds of one group, are counted separately, so that memory and the number of lines are
 * limited.
 */
export class RepeatedEvents<Event> {
  readonly #clock: Clock
  /**
   * Writes one log line.
   * @param times number of events of this kind since its last line; at least 1
   */
  readonly #write: (event: Event, times: number) => void
  readonly #kinds = new Map<string, Repeated<Event>>()
  /** Number of separately counted kinds in each group. */
  readonly #groups = new Map<string, number>()
  #cancel: (() => void) | null = null

  constructor(clock: Clock, write: (event: Event, times: number) => void) {
    this.#clock = clock
    this.#write = write
  }

  /**
   * Records an event, and writes it or counts it for the next line.
   * @param kind kind of the event; events of the same kind are combined into one line
   * @param shared the kind and event that are used instead if there are too many kinds
   * @param group the kind and event that are used instead if the group has too many kinds
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
      this.#writeEntry(begun)
    } else (this.#kinds.get(shared.kind) ?? this.#begin(shared.kind, shared.event)).times += 1
    this.#cancel ??= this.#clock.after(repeatEveryMs, () => this.#writeAll())
  }

  /** Writes all pending lines immediately. */
  end(): void {
    this.#cancel?.()
    this.#cancel = null
    for (const repeated of this.#kinds.values()) this.#writeEntry(repeated)
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
      else this.#writeEntry(repeated)
    }
    if (this.#kinds.size > 0) this.#cancel = this.#clock.after(repeatEveryMs, () => this.#writeAll())
  }

  #writeEntry(repeated: Repeated<Event>): void {
    const { event, times } = repeated
    if (times === 0) return
    repeated.times = 0
    this.#write(event, times)
  }
}

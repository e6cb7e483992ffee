import type { Clock } from '../../clock.ts'
import type { Room } from './room.ts'

/** How long rooms may take to come to rest until others get their turn. */
const restSliceMs = 5

/** Has rooms that nobody works on keep their documents as bytes only. */
export class RoomHibernation {
  readonly #clock: Clock
  readonly #everyMs: number
  readonly #rooms: () => Iterator<{ readonly room: Room }>
  #cancel: () => void

  constructor(clock: Clock, everyMs: number, rooms: () => Iterator<{ readonly room: Room }>) {
    this.#clock = clock
    this.#everyMs = everyMs
    this.#rooms = rooms
    this.#cancel = this.#watch()
  }

  stop(): void {
    this.#cancel()
  }

  #watch(): () => void {
    return this.#clock.after(this.#everyMs, () => this.#rest(this.#rooms()))
  }

  /** A room may have to make a Y.Doc first: of many that come to rest together, others get their turn in between. */
  #rest(open: Iterator<{ readonly room: Room }>): void {
    const end = performance.now() + restSliceMs
    for (let next = open.next(); next.done !== true; next = open.next()) {
      next.value.room.rest()
      if (performance.now() < end) continue
      this.#cancel = this.#clock.after(0, () => this.#rest(open))
      return
    }
    this.#cancel = this.#watch()
  }
}

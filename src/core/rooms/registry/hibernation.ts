import type { Clock } from '../../base/clock.ts'
import type { Room } from '../room/room.ts'

/** Maximum milliseconds of one slice of dropping Y.Docs. Other work runs between two slices. */
const restSliceMs = 5

/**
 * Drops the Y.Docs of idle rooms every `everyMs` milliseconds. Such a room then keeps its document as bytes
 * only.
 */
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

  /**
   * Drops the Y.Docs of idle rooms, in slices between which other work runs. Dropping takes time, because a
   * room may have to create a Y.Doc for waiting updates first.
   */
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

import type { Clock } from '../../clock.ts'
import type { Room } from './room.ts'

/** Milliseconds for which rooms drop their Y.Docs before other work runs. */
const restSliceMs = 5

/** Drops the Y.Docs of idle rooms, which then keep their documents as bytes only. */
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
   * Drops the Y.Docs of idle rooms in slices, so that other work runs in between: a room may have to create a
   * Y.Doc first, which takes time.
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

import type { Clock } from '../base/clock.ts'
import { type CountingWindow, DebounceWindows, type WindowCounter, windowsMax } from './debounce-windows.ts'

/**
 * Number of phases, which are the groups into which names are divided. The windows of each phase end at other
 * times, so that not all windows end together.
 */
const phases = 64

/**
 * Windows whose start and end depend only on the clock and the name. Therefore all nodes use the same windows
 * without exchanging messages. The windows of two nodes differ only by the difference of their clocks.
 */
export class ClockAlignedWindows<Subject> implements WindowCounter<Subject> {
  readonly #clock: Clock
  readonly #windowMs: number
  readonly #phases: readonly DebounceWindows<Subject>[]

  /**
   * Creates windows of `windowMs` milliseconds.
   * @param ended callback for the end of a window; see `DebounceWindows`
   */
  constructor(clock: Clock, windowMs: number, ended: ((subject: Subject, count: number) => void) | null) {
    this.#clock = clock
    this.#windowMs = windowMs
    this.#phases = Array.from({ length: phases }, (_, phase) => {
      const endAt = (now: number): number => this.#end(phase, now)
      return new DebounceWindows(clock, windowMs, ended, { endAt, max: Math.ceil(windowsMax / phases) })
    })
  }

  /** Returns the end of the current window of a name, in epoch milliseconds. */
  endOf(name: string): number {
    return this.#end(phaseOf(name), this.#clock.now())
  }

  count(name: string): CountingWindow | null {
    return this.#of(name).count(name)
  }

  begin(name: string, subject: Subject): CountingWindow {
    return this.#of(name).begin(name, subject)
  }

  forget(name: string): void {
    this.#of(name).forget(name)
  }

  forgetAll(start: string): void {
    for (const windows of this.#phases) windows.forgetAll(start)
  }

  end(): void {
    for (const windows of this.#phases) windows.end()
  }

  #end(phase: number, now: number): number {
    const shift = Math.floor((phase * this.#windowMs) / phases)
    return (Math.floor((now - shift) / this.#windowMs) + 1) * this.#windowMs + shift
  }

  #of = (name: string): DebounceWindows<Subject> => this.#phases[phaseOf(name)] as DebounceWindows<Subject>
}

/** Returns the phase of a name, which is the same on every node. */
function phaseOf(name: string): number {
  let hash = 0
  for (let at = 0; at < name.length; at++) hash = (Math.imul(hash, 31) + name.charCodeAt(at)) >>> 0
  return hash % phases
}

import type { Clock } from '../clock.ts'
import { DebounceWindows, type WindowCounter, windowsMax } from './debounce-windows.ts'

/** Number of phases over which names are spread, so that windows do not end all at once. */
const phases = 64

/**
 * Windows that begin and end by the clock, so that all nodes use the same ones without messages. They differ
 * between nodes by as much as the clocks do.
 */
export class ClockAlignedWindows<Subject> implements WindowCounter<Subject> {
  readonly #clock: Clock
  readonly #windowMs: number
  readonly #phases: readonly DebounceWindows<Subject>[]

  /** @param ended as for `DebounceWindows` */
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

  count(name: string): boolean {
    return this.#of(name).count(name)
  }

  begin(name: string, subject: Subject): void {
    this.#of(name).begin(name, subject)
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

/** Returns the same phase for a name on every node. */
function phaseOf(name: string): number {
  let hash = 0
  for (let at = 0; at < name.length; at++) hash = (Math.imul(hash, 31) + name.charCodeAt(at)) >>> 0
  return hash % phases
}

import type { Contender } from './contender.ts'
import type { Usage } from './cpu.ts'

/** Description of one value that a scenario measures. */
export interface Figure {
  readonly label: string
  readonly digits: number
  readonly better: 'less' | 'more'
}

/**
 * A measured value. It is null if the server could not do what was measured, and undefined if it could not be
 * measured, as the CPU time of a server elsewhere.
 */
export type FigureValue = number | null | undefined

export interface Outcome<Key extends string = string> {
  readonly figures: Readonly<Record<Key, FigureValue>>
  /** CPU time during the measurement. */
  readonly usage: Usage
}

export interface Scenario<Key extends string = string> {
  /** Name on the command line. */
  readonly key: string
  readonly name: string
  /** Meaning and limits of the figures. */
  readonly shows: string
  /** `store`: the server must store documents. `restart`: and the load generator must start it. */
  readonly needs: 'url' | 'store' | 'restart'
  readonly figures: Readonly<Record<Key, Figure>>
  /**
   * Starts the contender on an empty directory, measures it, and ends it.
   * @throws Error if the server made a mistake, so that no figure counts
   */
  run(contender: Contender, data: string, scale: Scale): Promise<Outcome<Key>>
}

/** Size of the load. `smoke` is a small load, which only proves that the scenario runs. */
export interface LoadSize {
  readonly size: 'full' | 'smoke'
}

/** Size and duration of the load. */
export interface Scale extends LoadSize {
  /** Duration of the measurement in seconds. The warm-up before it has the same duration. */
  readonly seconds: number
  /** File of a recorded session; see `readTrace`. */
  readonly trace?: string | undefined
}

/** Returns a waiting time in ms. It is shorter for `smoke`. */
export const waitMs = ({ size }: LoadSize, ms: number): number => (size === 'full' ? ms : ms / 10)

/** Divides a measured total; undefined if there is nothing to divide. */
export const per = (total: number | undefined, count: number): number | undefined =>
  total === undefined || !(count > 0) ? undefined : total / count

/** Returns the difference of two measured values. */
export const over = (later: number | undefined, earlier: number | undefined): number | undefined =>
  later === undefined || earlier === undefined ? undefined : later - earlier

export const perDelivered: Figure = { label: 'CPU µs a delivered update', digits: 2, better: 'less' }
export const deliveredPerSecond: Figure = { label: 'delivered/s', digits: 0, better: 'more' }
export const p50: Figure = { label: 'p50 ms', digits: 2, better: 'less' }
export const p99: Figure = { label: 'p99 ms', digits: 2, better: 'less' }

/** Figures of clients that type at a constant rate. */
export const typingFigures = { cpu: perDelivered, delivered: deliveredPerSecond, p50, p99 }
export type TypingFigure = keyof typeof typingFigures

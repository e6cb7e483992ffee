import type { Contender } from './contender.ts'

/** Description of one value that a scenario measures. */
export interface Figure {
  readonly label: string
  readonly digits: number
  readonly better: 'less' | 'more'
}

export interface Scenario<Key extends string = string> {
  readonly name: string
  /** True if the scenario is only for servers that store documents. */
  readonly needsStore: boolean
  readonly figures: Readonly<Record<Key, Figure>>
  /**
   * Starts the contender on an empty directory, measures it, and ends it. NaN means that the contender could
   * not do what was measured.
   */
  run(contender: Contender, data: string, scale: Scale): Promise<Readonly<Record<Key, number>>>
}

/** Size of the load. `smoke` is a small load, which only proves that the scenario runs. */
export interface Size {
  readonly size: 'full' | 'smoke'
}

/** Size and duration of the load. */
export interface Scale extends Size {
  /** Duration of the measurement in seconds. The warm-up before it has the same duration. */
  readonly seconds: number
}

/** Returns a waiting time in ms. It is shorter for `smoke`. */
export const waitMs = ({ size }: Size, ms: number): number => (size === 'full' ? ms : ms / 10)

export const perDelivered: Figure = { label: 'CPU µs a delivered update', digits: 2, better: 'less' }
export const deliveredPerSecond: Figure = { label: 'delivered/s', digits: 0, better: 'more' }
export const p50: Figure = { label: 'p50 ms', digits: 2, better: 'less' }
export const p99: Figure = { label: 'p99 ms', digits: 2, better: 'less' }

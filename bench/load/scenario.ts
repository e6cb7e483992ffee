import type { Contender } from './contenders.ts'

/** One figure of a scenario. */
export interface Figure {
  readonly label: string
  readonly digits: number
  readonly better: 'less' | 'more'
}

export interface Scenario<Key extends string = string> {
  readonly name: string
  /** True if only servers that store documents can take part. */
  readonly needsStore: boolean
  readonly figures: Readonly<Record<Key, Figure>>
  /** Starts the contender on an empty directory, measures and ends it. NaN means that it could not do it. */
  run(contender: Contender, data: string, scale: Scale): Promise<Readonly<Record<Key, number>>>
}

/** The size of the load; `smoke` only proves that it runs. */
export interface Size {
  readonly size: 'full' | 'smoke'
}

/** The amount of work. */
export interface Scale extends Size {
  /** Duration of the measurement, after the same time of warm-up. */
  readonly seconds: number
}

/** Returns a wait in ms, shortened for `smoke`. */
export const waitMs = ({ size }: Size, ms: number): number => (size === 'full' ? ms : ms / 10)

export const perDelivered: Figure = { label: 'CPU µs a delivered update', digits: 2, better: 'less' }
export const deliveredPerSecond: Figure = { label: 'delivered/s', digits: 0, better: 'more' }
export const p50: Figure = { label: 'p50 ms', digits: 2, better: 'less' }
export const p99: Figure = { label: 'p99 ms', digits: 2, better: 'less' }

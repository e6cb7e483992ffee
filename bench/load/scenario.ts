import type { Contender } from './contenders.ts'

/** One figure of a scenario. */
export interface Figure {
  readonly label: string
  readonly digits: number
  readonly better: 'less' | 'more'
}

export interface Scenario<Key extends string = string> {
  readonly name: string
  /** Only those who keep documents can do it. */
  readonly needsStore: boolean
  readonly figures: Readonly<Record<Key, Figure>>
  /** Starts the contender on an empty directory, and ends it. NaN: it could not do it. */
  run(contender: Contender, data: string, scale: Scale): Promise<Readonly<Record<Key, number>>>
}

/** How much there is; `smoke` only proves that it runs. */
export interface Size {
  readonly size: 'full' | 'smoke'
}

/** How much is done. */
export interface Scale extends Size {
  /** Measured, after as many of warming up. */
  readonly seconds: number
}

/** A wait of so many milliseconds; a run that only proves that it runs has no time. */
export const waitMs = ({ size }: Size, ms: number): number => (size === 'full' ? ms : ms / 10)

export const perDelivered: Figure = { label: 'CPU µs a delivered update', digits: 2, better: 'less' }
export const deliveredPerSecond: Figure = { label: 'delivered/s', digits: 0, better: 'more' }
export const p50: Figure = { label: 'p50 ms', digits: 2, better: 'less' }
export const p99: Figure = { label: 'p99 ms', digits: 2, better: 'less' }

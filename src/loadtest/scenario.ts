import type { TargetServer } from './target-server.ts'

/** One measured value. */
export interface Figure {
  readonly key: string
  readonly label: string
  readonly value: number
  readonly unit: '/s' | 'ms' | 'KB'
}

export interface Scenario {
  readonly name: string
  /** Share of the duration of the whole run. */
  readonly share: number
  /** Runs for about `seconds` seconds. @throws Error with the problem */
  readonly run: (target: TargetServer, seconds: number) => Promise<readonly Figure[]>
}

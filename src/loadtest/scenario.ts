import type { TargetServer } from './target-server.ts'

/** One measured value with its unit. */
export interface Figure {
  readonly key: string
  readonly label: string
  readonly value: number
  readonly unit: '/s' | 'ms' | 'KB'
}

export interface Scenario {
  readonly name: string
  /** Share of this scenario in the duration of the whole run. */
  readonly share: number
  /** Runs the scenario for about `seconds` seconds. @throws Error that describes the problem */
  readonly run: (target: TargetServer, seconds: number) => Promise<readonly Figure[]>
}

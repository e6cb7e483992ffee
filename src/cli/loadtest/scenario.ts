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
  /** Share of the whole duration that this scenario gets. */
  readonly share: number
  /** Runs the scenario for about `seconds` seconds. @throws Error that describes why the scenario failed */
  readonly run: (target: TargetServer, seconds: number) => Promise<readonly Figure[]>
}

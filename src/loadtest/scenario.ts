import type { TargetServer } from './target-server.ts'

/** What has been measured. */
export interface Figure {
  readonly key: string
  readonly label: string
  readonly value: number
  readonly unit: '/s' | 'ms' | 'KB'
}

export interface Scenario {
  readonly name: string
  /** Of the time of the whole run. */
  readonly share: number
  /** Takes about so many seconds. @throws Error that says what was wrong */
  readonly run: (target: TargetServer, seconds: number) => Promise<readonly Figure[]>
}

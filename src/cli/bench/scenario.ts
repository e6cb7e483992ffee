import type { Target } from './target.ts'

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
  readonly run: (target: Target, seconds: number) => Promise<readonly Figure[]>
}

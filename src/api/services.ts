import type { Tokens } from '../access/tokens.ts'
import type { Clock } from '../clock.ts'

/** What operations work with. */
export interface Services {
  readonly tokens: Tokens
  readonly clock: Clock
}

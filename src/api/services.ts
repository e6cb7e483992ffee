import type { Tokens } from '../access/tokens.ts'
import type { Clock } from '../clock.ts'
import type { DocumentLog } from '../engine/engine.ts'
import type { Metrics } from '../metrics.ts'
import type { Rooms } from '../rooms/rooms.ts'

/** What operations work with. */
export interface Services {
  readonly tokens: Tokens
  readonly rooms: Rooms
  /** Which documents there are; their content is reached through `rooms` only. */
  readonly log: Pick<DocumentLog, 'heads' | 'list'>
  readonly metrics: Metrics
  readonly clock: Clock
  readonly allowSubdocuments: boolean
}

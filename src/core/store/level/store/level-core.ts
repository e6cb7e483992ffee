import type { Clock } from '../../../base/clock.ts'
import type { Log } from '../../../base/log.ts'
import type { FenceCache } from '../../fences.ts'
import type { OpenCalls } from '../../open-calls.ts'
import type { GroupCommit } from './group-commit.ts'
import type { RangeCompaction } from './range-compaction.ts'
import type { ReopeningStore } from './reopening-store.ts'

/** What all parts of an open engine share. */
export interface LevelCore {
  readonly gate: OpenCalls
  readonly disk: ReopeningStore
  readonly commit: GroupCommit
  readonly clock: Clock
  readonly log: Log | undefined
  readonly rewriting: RangeCompaction
  readonly fences: FenceCache
}

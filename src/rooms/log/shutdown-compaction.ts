import type { Clock } from '../../clock.ts'
import { mapInSlices } from '../../directory/store/batch.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Room } from '../room/room.ts'

/** How long a stop may be held up by what makes the next start faster. */
const leavingMs = 1_000

/**
 * Compacts the logs of rooms that close, until the time is over: a log is complete without compaction. Never throws.
 */
export async function compactAtShutdown(rooms: readonly Room[], engine: Engine, clock: Clock): Promise<void> {
  const end = clock.now() + leavingMs
  await mapInSlices(rooms, async (room) => {
    if (engine.health().ok && clock.now() < end) await room.compact('leaving')
  })
}

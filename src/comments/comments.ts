import type { Clock } from '../clock.ts'
import type { OrganizationStore } from '../directory/organization-store.ts'
import type { Organizations } from '../directory/organizations.ts'
import type { WorkerEngine } from '../directory/worker.ts'
import type { Events } from '../events/events.ts'
import type { Log } from '../log.ts'
import type { Memory } from '../memory/memory.ts'
import { Annotations } from './annotations.ts'
import { Judging } from './judging.ts'
import { Locations } from './locations.ts'
import { Reactions } from './reactions.ts'
import { Threads } from './threads.ts'

/** What people say about documents. */
export interface Comments {
  readonly annotations: Annotations
  readonly threads: Threads
  readonly reactions: Reactions
  readonly locations: Locations
  /** To be started, and stopped before the engine is closed. */
  readonly judging: Judging
}

export function createComments(parts: {
  readonly store: OrganizationStore
  readonly organizations: Organizations
  readonly events: Events
  readonly memory: Memory
  readonly engine: WorkerEngine
  readonly clock: Clock
  readonly log: Log
}): Comments {
  const judging = new Judging(parts)
  return {
    annotations: new Annotations(parts, judging),
    threads: new Threads(parts),
    reactions: new Reactions(parts),
    locations: new Locations(parts.store, parts.organizations),
    judging,
  }
}

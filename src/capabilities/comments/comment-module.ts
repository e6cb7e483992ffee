import type { Clock } from '../../core/base/clock.ts'
import type { Log } from '../../core/base/log.ts'
import type { OrganizationStore } from '../../core/directory/organizations/organization-store.ts'
import type { OrganizationService } from '../../core/directory/services/organization-service.ts'
import type { EventRecorder } from '../../core/events/event-recorder.ts'
import type { WorkerEngine } from '../../core/jobs/task-worker.ts'
import type { DecisionMemory } from '../decisions/decision-memory.ts'
import { AnnotationService } from './annotation-service.ts'
import { JudgmentRecorder } from './judgment-recorder.ts'
import { LocationService } from './location-service.ts'
import { ReactionService } from './reaction-service.ts'
import { ThreadService } from './thread-service.ts'

/** The services for comments on documents. */
export interface CommentModule {
  readonly annotations: AnnotationService
  readonly threads: ThreadService
  readonly reactions: ReactionService
  readonly locations: LocationService
  /**
   * Stores judgments. The caller must start this service with the server, and stop it before the engine is
   * closed.
   */
  readonly judging: JudgmentRecorder
}

export function createCommentModule(parts: {
  readonly store: OrganizationStore
  readonly organizations: OrganizationService
  readonly events: EventRecorder
  readonly memory: DecisionMemory
  readonly engine: WorkerEngine
  readonly clock: Clock
  readonly log: Log
}): CommentModule {
  const judging = new JudgmentRecorder(parts)
  return {
    annotations: new AnnotationService(parts, judging),
    threads: new ThreadService(parts),
    reactions: new ReactionService(parts),
    locations: new LocationService(parts.store, parts.organizations, parts.memory, parts.events),
    judging,
  }
}

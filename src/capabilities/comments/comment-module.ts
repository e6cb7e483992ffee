import { AnnotationService } from './annotation-service.ts'
import { CommentService } from './comment-service.ts'
import { type CommentDependencies, JudgmentRecorder } from './judgment-recorder.ts'
import { LocationService } from './location-service.ts'
import { ReactionService } from './reaction-service.ts'

/** The services for comments on documents. */
export interface CommentModule {
  readonly annotations: AnnotationService
  readonly comments: CommentService
  readonly reactions: ReactionService
  readonly locations: LocationService
  /**
   * Stores judgments. The caller must start this service with the server, and stop it before the engine is
   * closed.
   */
  readonly judging: JudgmentRecorder
}

export function createCommentModule(dependencies: CommentDependencies): CommentModule {
  const judging = new JudgmentRecorder(dependencies)
  return {
    annotations: new AnnotationService(dependencies, judging),
    comments: new CommentService(dependencies),
    reactions: new ReactionService(dependencies),
    locations: new LocationService(dependencies),
    judging,
  }
}

import { rangeSource } from '../../core/directory/user-data/user-data-source.ts'
import { defineCapability } from '../../rest/capability.ts'
import { AnnotationService } from './annotation-service.ts'
import { createCommentCascade } from './comment-removal.ts'
import { CommentService } from './comment-service.ts'
import { type CommentDependencies, JudgmentRecorder } from './judgment-recorder.ts'
import { LocationService } from './location-service.ts'
import { ReactionService } from './reaction-service.ts'
import { mentions } from './user-data.ts'

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

declare module '../../rest/services.ts' {
  interface Services extends CommentModule {}
}

/** Threads of comments on documents, with reactions and suggestions. */
export const comments = defineCapability({
  name: 'comments',
  create: createCommentModule,
  cascade: ({ store, memory }) => [createCommentCascade(store, memory)],
  userData: ({ store }) => ({ ofOrganization: [rangeSource(store, mentions)] }),
  start: ({ judging }) => judging.worker.start(),
  stop: ({ judging }) => judging.worker.stop(),
})

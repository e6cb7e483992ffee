import { rangeSource } from '../../core/directory/user-data/user-data-source.ts'
import { defineCapability } from '../../rest/capability.ts'
import { AnnotationService } from './annotation-service.ts'
import { deleteLocationData } from './api/v1/organizations/documents/locations/data/delete.ts'
import { addAnnotations } from './api/v2/commentannotations/add.ts'
import { addComments } from './api/v2/commentannotations/comments/add.ts'
import { deleteComments } from './api/v2/commentannotations/comments/delete.ts'
import { getComments } from './api/v2/commentannotations/comments/get.ts'
import { addReactions } from './api/v2/commentannotations/comments/reactions/add.ts'
import { deleteReactions } from './api/v2/commentannotations/comments/reactions/delete.ts'
import { updateComments } from './api/v2/commentannotations/comments/update.ts'
import { deleteAnnotations } from './api/v2/commentannotations/delete.ts'
import { getAnnotations } from './api/v2/commentannotations/get.ts'
import { updateAnnotations } from './api/v2/commentannotations/update.ts'
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
  operations: [
    deleteLocationData,
    addAnnotations,
    addComments,
    deleteComments,
    getComments,
    addReactions,
    deleteReactions,
    updateComments,
    deleteAnnotations,
    getAnnotations,
    updateAnnotations,
  ],
  create: createCommentModule,
  cascade: ({ store, memory }) => [createCommentCascade(store, memory)],
  userData: ({ store }) => ({ ofOrganization: [rangeSource(store, mentions)] }),
  start: ({ judging }) => judging.start(),
  stop: ({ judging }) => judging.stop(),
})

import { ApiError } from '../../core/base/errors.ts'
import { type BatchResults, forEachItem, ItemRejectedError } from '../../core/directory/store/batch.ts'
import { type CommentRecord, putComment, type Reaction } from './comment-records.ts'
import { changeThread, type ThreadChange, type ThreadScope } from './comment-service.ts'
import { findComment } from './find-comments.ts'
import type { CommentDependencies } from './judgment-recorder.ts'
import { commentLimits as limits } from './limits.ts'

/** The comment whose reactions are changed, and the acting user. */
interface ReactionTarget extends ThreadScope {
  readonly commentId: string
}

type NewReaction = Omit<Reaction, 'createdAt'>

/**
 * Manages the reactions to comments. Every method throws ApiError NOT_FOUND if the organization, the
 * document, the annotation or the comment does not exist.
 */
export class ReactionService {
  readonly #dependencies: CommentDependencies

  constructor(dependencies: CommentDependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Adds reactions. A reaction is rejected if its id is in use, or if the user has already added the same
   * reaction.
   */
  add(reacting: ReactionTarget, reactions: readonly NewReaction[]): Promise<BatchResults> {
    return this.#change(reacting, async (before, tell) => {
      const all = [...before.reactions]
      const results = await forEachItem(reactions, 'reactionId', async (given) => {
        const reaction = { ...given, createdAt: this.#dependencies.clock.now() }
        check(all, reaction)
        all.push(reaction)
        tell('comment.reaction_add', null, given.reaction)
        return 'added'
      })
      return { results, reactions: all }
    })
  }

  delete(reacting: ReactionTarget, reactionIds: readonly string[]): Promise<BatchResults> {
    return this.#change(reacting, async (before, tell) => {
      let all = before.reactions
      const results = await forEachItem(reactionIds, null, async (id) => {
        const gone = all.find(({ reactionId }) => reactionId === id)
        if (gone === undefined)
          throw new ItemRejectedError('comment/reaction-not-found', 'there is no such reaction')
        all = all.filter((reaction) => reaction !== gone)
        tell('comment.reaction_delete', gone.reaction, null)
        return 'deleted'
      })
      return { results, reactions: all }
    })
  }

  /**
   * Changes the reactions of a comment. `lastUpdated` of the comment stays unchanged, because the comment
   * itself does not change.
   */
  #change(
    reacting: ReactionTarget,
    work: (before: CommentRecord, tell: NotifyReaction) => Promise<Reacted>,
  ): Promise<BatchResults> {
    const { annotationId, commentId, actionUser } = reacting
    return changeThread(this.#dependencies, reacting, async (change: ThreadChange) => {
      const { transaction, annotation, happened } = change
      const before = await findComment(transaction, annotationId, commentId)
      if (before === null)
        throw new ApiError('comment/not-found', 'the comment does not exist; check commentId')
      const notices: Parameters<NotifyReaction>[] = []
      const { results, reactions } = await work(before, (...one) => notices.push(one))
      if (notices.length === 0) return results
      const comment = { ...before, reactions }
      putComment(transaction, annotationId, before, comment)
      for (const [action, from, to] of notices)
        happened.push({ action, actionUser, annotation, comment, changes: { reaction: { from, to } } })
      return results
    })
  }
}

type NotifyReaction = (
  action: 'comment.reaction_add' | 'comment.reaction_delete',
  from: string | null,
  to: string | null,
) => void

interface Reacted {
  readonly results: BatchResults
  readonly reactions: readonly Reaction[]
}

/**
 * Checks a new reaction.
 * @throws ItemRejectedError if the reaction cannot be added to the reactions `all`
 */
function check(all: readonly Reaction[], added: Reaction): void {
  const { reactionId, reaction, user } = added
  if (all.some((each) => each.reactionId === reactionId))
    throw new ItemRejectedError('comment/reaction-exists', 'the reaction id is used already')
  if (all.some((each) => each.reaction === reaction && each.user.userId === user.userId))
    throw new ItemRejectedError('comment/reaction-exists', 'the user has already added this reaction')
  if (all.length >= limits.reactions)
    throw new ItemRejectedError(
      'comment/too-many-reactions',
      `a comment has at most ${limits.reactions} reactions`,
    )
  if (Buffer.byteLength(JSON.stringify([...all, added])) > limits.reactionsBytes)
    throw new ItemRejectedError(
      'comment/too-many-reactions',
      `the reactions of a comment have at most ${limits.reactionsBytes} bytes as JSON`,
    )
}

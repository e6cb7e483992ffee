import { type CommentRecord, putComment, type Reaction } from '../directory/comment-records.ts'
import { eachItem, ItemRefused, type Results } from '../directory/items.ts'
import { ApiError } from '../errors.ts'
import type { CommentParts } from './annotations.ts'
import { commentLimits as limits } from './limits.ts'
import { findComment } from './reading.ts'
import { type ActingOn, changeThread, type ThreadChange } from './threads.ts'

/** Which comment somebody reacts to. */
export interface Reacting extends ActingOn {
  readonly commentId: string
}

export type NewReaction = Omit<Reaction, 'createdAt'>

/**
 * Reactions to comments. Every call throws ApiError NOT_FOUND when the organization, the document, the annotation or the
 * comment does not exist.
 */
export class Reactions {
  readonly #parts: CommentParts

  constructor(parts: CommentParts) {
    this.#parts = parts
  }

  /** What has the id already stays as it is; nobody reacts to a comment twice in the same way. */
  add(reacting: Reacting, reactions: readonly NewReaction[]): Promise<Results> {
    return this.#change(reacting, async (before, tell) => {
      const all = [...before.reactions]
      const results = await eachItem(
        reactions,
        ({ reactionId }) => reactionId,
        async (given) => {
          const reaction = { ...given, createdAt: this.#parts.clock.now() }
          const problem = problemOf(all, reaction)
          if (problem !== null) throw new ItemRefused(problem)
          all.push(reaction)
          tell('comment.reaction_add', null, given.reaction)
          return 'added'
        },
      )
      return { results, reactions: all }
    })
  }

  delete(reacting: Reacting, reactionIds: readonly string[]): Promise<Results> {
    return this.#change(reacting, async (before, tell) => {
      let all = before.reactions
      const results = await eachItem(
        reactionIds,
        (id) => id,
        async (id) => {
          const gone = all.find(({ reactionId }) => reactionId === id)
          if (gone === undefined) throw new ItemRefused('there is no such reaction')
          all = all.filter((reaction) => reaction !== gone)
          tell('comment.reaction_delete', gone.reaction, null)
          return 'deleted'
        },
      )
      return { results, reactions: all }
    })
  }

  /** A reaction is no change of the comment itself: `lastUpdated` stays. */
  #change(
    reacting: Reacting,
    work: (before: CommentRecord, tell: Tell) => Promise<Reacted>,
  ): Promise<Results> {
    const { annotationId, commentId, actionUser } = reacting
    return changeThread(this.#parts, reacting, async (change: ThreadChange) => {
      const { transaction, annotation, happened } = change
      const before = await findComment(transaction, annotationId, commentId)
      if (before === null) throw new ApiError('NOT_FOUND', 'the comment does not exist')
      const told: Parameters<Tell>[] = []
      const { results, reactions } = await work(before, (...one) => told.push(one))
      if (told.length === 0) return results
      const comment = { ...before, reactions }
      putComment(transaction, annotationId, before, comment)
      for (const [action, from, to] of told)
        happened.push({ action, actionUser, annotation, comment, changes: { reaction: { from, to } } })
      return results
    })
  }
}

type Tell = (
  action: 'comment.reaction_add' | 'comment.reaction_delete',
  from: string | null,
  to: string | null,
) => void

interface Reacted {
  readonly results: Results
  readonly reactions: readonly Reaction[]
}

/** Why a reaction is not added; null: it is. */
function problemOf(all: readonly Reaction[], added: Reaction): string | null {
  const { reactionId, reaction, user } = added
  if (all.some((each) => each.reactionId === reactionId)) return 'the reaction id is used already'
  if (all.some((each) => each.reaction === reaction && each.user.userId === user.userId))
    return 'the user has reacted so already'
  if (all.length >= limits.reactions) return `a comment has at most ${limits.reactions} reactions`
  if (Buffer.byteLength(JSON.stringify([...all, added])) > limits.reactionsBytes)
    return `the reactions of a comment have at most ${limits.reactionsBytes} bytes as JSON`
  return null
}

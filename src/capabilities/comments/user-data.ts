import type { ShownEntry, UserRanges } from '../../core/directory/user-data/range-source.ts'
import { commentKeys } from './comment-keys.ts'
import { withoutOrder } from './comment-records.ts'
import { anonymizeComments, findMentions, type UserMention } from './user-mentions.ts'

/**
 * Maximum number of records that one commit changes. One comment can have up to 100 reactions, so the limit
 * is low.
 */
const sliceMax = 50

/**
 * Annotations and comments that mention a user. An erasure keeps them, and replaces the user with the deleted
 * user.
 */
export const mentions: UserRanges = {
  name: 'comments',
  kind: 'comment',
  ranges: (userId) => [commentKeys.tiesOf(userId)],
  async show(reader, entries, userId) {
    const traces = await findMentions(
      reader,
      entries.map(({ key }) => key),
    )
    return traces.map((trace) => (trace === null ? null : shownOf(trace, userId)))
  },
  erase: (transaction, userId) => anonymizeComments(transaction, userId, sliceMax),
}

/**
 * Returns the part of an annotation or comment that is data of this user. Reactions of other users are left
 * out.
 */
function shownOf(trace: UserMention, userId: string): ShownEntry {
  const { annotationId, documentId } = trace.annotation
  if (trace.kind === 'annotation') return { documentId, data: withoutOrder(trace.annotation) }
  const reactions = trace.comment.reactions.filter(({ user }) => user.userId === userId)
  return { documentId, data: { annotationId, ...withoutOrder(trace.comment), reactions } }
}

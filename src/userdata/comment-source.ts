import { commentKeys } from '../directory/comments/comment-keys.ts'
import { withoutOrder } from '../directory/comments/comment-records.ts'
import { anonymiseComments, findMentions, type UserMention } from '../directory/comments/user-mentions.ts'
import type { ShownEntry, UserRanges } from './range-source.ts'

/** Records that are changed in one commit: a comment has up to 100 reactions. */
const sliceMax = 50

/** Where annotations and comments name users. Threads stay, with the deleted user in them. */
export const comments: UserRanges = {
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
  erase: (transaction, userId) => anonymiseComments(transaction, userId, sliceMax),
}

/** Who else has reacted to a comment is not said. */
function shownOf(trace: UserMention, userId: string): ShownEntry {
  const { annotationId, documentId } = trace.annotation
  if (trace.kind === 'annotation') return { documentId, data: withoutOrder(trace.annotation) }
  const reactions = trace.comment.reactions.filter(({ user }) => user.userId === userId)
  return { documentId, data: { annotationId, ...withoutOrder(trace.comment), reactions } }
}

import type { DirectoryReader } from '../../core/directory/store/directory-reader.ts'
import type { ActionUser } from '../../core/events/activity.ts'
import { readRecord } from '../../core/store/stored-record.ts'
import { commentKeys as keys } from './comment-keys.ts'
import { commentRecordType } from './comment-records.ts'

/** Maximum number of comments that are read. Reading starts with the first comment of the thread. */
const commentsMax = 1_000

/**
 * Returns the authors of a thread without duplicates, in the order of their first comments. Returns an empty
 * list if the thread was deleted.
 */
export async function participantsOf(
  reader: DirectoryReader,
  annotationId: string,
): Promise<readonly ActionUser[]> {
  const entries = await reader.scan({ prefix: keys.comments(annotationId), limit: commentsMax })
  const users = new Map<string, ActionUser>()
  for (const entry of entries) {
    const { from } = readRecord(commentRecordType, entry)
    if (!users.has(from.userId)) users.set(from.userId, from)
  }
  return [...users.values()]
}

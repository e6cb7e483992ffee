import { commentKeys as keys } from '../directory/comments/comment-keys.ts'
import type { AnnotationRecord, CommentRecord } from '../directory/comments/comment-records.ts'
import { mapInSlices } from '../directory/store/batch.ts'
import type { DirectoryReader } from '../directory/store/directory-reader.ts'
import { decodeRecord } from '../directory/store/records.ts'
import { threadOf } from './find-comments.ts'
import { commentLimits as limits } from './limits.ts'

/** An annotation as it is shown. */
export interface AnnotationView {
  readonly record: AnnotationRecord
  /** The oldest ones, as many as are shown with an annotation. */
  readonly comments: readonly CommentRecord[]
  /** How many there are in all. */
  readonly commentCount: number
}

export const viewAnnotations = (
  reader: DirectoryReader,
  records: readonly AnnotationRecord[],
): Promise<readonly AnnotationView[]> =>
  mapInSlices(records, async (record) => {
    const { annotationId } = record
    const [thread, entries] = await Promise.all([
      threadOf(reader, annotationId),
      reader.scan({ prefix: keys.comments(annotationId), limit: limits.commentsShown }),
    ])
    const { length } = within(
      entries.map(({ value }) => value.length),
      limits.shownBytes,
    )
    const comments = entries.slice(0, length).map(({ value }) => decodeRecord(value) as CommentRecord)
    return { record, comments, commentCount: thread.count }
  })

/** The first ones of `sizes` that are together no more than `max`, but at least one. */
function within(sizes: readonly number[], max: number): readonly number[] {
  let sum = 0
  const end = sizes.findIndex((size, index) => {
    sum += size
    return index > 0 && sum > max
  })
  return end === -1 ? sizes : sizes.slice(0, end)
}

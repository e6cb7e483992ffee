import { mapInSlices } from '../../core/directory/store/batch.ts'
import type { DirectoryReader } from '../../core/directory/store/directory-reader.ts'
import { readRecord } from '../../core/store/stored-record.ts'
import { commentKeys as keys } from './comment-keys.ts'
import { type AnnotationRecord, type CommentRecord, commentRecordType } from './comment-records.ts'
import { threadOf } from './find-comments.ts'
import { commentLimits as limits } from './limits.ts'

/** An annotation with its first comments. */
export interface AnnotationView {
  readonly record: AnnotationRecord
  /**
   * The oldest comments, at most `commentsShown`. Their total size is at most `shownBytes`, unless the first
   * comment alone is larger.
   */
  readonly comments: readonly CommentRecord[]
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
    const comments = entries.slice(0, length).map((entry) => readRecord(commentRecordType, entry))
    return { record, comments, commentCount: thread.count }
  })

/** Returns the first entries of `sizes` whose sum is at most `max`. The result always has the first entry. */
function within(sizes: readonly number[], max: number): readonly number[] {
  let sum = 0
  const end = sizes.findIndex((size, index) => {
    sum += size
    return index > 0 && sum > max
  })
  return end === -1 ? sizes : sizes.slice(0, end)
}

import { requireResource } from '../../core/directory/documents/resource-lookup.ts'
import { mapInSlices } from '../../core/directory/store/batch.ts'
import type { DirectoryReader } from '../../core/directory/store/directory-reader.ts'
import type { ListPage, PageRange } from '../../core/directory/store/list-page.ts'
import { lastSegment } from '../../core/store/key-encoding.ts'
import { readRecord } from '../../core/store/stored-record.ts'
import {
  type AnnotationList,
  type AnnotationPosition,
  decodeAnnotationPosition,
  encodeAnnotationPosition,
  commentKeys as keys,
} from './comment-keys.ts'
import {
  type AnnotationRecord,
  annotationRecordType,
  type CommentRecord,
  commentRecordType,
} from './comment-records.ts'
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

const viewAnnotations = (
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

/** Maximum number of list entries in one read. */
const chunkSize = 50

/** Maximum number of annotations whose comments are read concurrently. */
const viewsAtOnce = 8

/** Filter for the annotations of a document. An annotation must match all members that are present. */
export interface AnnotationFilter {
  readonly documentId: string
  /** Ids of locations. The annotation must be in one of them. */
  readonly locationIds?: readonly string[] | undefined
  /** Statuses. The annotation must have one of them. */
  readonly statuses?: readonly string[] | undefined
  /**
   * Id of a user who must be the creator or the assignee of the annotation, or the author of a comment or
   * reaction in it.
   */
  readonly userId?: string | undefined
}

export interface AnnotationListing extends AnnotationFilter, PageRange {
  readonly order: 'asc' | 'desc'
}

/**
 * Returns a page of annotations, sorted by the time at which they were added. The position of an annotation
 * never changes. So if annotations are added or deleted between two pages, no other annotation is left out or
 * repeated. After `scanned` entries or `pageBytes`, the page ends early with the position for the next page.
 * @param read creates a reader; called for each chunk
 * @throws ApiError NOT_FOUND if the document does not exist
 */
export async function listAnnotations(
  read: () => DirectoryReader,
  listing: AnnotationListing,
): Promise<ListPage<AnnotationView>> {
  await requireResource(read(), { type: 'document', id: listing.documentId })
  const items: AnnotationView[] = []
  let bytes = 0
  let { after } = listing
  for (let scanned = 0; scanned < limits.scanned; scanned += chunkSize) {
    const reader = read()
    const chunk = await nextPositions(reader, { ...listing, after })
    const records = await existing(reader, chunk.map(decodeAnnotationPosition))
    for await (const view of viewsOf(reader, await fitting(reader, records, listing))) {
      bytes += Buffer.byteLength(JSON.stringify(view))
      const isFull = items.length === listing.limit || (items.length > 0 && bytes > limits.pageBytes)
      if (isFull) return { items, next: encodeAnnotationPosition((items.at(-1) as AnnotationView).record) }
      items.push(view)
    }
    if (chunk.length < chunkSize) return { items, next: null }
    after = chunk.at(-1)
  }
  return { items, next: after ?? null }
}

/**
 * Yields the views of annotations. Reads them in small groups, because threads may be long, and because the
 * page may end before all of them are needed.
 */
async function* viewsOf(
  reader: DirectoryReader,
  records: readonly AnnotationRecord[],
): AsyncGenerator<AnnotationView, void, undefined> {
  for (let at = 0; at < records.length; at += viewsAtOnce)
    yield* await viewAnnotations(reader, records.slice(at, at + viewsAtOnce))
}

/**
 * Returns the annotations that have one of the ids `annotationIds` and match the filter, in the order of the
 * ids.
 * @throws ApiError NOT_FOUND if the document does not exist
 */
export async function findAnnotations(
  reader: DirectoryReader,
  filter: AnnotationFilter,
  annotationIds: readonly string[],
): Promise<readonly AnnotationView[]> {
  await requireResource(reader, { type: 'document', id: filter.documentId })
  const ids = [...new Set(annotationIds)]
  const found = await reader.getAll(ids.map(keys.annotation), annotationRecordType)
  const records = found.filter((record) => record !== null)
  const views: AnnotationView[] = []
  for await (const view of viewsOf(reader, await fitting(reader, records, filter))) views.push(view)
  return views
}

async function existing(
  reader: DirectoryReader,
  positions: readonly AnnotationPosition[],
): Promise<readonly AnnotationRecord[]> {
  const wanted = positions.map(({ annotationId }) => keys.annotation(annotationId))
  const found = await reader.getAll(wanted, annotationRecordType)
  // Skips an annotation that was deleted and added again after its position was read. Such an annotation has
  // another position.
  return found
    .filter((record, at) => record?.order === positions[at]?.order)
    .filter((record) => record !== null)
}

/**
 * Returns the next positions in the lists that the filter selects. If the filter selects several lists, their
 * positions are merged.
 */
async function nextPositions(
  reader: DirectoryReader,
  { after, order, ...filter }: Omit<AnnotationListing, 'limit'>,
): Promise<readonly string[]> {
  const reverse = order === 'desc'
  const found = await mapInSlices(listsFor(filter), async (list) => {
    const from = after === undefined ? {} : { after: keys.inList(list, decodeAnnotationPosition(after)) }
    return reader.scan({ prefix: keys.list(list), limit: chunkSize, reverse, ...from })
  })
  const positions = found.flat().map(({ key }) => ({
    order: key.at(-2) ?? '',
    annotationId: lastSegment(key),
  }))
  // Two annotations of a document have the same order only if calls in the same millisecond added them. Their
  // ids then determine the sequence, as in the keys.
  const sorted = positions.toSorted(comparePositions)
  return (reverse ? sorted.toReversed() : sorted).slice(0, chunkSize).map(encodeAnnotationPosition)
}

function comparePositions(a: AnnotationPosition, b: AnnotationPosition): number {
  if (a.order !== b.order) return a.order < b.order ? -1 : 1
  return Buffer.compare(Buffer.from(a.annotationId), Buffer.from(b.annotationId))
}

const listsFor = ({ documentId, locationIds }: AnnotationFilter): readonly AnnotationList[] =>
  locationIds === undefined
    ? [{ kind: 'document', documentId }]
    : [...new Set(locationIds)].map((locationId) => ({ kind: 'location', documentId, locationId }))

async function fitting(
  reader: DirectoryReader,
  records: readonly AnnotationRecord[],
  { documentId, locationIds, statuses, userId }: AnnotationFilter,
): Promise<readonly AnnotationRecord[]> {
  const fits = (record: AnnotationRecord): boolean =>
    record.documentId === documentId &&
    (statuses === undefined || statuses.includes(record.status)) &&
    (locationIds === undefined || (record.location !== null && locationIds.includes(record.location.id)))
  const candidates = records.filter(fits)
  if (userId === undefined) return candidates
  const tied = await mapInSlices(candidates, async ({ annotationId }) => {
    const ties = await reader.scan({ prefix: keys.tiesTo(userId, annotationId), limit: 1 })
    return ties.length > 0
  })
  return candidates.filter((_, index) => tied[index])
}

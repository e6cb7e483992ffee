import { isDeepStrictEqual } from 'node:util'
import { ItemRejectedError } from '../../core/directory/store/batch.ts'
import { patchRecord } from '../../core/directory/store/patch-record.ts'
import type { ActionUser } from '../../core/events/activity.ts'
import type { ChangedFields, CommentAction, FieldChange } from './comment-events.ts'
import type { Anchor, AnnotationLocation, AnnotationRecord, AnnotationSuggestion } from './comment-records.ts'

/** A change of an annotation's suggestion. */
export type SuggestionChange =
  | { readonly kind: 'accept' }
  | { readonly kind: 'reject' }
  /**
   * Replaces the suggested content. If the annotation has no suggestion, adds one. The suggestion then has
   * the status `pending`.
   */
  | { readonly kind: 'replace'; readonly content: unknown }

/** A change of an annotation. Members that are absent stay unchanged. */
export interface AnnotationChange {
  readonly annotationId: string
  readonly location?: AnnotationLocation | undefined
  readonly anchor?: Anchor | undefined
  /** The reason why the annotation cannot have its new anchor. It is then not changed. */
  readonly anchorError?: ItemRejectedError | undefined
  readonly status?: AnnotationRecord['status'] | undefined
  readonly priority?: string | null | undefined
  readonly assignedTo?: ActionUser | null | undefined
  readonly suggestion?: SuggestionChange | undefined
}

/**
 * Returns the annotation after a change. Returns the record `before` itself if the change has no effect.
 * @throws ItemRejectedError if the change decides a suggestion that does not exist
 */
export const changedAnnotation = (
  before: AnnotationRecord,
  { location, anchor, status, priority, assignedTo, suggestion: wanted }: AnnotationChange,
  now: number,
): AnnotationRecord => {
  const suggestion = wanted === undefined ? undefined : changedSuggestion(before.suggestion, wanted)
  return patchRecord<AnnotationRecord>(
    before,
    { location, anchor, status, priority, assignedTo, suggestion },
    now,
  )
}

function changedSuggestion(
  before: AnnotationSuggestion | null,
  change: SuggestionChange,
): AnnotationSuggestion {
  if (change.kind === 'replace') {
    const isSame = before !== null && isDeepStrictEqual(before.content, change.content)
    return isSame ? before : { status: 'pending', content: change.content }
  }
  if (before === null) throw new ItemRejectedError('comment/no-suggestion', 'the annotation suggests nothing')
  return { ...before, status: change.kind === 'accept' ? 'accepted' : 'rejected' }
}

/**
 * Returns the actions that a change consists of. Each changed member that has its own event is one action.
 * All other changed members together are one action.
 */
export function annotationActions(
  before: AnnotationRecord,
  after: AnnotationRecord,
): readonly { readonly action: CommentAction; readonly changes: ChangedFields }[] {
  const differs = (name: keyof AnnotationRecord): boolean => !isDeepStrictEqual(before[name], after[name])
  const own = ownActions
    .filter(([name]) => differs(name))
    .map(([name, action]) => ({ action, changes: { [name]: { from: before[name], to: after[name] } } }))
  const decided = decisionFromChange(before, after)
  const [from, to] = [before.suggestion?.status ?? null, after.suggestion?.status ?? null]
  const decision =
    decided === null
      ? []
      : [{ action: decisionActions[decided], changes: { suggestion: { from, to } } } as const]
  const others = otherChanges(before, after, differs)
  const rest =
    Object.keys(others).length === 0
      ? []
      : [{ action: 'comment_annotation.update', changes: others } as const]
  return [...own, ...decision, ...rest]
}

const ownActions = [
  ['status', 'comment_annotation.status_change'],
  ['priority', 'comment_annotation.priority_change'],
  ['assignedTo', 'comment_annotation.assign'],
] as const

const decisionActions = {
  approve: 'comment_annotation.suggestion_accept',
  reject: 'comment_annotation.suggestion_reject',
} as const

/** Returns the decision that a change makes on the suggestion; null if the change makes no decision. */
export function decisionFromChange(
  { suggestion: before }: AnnotationRecord,
  { suggestion: after }: AnnotationRecord,
): keyof typeof decisionActions | null {
  if (after === null || after.status === 'pending' || after.status === before?.status) return null
  return after.status === 'accepted' ? 'approve' : 'reject'
}

/**
 * Returns the changed members that have no event of their own. Large members are reduced to an id, a position
 * or a status.
 */
function otherChanges(
  before: AnnotationRecord,
  after: AnnotationRecord,
  differs: (name: keyof AnnotationRecord) => boolean,
): ChangedFields {
  const changes: Record<string, FieldChange> = {}
  if (differs('location')) changes.location = { from: before.location?.id, to: after.location?.id }
  if (differs('anchor')) changes.anchor = { from: before.anchor?.position, to: after.anchor?.position }
  if (differs('suggestion') && after.suggestion?.status === 'pending')
    changes.suggestion = { from: before.suggestion?.status, to: after.suggestion.status }
  return changes
}

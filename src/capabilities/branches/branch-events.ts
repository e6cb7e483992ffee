import { randomUUID } from 'node:crypto'
import type { BranchRecord } from '../../core/directory/branches/branch-records.ts'
import type { DomainEvent } from '../../core/events/event-recorder.ts'
import { branchEditorId } from '../../core/model/branch-address.ts'

/** The decision on a branch, or on some of its hunks. */
export interface BranchDecision {
  readonly is: 'accept' | 'reject'
  readonly documentId: string
  /** The branch after the decision. */
  readonly branch: BranchRecord
  /** Id of the user who has decided. */
  readonly userId: string
  /** Ids of the decided hunks; null if the whole branch was decided. */
  readonly hunkIds: readonly string[] | null
}

const templates = {
  accept: '{{actionUser}} accepted changes of the branch {{branch}}',
  reject: '{{actionUser}} rejected changes of the branch {{branch}}',
} as const

/**
 * Returns the activity and the outgoing event of a decision. They have the same type as the decision on the
 * suggestion of an annotation, so that receivers of suggestions get both. The data has `branch` instead of
 * `annotation`.
 */
export function branchEvent({ is, documentId, branch, userId, hunkIds }: BranchDecision): DomainEvent {
  const type = `comment_annotation.suggestion_${is}` as const
  const { editorId, name, createdBy, baseVersion, status } = branch
  const actionUser = { userId }
  return {
    activity: {
      id: randomUUID(),
      documentId,
      featureType: 'crdt',
      actionType: type,
      actionUser,
      targetEntityId: branchEditorId(branch),
      changes: { branch: name, editorId, status, ...(hunkIds !== null && { hunks: hunkIds.length }) },
      displayMessageTemplate: templates[is],
      displayMessageTemplateData: { actionUser, branch: name },
    },
    outbound: {
      type,
      documentId,
      actionUser,
      data: { branch: { editorId, name, createdBy, baseVersion, status }, hunkIds },
    },
  }
}

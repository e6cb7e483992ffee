import { createHash } from 'node:crypto'
import * as s from '../../base/schema.ts'
import type { Tenant } from '../../model/address.ts'
import type { Key } from '../../store/engine.ts'
import { readRecord } from '../../store/stored-record.ts'
import type { OrganizationScope } from '../organizations/organization-keys.ts'

/** The types of the resources that a deletion keeps. */
export const deletedTypes = ['document', 'folder', 'organization', 'branch'] as const

const restoreProblems = ['deletion/id-exists', 'deletion/no-parent', 'deletion/editor-changed'] as const

/**
 * A deletion whose data can be restored. The data is in an organization of its own, whose id no caller can name. So its
 * logs, saved versions and records have the same keys as before, and the code that reads organizations reads it.
 */
export const deletionRecordType = {
  name: 'deletion',
  schema: s.object(
    {
      deletionId: s.string,
      type: s.choice(deletedTypes),
      organizationId: s.string,
      /** Id of the deleted resource; for a branch, its editor id. */
      id: s.string,
      name: s.string,
      /** Times in epoch milliseconds. */
      deletedAt: s.number,
      expiresAt: s.number,
      /** `moving`: the deletion has not ended. `restoring`, `purging`: a job moves the data back, or deletes it. */
      state: s.choice(['moving', 'kept', 'restoring', 'purging']),
    },
    {
      /** Id of the document of a deleted branch. */
      documentId: s.string,
      /** The reason why the last restore has changed nothing, and the id of the resource that is the reason. */
      problem: s.object({ code: s.choice(restoreProblems), id: s.string }),
    },
  ),
}
export type DeletionRecord = s.TypeOf<typeof deletionRecordType.schema>

/** Returns the start of the ids of the deletions of the branches of a document. */
export const branchDeletions = ({ organizationId }: OrganizationScope, documentId: string): string =>
  createHash('sha256')
    .update(JSON.stringify([organizationId, documentId]))
    .digest('base64url')

/** First segment of the entries that record which logs were copied. */
export const copiedMark = 'copied'

/** A control character, so that no id of a caller starts with it. */
const prefix = '\u007f'

/** Returns the organization that contains the data of a deletion. */
export const deletionScope = ({ workspaceId, apiKey }: Tenant, deletionId: string): OrganizationScope => ({
  workspaceId,
  apiKey,
  organizationId: prefix + deletionId,
})

/** Returns the id of the deletion whose data an organization contains; null for an organization of callers. */
export const deletionIn = (organizationId: string): string | null =>
  organizationId.startsWith(prefix) ? organizationId.slice(prefix.length) : null

export const readDeletion = (entry: { readonly key: Key; readonly value: Uint8Array }): DeletionRecord =>
  readRecord(deletionRecordType, entry)

import type { Job } from '../../engine/engine.ts'
import type { OrganizationScope } from '../organizations/organization-keys.ts'

/** The queue of removals that have begun. */
export const removalQueue = 'removal'

/** What is marked as being deleted, and is to be removed with all that it holds. */
export type RemovalTask =
  | { readonly kind: 'organization'; readonly scope: OrganizationScope }
  | { readonly kind: 'folder'; readonly scope: OrganizationScope; readonly folderId: string }
  | {
      readonly kind: 'documents'
      readonly scope: OrganizationScope
      readonly documentIds: readonly string[]
    }

/** To be enqueued in the commit that marks what is removed; due at once. */
export const removalJob = (id: string, task: RemovalTask): Job => ({
  queue: removalQueue,
  id,
  at: 0,
  payload: Buffer.from(JSON.stringify(task)),
})

/** The task of a job that `removalJob` has made. */
export const removalTaskOf = (payload: Uint8Array): RemovalTask =>
  JSON.parse(Buffer.from(payload).toString()) as RemovalTask

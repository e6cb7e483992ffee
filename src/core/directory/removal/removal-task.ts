import * as s from '../../base/schema.ts'
import { readPayload } from '../../jobs/job-payload.ts'
import { addressSchemas } from '../../model/address-schemas.ts'
import type { Job } from '../../store/engine.ts'

/** Name of the queue of removal jobs. */
export const removalQueue = 'removal'

const scope = addressSchemas.organization

/** Identifies resources that are marked as being deleted. They must be removed with all their contents. */
export const removalTaskSchema = s.variant('kind', [
  s.object({ kind: s.literal('organization'), scope }),
  s.object({ kind: s.literal('folder'), scope, folderId: s.string }),
  s.object({ kind: s.literal('documents'), scope, documentIds: s.array(s.string) }),
])
export type RemovalTask = s.TypeOf<typeof removalTaskSchema>

/**
 * Returns the job of a removal. The job is due immediately. Enqueue it in the commit that marks the resource.
 */
export const removalJob = (id: string, task: RemovalTask): Job => ({
  queue: removalQueue,
  id,
  at: 0,
  payload: Buffer.from(JSON.stringify(task)),
})

/** Decodes the task of a job that `removalJob` has created. @throws MalformedJobError */
export const removalTaskOf = (payload: Uint8Array): RemovalTask => readPayload(removalTaskSchema, payload)

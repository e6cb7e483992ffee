import * as s from '../../base/schema.ts'
import { addressSchemas, keySchema } from '../../model/address-schemas.ts'
import type { Job } from '../../store/engine.ts'
import { Topic } from '../../store/topic.ts'
import { branchPlaceSchema } from '../branches/branch-records.ts'

/** Name of the queue of removal jobs. */
export const removalQueue = 'removal'

const scope = addressSchemas.organization

const keptSchema = s.object({ id: s.string, deletedAt: s.number, expiresAt: s.number })
/** Id and times of the deletion that keeps the data of a task. For several documents, it is the start of their ids. */
export type KeptDeletion = s.TypeOf<typeof keptSchema>
/** Absent if the data is deleted at once. */
const kept = { kept: keptSchema }

/**
 * Identifies resources that are marked as being deleted. They must be removed with all their contents. `restore` and
 * `purge` end a deletion: their scope is the organization that contains its data.
 */
export const removalTaskSchema = s.variant('kind', [
  s.object({ kind: s.literal('organization'), scope }, kept),
  s.object({ kind: s.literal('folder'), scope, folderId: s.string }, kept),
  s.object({ kind: s.literal('documents'), scope, documentIds: s.array(s.string) }, kept),
  s.object({ kind: s.literal('branch'), scope, place: branchPlaceSchema }, kept),
  s.object({ kind: s.literal('restore'), scope }),
  s.object({ kind: s.literal('purge'), scope }),
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

const messageSchema = s.variant('kind', [
  /**
   * The resource of the task is marked as being deleted. Its sessions must end. Its contents are removed
   * later.
   */
  s.object({ kind: s.literal('begun'), task: removalTaskSchema }),
  /**
   * Logs have been removed. `prefixes` are the key prefixes of the organizations or documents whose logs were
   * removed.
   */
  s.object({ kind: s.literal('gone'), prefixes: s.array(keySchema) }),
  s.object({ kind: s.literal('restored'), branch: addressSchemas.document }),
])
export type RemovalMessage = s.TypeOf<typeof messageSchema>

/** Messages that report that a removal has begun or that logs were deleted. */
export const removalTopic = new Topic('documents.removed', messageSchema)

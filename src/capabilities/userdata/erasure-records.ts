import * as s from '../../core/base/schema.ts'
import { userDigest } from '../../core/directory/organizations/erased-users.ts'
import { tenantKeys } from '../../core/directory/organizations/organization-keys.ts'
import type { UserDataScope } from '../../core/directory/user-data/user-data-source.ts'
import { readPayload } from '../../core/jobs/job-payload.ts'
import type { Job, Key } from '../../core/store/engine.ts'
import type { RecordType } from '../../core/store/stored-record.ts'

/** Queue of erasures that have been started. */
export const erasureQueue = 'erasure'

/**
 * User and scope of an erasure. The task is stored only until the erasure ends, because nothing may identify
 * the user afterwards.
 */
export interface ErasureTask {
  readonly jobId: string
  readonly place: UserDataScope
  readonly userId: string
}

/** Number of erased items of each source, by the name of the source. */
export type RemovedCounts = Readonly<Record<string, number>>

/** State of an erasure. The record does not identify the user. */
export interface ErasureRecord {
  readonly jobId: string
  readonly status: 'running' | 'done'
  readonly removed: RemovedCounts
  /** Start of the first erasure whose numbers are included in `removed`, in epoch milliseconds. */
  readonly startedAt: number
  /** End of the erasure in epoch milliseconds; null while the erasure runs. */
  readonly endedAt: number | null
  /** Id of the last organization whose data is completely erased; null if there is none. */
  readonly doneUpTo: string | null
}

export const erasureRecordType: RecordType<ErasureRecord> = {
  name: 'erasure',
  schema: s.object({
    jobId: s.string,
    status: s.choice(['running', 'done']),
    removed: s.map(s.number),
    startedAt: s.number,
    endedAt: s.orNull(s.number),
    doneUpTo: s.orNull(s.string),
  }),
}

/** Returns the key of an erasure's record in the partition of the tenant. */
export const erasureKey = ({ organizationId }: UserDataScope, userId: string): Key =>
  tenantKeys.erasure(userDigest(userId, organizationId))

/**
 * Creates the job of an erasure. The job is due immediately. Enqueue the job in the commit that writes the
 * record.
 */
export const erasureJob = (task: ErasureTask): Job => ({
  queue: erasureQueue,
  id: task.jobId,
  at: 0,
  payload: Buffer.from(JSON.stringify(task)),
})

const taskSchema = s.object({
  jobId: s.string,
  place: s.object({ workspaceId: s.string, apiKey: s.string, organizationId: s.orNull(s.string) }),
  userId: s.string,
})

/** Reads the task of a job that `erasureJob` created. @throws MalformedJobError */
export const erasureTaskOf = (payload: Uint8Array): ErasureTask => readPayload(taskSchema, payload)

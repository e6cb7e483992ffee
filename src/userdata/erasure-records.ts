import * as v from 'valibot'
import { userDigest } from '../directory/organizations/erased-users.ts'
import { tenantKeys } from '../directory/organizations/organization-keys.ts'
import type { RecordType } from '../directory/store/records.ts'
import type { Job, Key } from '../engine/engine.ts'
import { readPayload } from '../jobs/job-payload.ts'
import { addressSchemas } from '../model/address-schemas.ts'
import type { UserDataScope } from './user-data-source.ts'

/** Name of the queue of started erasures. */
export const erasureQueue = 'erasure'

/**
 * User and scope of an erasure. It is stored until the erasure ends, so that no data of the user remains
 * afterwards.
 */
export interface ErasureTask {
  readonly jobId: string
  readonly place: UserDataScope
  readonly userId: string
}

/** Number of erased items by the name of the source. */
export type RemovedCounts = Readonly<Record<string, number>>

/** State of an erasure. It does not identify the user. */
export interface ErasureRecord {
  readonly jobId: string
  readonly status: 'running' | 'done'
  readonly removed: RemovedCounts
  /** Epoch milliseconds when the first erasure started whose numbers `removed` includes. */
  readonly startedAt: number
  /** Epoch milliseconds when the erasure ended; null while it runs. */
  readonly endedAt: number | null
  /** Id of the last organization that is completely erased; null if there is none. */
  readonly doneUpTo: string | null
}

export const erasureRecordType: RecordType<ErasureRecord> = {
  name: 'erasure',
  schema: v.looseObject({
    jobId: v.string(),
    status: v.picklist(['running', 'done']),
    removed: v.record(v.string(), v.number()),
    startedAt: v.number(),
    endedAt: v.nullable(v.number()),
    doneUpTo: v.nullable(v.string()),
  }),
}

/** Returns the key of the record in the tenant's partition. */
export const erasureKey = ({ organizationId }: UserDataScope, userId: string): Key =>
  tenantKeys.erasure(userDigest(userId, organizationId))

/**
 * Creates the job of an erasure, which is due immediately. Enqueue it in the commit that writes the record.
 */
export const erasureJob = (task: ErasureTask): Job => ({
  queue: erasureQueue,
  id: task.jobId,
  at: 0,
  payload: Buffer.from(JSON.stringify(task)),
})

const taskSchema = v.looseObject({
  jobId: v.string(),
  place: v.looseObject({ ...addressSchemas.tenant.entries, organizationId: v.nullable(v.string()) }),
  userId: v.string(),
})

/** Reads the task of a job that `erasureJob` created. @throws MalformedJobError */
export const erasureTaskOf = (payload: Uint8Array): ErasureTask => readPayload(taskSchema, payload)

import * as v from 'valibot'
import { userDigest } from '../directory/organizations/erased-users.ts'
import { tenantKeys } from '../directory/organizations/organization-keys.ts'
import type { Job, Key } from '../engine/engine.ts'
import { readPayload } from '../jobs/job-payload.ts'
import { addressSchemas } from '../model/address-schemas.ts'
import type { UserDataScope } from './user-data-source.ts'

/** The queue of erasures that have begun. */
export const erasureQueue = 'erasure'

/** Whose data are to be erased, and where. Kept until that is done, and nothing of the user after it. */
export interface ErasureTask {
  readonly jobId: string
  readonly place: UserDataScope
  readonly userId: string
}

/** How often the user was taken out of something, by the names of traces. */
export type RemovedCounts = Readonly<Record<string, number>>

/** What has become of an erasure. Says nothing of whose data it is. */
export interface ErasureRecord {
  readonly jobId: string
  readonly status: 'running' | 'done'
  readonly removed: RemovedCounts
  /** Epoch milliseconds of the first of those that `removed` counts. */
  readonly startedAt: number
  /** Of the last that has ended; null while there is none. */
  readonly endedAt: number | null
  /** The last organization that is done; null: none is. */
  readonly doneUpTo: string | null
}

/** The record's key in the tenant's partition. */
export const erasureKey = ({ organizationId }: UserDataScope, userId: string): Key =>
  tenantKeys.erasure(userDigest(userId, organizationId))

/** To be enqueued in the commit that makes the record; due at once. */
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

/** The task of a job that `erasureJob` has made. @throws MalformedJobError */
export const erasureTaskOf = (payload: Uint8Array): ErasureTask => readPayload(taskSchema, payload)

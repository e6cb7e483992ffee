import { createHash, randomUUID } from 'node:crypto'
import * as v from 'valibot'
import type { Job } from '../engine/engine.ts'
import { keyName } from '../engine/key-encoding.ts'
import { readPayload } from '../jobs/job-payload.ts'
import { addressKey, type DocumentAddress } from '../model/address.ts'
import { addressSchemas } from '../model/address-schemas.ts'

/** Queue of the tasks for versions. */
export const versionQueue = 'versions'

/** Queue of the authors that must be recorded for the next version. */
export const authorQueue = 'versionAuthors'

/**
 * A task for the versions of an editor. `sweep` removes contents that no version uses; `automatic` creates a
 * version.
 */
export interface VersionTask {
  readonly is: 'sweep' | 'automatic'
  readonly address: DocumentAddress
}

const taskSchema = v.looseObject({
  is: v.picklist(['sweep', 'automatic']),
  address: addressSchemas.document,
})

/** Decodes the task of a job. @throws MalformedJobError */
export const versionTaskOf = (payload: Uint8Array): VersionTask => readPayload(taskSchema, payload)

/**
 * Creates a job that sweeps an editor. A job with `at` 0 is due immediately; it waits for the call that
 * enqueued it if that call is still running.
 * @param at epoch milliseconds
 */
export const versionSweepJob = (address: DocumentAddress, at: number): Job =>
  jobOf('sweep', address, randomUUID(), at)

/**
 * Creates the job of an automatic version. The job of a window always has the same id.
 * @param at end of the window in epoch milliseconds
 */
export const automaticJob = (address: DocumentAddress, at: number): Job =>
  jobOf('automatic', address, `${nameOf(address)}-${at}`, at)

/** Returns a digest of the address, because ids may be long and the name of a job must be short. */
const nameOf = (address: DocumentAddress): string =>
  createHash('sha256')
    .update(keyName(addressKey(address)))
    .digest('base64url')

function jobOf(is: VersionTask['is'], from: DocumentAddress, id: string, at: number): Job {
  const { workspaceId, apiKey, organizationId, documentId, editorId } = from
  const task: VersionTask = { is, address: { workspaceId, apiKey, organizationId, documentId, editorId } }
  return { queue: versionQueue, id, at, payload: Buffer.from(JSON.stringify(task)) }
}

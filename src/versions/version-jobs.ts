import { createHash, randomUUID } from 'node:crypto'
import * as v from 'valibot'
import type { Job } from '../engine/engine.ts'
import { keyName } from '../engine/key-encoding.ts'
import { readPayload } from '../jobs/job-payload.ts'
import { addressKey, type DocumentAddress } from '../model/address.ts'
import { addressSchemas } from '../model/address-schemas.ts'

/** The queue of work on versions. */
export const versionQueue = 'versions'

/** The queue of those who have edited, to be noted for the next version. */
export const authorQueue = 'versionAuthors'

/** `sweep`: remove contents that no version names; `automatic`: make a version. */
export interface VersionTask {
  readonly is: 'sweep' | 'automatic'
  readonly address: DocumentAddress
}

const taskSchema = v.looseObject({
  is: v.picklist(['sweep', 'automatic']),
  address: addressSchemas.document,
})

/** What a job of this queue was made of. @throws MalformedJobError */
export const versionTaskOf = (payload: Uint8Array): VersionTask => readPayload(taskSchema, payload)

/**
 * Due at once (0) where whoever carries it out waits for the call that enqueues it, if that is still under way.
 * @param at epoch milliseconds
 */
export const versionSweepJob = (address: DocumentAddress, at: number): Job =>
  jobOf('sweep', address, randomUUID(), at)

/** @param at epoch milliseconds: the end of a window. The same window again is the same job */
export const automaticJob = (address: DocumentAddress, at: number): Job =>
  jobOf('automatic', address, `${nameOf(address)}-${at}`, at)

/** Ids are long; the name of a job isn't. */
const nameOf = (address: DocumentAddress): string =>
  createHash('sha256')
    .update(keyName(addressKey(address)))
    .digest('base64url')

function jobOf(is: VersionTask['is'], from: DocumentAddress, id: string, at: number): Job {
  const { workspaceId, apiKey, organizationId, documentId, editorId } = from
  const task: VersionTask = { is, address: { workspaceId, apiKey, organizationId, documentId, editorId } }
  return { queue: versionQueue, id, at, payload: Buffer.from(JSON.stringify(task)) }
}

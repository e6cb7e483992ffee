import { createHash, randomUUID } from 'node:crypto'
import * as s from '../../core/base/schema.ts'
import { addressKey, type DocumentAddress } from '../../core/model/address.ts'
import { addressSchemas } from '../../core/model/address-schemas.ts'
import type { Job } from '../../core/store/engine.ts'
import { keyName } from '../../core/store/key-encoding.ts'

/** Queue of the tasks for versions. */
export const versionQueue = 'versions'

/** Queue of older versions of Weft, with authors to record. */
export const authorQueue = 'versionAuthors'

/**
 * A task for the versions of an editor. `sweep` removes the contents that no version uses. `automatic`
 * creates a version. `anchors` moves the anchors of comments after a prune. `prune` checks whether the option `autoPrune`
 * selects the editor.
 */
export const versionTaskSchema = s.object({
  is: s.choice(['sweep', 'automatic', 'anchors', 'prune']),
  address: addressSchemas.document,
})
export type VersionTask = s.TypeOf<typeof versionTaskSchema>

/**
 * Creates a job that sweeps the versions of an editor. If `at` is 0, the job is due immediately; it then
 * waits for the call that enqueued the job, if this call is still running.
 * @param at time at which the job is due, in epoch milliseconds
 */
export const versionSweepJob = (address: DocumentAddress, at: number): Job =>
  jobOf('sweep', address, randomUUID(), at)

/** Creates the job that moves the anchors of an editor. It waits for the prune that enqueued it. */
export const anchorsJob = (address: DocumentAddress): Job => jobOf('anchors', address, randomUUID(), 0)

/**
 * Creates the job of a window. All jobs of one window have the same id.
 * @param at end of the window in epoch milliseconds
 */
export const windowJob = (is: VersionTask['is'], address: DocumentAddress, at: number): Job =>
  jobOf(is, address, `${is}-${nameOf(address)}-${at}`, at)

/**
 * Returns a digest of the address. The id of a job contains the digest instead of the address, because the
 * ids in an address may be long.
 */
const nameOf = (address: DocumentAddress): string =>
  createHash('sha256')
    .update(keyName(addressKey(address)))
    .digest('base64url')

function jobOf(is: VersionTask['is'], from: DocumentAddress, id: string, at: number): Job {
  const { workspaceId, apiKey, organizationId, documentId, editorId } = from
  const task: VersionTask = { is, address: { workspaceId, apiKey, organizationId, documentId, editorId } }
  return { queue: versionQueue, id, at, payload: Buffer.from(JSON.stringify(task)) }
}

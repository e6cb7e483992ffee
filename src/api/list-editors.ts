import type { KeyCaller } from '../access/credentials/authenticator.ts'
import type { DocumentLog } from '../engine/engine.ts'
import { lastSegment } from '../engine/key-encoding.ts'
import { documentPrefix } from '../model/address.ts'

/** A document of the caller's tenant. */
export interface DocumentIds {
  readonly organizationId: string
  readonly documentId: string
}

/**
 * Returns the ids of the editors of a document that have content: at most `limit` ids, sorted by key,
 * starting after `after`.
 */
export async function listEditors(
  log: Pick<DocumentLog, 'list'>,
  { tenant }: KeyCaller,
  { organizationId, documentId }: DocumentIds,
  { limit, after }: { limit: number; after?: string },
): Promise<readonly string[]> {
  const prefix = documentPrefix({ ...tenant, organizationId }, documentId)
  const found = await log.list(prefix, { limit, ...(after !== undefined && { after: [...prefix, after] }) })
  return found.map((key) => lastSegment(key))
}

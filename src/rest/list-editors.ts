import type { TenantCaller } from '../core/access/credentials/authenticator.ts'
import { documentPrefix } from '../core/model/address.ts'
import type { DocumentLog } from '../core/store/engine.ts'
import { lastSegment } from '../core/store/key-encoding.ts'
import type { Services } from './services.ts'

/** A document of the caller's tenant. */
export interface DocumentIds {
  readonly organizationId: string
  readonly documentId: string
}

/** Number of editors in one read of `listMainEditors`. */
const pageSize = 500

/** Returns the ids of at most `limit` editors of a document that have content and are not branches, sorted by key. */
export async function listMainEditors(
  { engine, branches }: Pick<Services, 'engine' | 'branches'>,
  caller: TenantCaller,
  document: DocumentIds,
  limit: number,
): Promise<readonly string[]> {
  const scope = { ...caller.tenant, ...document }
  const found: string[] = []
  for (let after: string | undefined; ; ) {
    const from = after === undefined ? {} : { after }
    const page = await listEditors(engine.log, caller, document, { limit: pageSize, ...from })
    found.push(...(await branches.withoutBranches(scope, page)))
    if (found.length >= limit || page.length < pageSize) return found.slice(0, limit)
    after = page.at(-1)
  }
}

/**
 * Returns the ids of the editors of a document that have content: at most `limit` ids, sorted by key,
 * starting after `after`.
 */
export async function listEditors(
  log: Pick<DocumentLog, 'list'>,
  { tenant }: TenantCaller,
  { organizationId, documentId }: DocumentIds,
  { limit, after }: { limit: number; after?: string },
): Promise<readonly string[]> {
  const prefix = documentPrefix({ ...tenant, organizationId }, documentId)
  const found = await log.list(prefix, { limit, ...(after !== undefined && { after: [...prefix, after] }) })
  return found.map((key) => lastSegment(key))
}

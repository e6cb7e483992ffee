import type { TenantCaller } from '../core/access/credentials/authenticator.ts'
import { documentPrefix } from '../core/model/address.ts'
import type { DocumentLog } from '../core/store/engine.ts'
import { lastSegment } from '../core/store/key-encoding.ts'
import { documentKeyPages } from '../core/store/pages.ts'
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
  for await (const page of editorPages(engine.log, caller, document, pageSize)) {
    found.push(...(await branches.withoutBranches(scope, page)))
    if (found.length >= limit) break
  }
  return found.slice(0, limit)
}

/** Yields the ids of the editors of a document that have content, sorted by key, in pages of at most `limit`. */
export async function* editorPages(
  log: Pick<DocumentLog, 'list'>,
  { tenant }: TenantCaller,
  { organizationId, documentId }: DocumentIds,
  limit: number,
): AsyncGenerator<readonly string[], void, undefined> {
  const prefix = documentPrefix({ ...tenant, organizationId }, documentId)
  for await (const page of documentKeyPages(log, prefix, limit)) yield page.map(lastSegment)
}

import { json } from '../../../../core/base/schema.ts'
import type { DocumentView } from '../../../../core/directory/documents/document-views.ts'
import { directoryLimits } from '../../../../core/directory/limits.ts'
import type { OrganizationScope } from '../../../../core/directory/organizations/organization-keys.ts'
import { agentListing, isMissing, listForAgent, readableDocuments } from '../../../agents/list-documents.ts'
import { defineAgentOperation, type TenantContext } from '../../../operation.ts'
import {
  pageRequest,
  parseSearch,
  readPage,
  searchQuery,
  searchRequest,
} from '../../../paging/page-request.ts'
import { documentAnswer, documentRecord } from '../../../schemas/document-schema.ts'
import { documentId, folderErrors, lookupMax, organizationId } from '../../../schemas/resource-schema.ts'
import { invalidAt } from '../../../validator.ts'

const { lookedAtBySearch } = directoryLimits

export const getDocuments = defineAgentOperation({
  path: '/v2/organizations/documents/get',
  agents: { role: 'each' },
  effect: 'reads',
  audited: 'read',
  summary: 'Read documents',
  description:
    'Returns documents by id, without unknown ids; or the documents directly in a folder, or all documents, ordered by ' +
    'id, in pages. `search` selects documents whose id or name contains it. An agent gets the documents on which it has ' +
    'a role, and pages of at most 100.',
  request: json.object(
    { organizationId },
    {
      documentIds: json.list(documentId, { maxItems: lookupMax }),
      folderId: json.id(
        'Only the documents directly in it; `root`: documents without a folder. Not with `documentIds`.',
      ),
      ...searchRequest('their id or name; not with `documentIds`', lookedAtBySearch),
      ...pageRequest,
    },
  ),
  response: json.list(documentRecord),
  errors: folderErrors,
  async handler({ organizationId, documentIds, folderId, search: text, ...page }, context) {
    const { caller, services } = context
    const scope = { ...caller.tenant, organizationId }
    if (documentIds !== undefined && folderId !== undefined)
      throw invalidAt({ path: '/data/folderId', message: 'must not be given together with documentIds' })
    const search = parseSearch(text, ['documentIds', documentIds], lookedAtBySearch)
    if (documentIds !== undefined) {
      const found = await findDocuments(context, scope, [...new Set(documentIds)])
      return {
        message: 'Documents found.',
        data: found.map((document) => documentAnswer(organizationId, document)),
      }
    }
    const query = ['documents', organizationId, folderId ?? null, ...searchQuery(text)]
    const { found, token } = await readPage(context, query, page, ({ after, limit }) =>
      caller.level === 'agent'
        ? listForAgent(services, caller, scope, {
            after,
            limit: Math.min(limit, agentListing.pageSize),
            folderId,
            search,
          })
        : services.documents.list(scope, { after, limit, folderId, search }),
    )
    const data = found.items.map((document) => documentAnswer(organizationId, document))
    return { message: 'Documents found.', data, ...token }
  },
})

/** Returns the documents with these ids that exist; for an agent, those on which it has a role. */
async function findDocuments(
  { caller, services }: TenantContext,
  scope: OrganizationScope,
  documentIds: readonly string[],
): Promise<readonly DocumentView[]> {
  if (caller.level === 'key') return services.documents.get(scope, documentIds)
  const found = await services.documents.get(scope, documentIds).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw error
  })
  return readableDocuments(services, caller, scope, found)
}

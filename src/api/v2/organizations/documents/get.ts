import { directoryLimits } from '../../../../directory/limits.ts'
import { documentAnswer, documentRecord } from '../../../document-schema.ts'
import { operation } from '../../../operation.ts'
import { paging, readPage } from '../../../paging.ts'
import { documentId, folderId, lookupMax, noFolder, organizationId } from '../../../resource-schema.ts'
import { searching, searchOf, searchQuery } from '../../../searching.ts'
import { invalidAt } from '../../../validator.ts'

const { lookedAtBySearch } = directoryLimits

export const getDocuments = operation({
  path: '/v2/organizations/documents/get',
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'Read documents',
  description:
    'By id, where those that do not exist are left out; or those directly in a folder, or all of them, in the order of ' +
    'their ids, in pages; of these, with `search`, the ones in whose id or name it is.',
  request: {
    type: 'object',
    required: ['organizationId'],
    properties: {
      organizationId,
      documentIds: { type: 'array', items: documentId, maxItems: lookupMax },
      folderId: {
        ...folderId,
        description: 'Only the documents directly in it; `root`: those in none. Not with `documentIds`.',
      },
      ...searching('their id or name; not with `documentIds`', lookedAtBySearch),
      ...paging,
    },
  },
  response: { type: 'array', items: documentRecord },
  errors: [noFolder],
  async handler({ organizationId, documentIds, folderId, search: text, ...page }, context) {
    const { caller, services } = context
    const scope = { ...caller.tenant, organizationId }
    if (documentIds !== undefined && folderId !== undefined)
      throw invalidAt({ path: '/data/folderId', message: 'must not be given together with documentIds' })
    const search = searchOf(text, ['documentIds', documentIds], lookedAtBySearch)
    if (documentIds !== undefined) {
      const found = await services.documents.get(scope, [...new Set(documentIds)])
      return {
        message: 'Documents found.',
        data: found.map((document) => documentAnswer(organizationId, document)),
      }
    }
    const query = ['documents', organizationId, folderId ?? null, ...searchQuery(text)]
    const { found, token } = await readPage(context, query, page, (range) =>
      services.documents.list(scope, { ...range, folderId, search }),
    )
    const data = found.items.map((document) => documentAnswer(organizationId, document))
    return { message: 'Documents found.', data, ...token }
  },
})

import { json } from '../../../core/base/schema.ts'
import { getDocuments } from '../../../rest/v2/organizations/documents/get.ts'
import { defineTool, showAllHidden } from '../tool.ts'
import { chooseOrganization, organizationMember } from './editor-address.ts'

/** Members of the arguments of tools with pages. */
export const pageMembers = {
  pageSize: { type: 'integer', minimum: 1, maximum: 100, default: 50 },
  pageToken: json.text('`nextPageToken` of the previous page. Keep the other arguments the same.', {
    maxLength: 10_000,
  }),
} as const

export const nextPageMember = json.text('Token of the next page; absent on the last page.')

export const listDocumentsTool = defineTool({
  name: 'list_documents',
  title: 'List documents',
  description:
    'Lists the documents that you may read, ordered by id, in pages. A page may be empty: continue until there is no `nextPageToken`.',
  role: 'viewer',
  effect: 'reads',
  input: json.object(
    {},
    {
      organizationId: organizationMember,
      name: json.text('Only documents whose id or name contains this text.', {
        minLength: 1,
        maxLength: 200,
      }),
      ...pageMembers,
    },
  ),
  result: json.object({ count: json.integer() }, { nextPageToken: nextPageMember }),
  documentData: json.object({
    organizationId: json.text(),
    documents: json.list(
      json.object({ documentId: json.text(), name: json.text() }, { lastUpdated: json.text('ISO 8601.') }),
    ),
  }),
  async handler({ organizationId: given, name, pageSize = 50, pageToken }, context) {
    const organizationId = chooseOrganization(given, context)
    const sent = { organizationId, search: name, pageSize, pageToken }
    const { data, pageToken: next } = await context.api.call(getDocuments, sent)
    const documents = data.map(({ id, documentName, lastUpdated }) => ({
      documentId: id,
      name: showAllHidden(documentName) as string,
      ...(lastUpdated !== undefined && { lastUpdated: new Date(lastUpdated).toISOString() }),
    }))
    return {
      result: { count: documents.length, ...(next !== null && { nextPageToken: next }) },
      documentData: { organizationId, documents },
    }
  },
})

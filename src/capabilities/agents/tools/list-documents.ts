import { getDocuments } from '../../../rest/v2/organizations/documents/get.ts'
import { showAllHidden } from '../document-data.ts'
import { defineTool } from '../tool.ts'
import { chooseOrganization, organizationMember } from './editor-address.ts'

/** Members of the arguments of tools with pages. */
export const pageMembers = {
  pageSize: { type: 'integer', minimum: 1, maximum: 100, default: 50 },
  pageToken: {
    type: 'string',
    maxLength: 10_000,
    description: '`nextPageToken` of the previous page. Keep the other arguments the same.',
  },
} as const

export const nextPageMember = {
  type: 'string',
  description: 'Token of the next page; absent on the last page.',
} as const

export const listDocumentsTool = defineTool({
  name: 'list_documents',
  title: 'List documents',
  description:
    'Lists the documents that you may read, ordered by id, in pages. A page may be empty: continue until there is no `nextPageToken`.',
  role: 'viewer',
  effect: 'reads',
  input: {
    type: 'object',
    properties: {
      organizationId: organizationMember,
      name: {
        type: 'string',
        minLength: 1,
        maxLength: 200,
        description: 'Only documents whose id or name contains this text.',
      },
      ...pageMembers,
    },
  },
  result: {
    type: 'object',
    required: ['count'],
    properties: { count: { type: 'integer' }, nextPageToken: nextPageMember },
  },
  documentData: {
    type: 'object',
    required: ['organizationId', 'documents'],
    properties: {
      organizationId: { type: 'string' },
      documents: {
        type: 'array',
        items: {
          type: 'object',
          required: ['documentId', 'name'],
          properties: {
            documentId: { type: 'string' },
            name: { type: 'string' },
            lastUpdated: { type: 'string', description: 'ISO 8601.' },
          },
        },
      },
    },
  },
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

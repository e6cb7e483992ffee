import type { FromSchema } from '../../core/base/schema.ts'
import type { DocumentView } from '../../core/directory/documents/document-views.ts'
import { keepsOthers, openMembers, othersOf } from '../open-members.ts'
import {
  accessType,
  batchMax,
  createdAt,
  documentId,
  folderId,
  lastUpdated,
  metadata,
  organizationId,
  resourceName,
} from './resource-schema.ts'

const documentName = { ...resourceName, description: 'Name of the document.' } as const

export const documentIdsSchema = {
  type: 'array',
  items: documentId,
  maxItems: batchMax,
  examples: [['report']],
} as const

/** Names of members of a document that only responses have. */
const documentReserved = ['id', 'organizationId', 'createdAt', 'lastUpdated'] as const

/** Members of a new document. */
const documentToAdd = {
  type: 'object',
  required: ['documentId'],
  properties: {
    documentId,
    documentName,
    folderId: { ...folderId, description: 'The folder that it is in; `root`: in none.' },
    accessType,
    metadata,
  },
  ...openMembers(...documentReserved, 'disabled'),
  description: keepsOthers,
} as const

export const documentsToAdd = {
  type: 'array',
  maxItems: batchMax,
  items: documentToAdd,
  examples: [[{ documentId: 'report', documentName: 'Annual report' }]],
} as const

export const documentsToUpdate = {
  ...documentsToAdd,
  items: {
    ...documentToAdd,
    properties: {
      ...documentToAdd.properties,
      disabled: { type: 'boolean', description: 'True: no user may open or change the document.' },
    },
    ...openMembers(...documentReserved),
  },
} as const

/** Returns documents of a request with their unlisted members in `others`. */
export const toDocumentInputs = <Document extends object>(documents: readonly Document[]) =>
  documents.map((document) => ({ ...document, others: othersOf(documentsToUpdate.items, document) }))

/** Response members of a document in version 1. */
export const documentRecordV1 = {
  type: 'object',
  required: ['id', 'documentName', 'disabled', 'accessType'],
  properties: {
    id: { type: 'string', description: 'Id of the document.' },
    documentName: { type: 'string', description: "'' if not given." },
    disabled: { type: 'boolean' },
    accessType: {
      ...accessType,
      description: 'Effective access type: its own, else that of its folder, else `public`.',
    },
  },
  additionalProperties: {},
} as const

export const documentRecord = {
  type: 'object',
  required: [
    ...documentRecordV1.required,
    'organizationId',
    'folderId',
    'metadata',
    'createdAt',
    'lastUpdated',
  ],
  properties: {
    ...documentRecordV1.properties,
    organizationId,
    folderId: { ...folderId, description: 'The folder that it is in; `root`: in none.' },
    metadata,
    createdAt,
    lastUpdated,
  },
  additionalProperties: {},
} as const

export const documentAnswerV1 = ({
  record,
  accessType: inEffect,
}: DocumentView): FromSchema<typeof documentRecordV1> => ({
  ...record.others,
  id: record.documentId,
  documentName: record.documentName,
  disabled: record.disabled,
  accessType: inEffect,
})

/** Returns a document as a response contains it. Lists each listed member, because a spread takes much longer. */
export const documentAnswer = (
  organizationId: string,
  { record, accessType: inEffect }: DocumentView,
): FromSchema<typeof documentRecord> => ({
  ...record.others,
  id: record.documentId,
  documentName: record.documentName,
  disabled: record.disabled,
  accessType: inEffect,
  organizationId,
  folderId: record.folderId,
  metadata: record.metadata,
  createdAt: record.createdAt,
  lastUpdated: record.lastUpdated,
})

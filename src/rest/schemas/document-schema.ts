import { type FromSchema, json } from '../../core/base/schema.ts'
import type { DocumentView } from '../../core/directory/documents/document-views.ts'
import { keepsOthers, openMembers, othersOf } from '../open-members.ts'
import {
  accessType,
  batchMax,
  createdAt,
  documentId,
  lastUpdated,
  metadata,
  organizationId,
  resourceName,
} from './resource-schema.ts'

const documentName = { ...resourceName, description: 'Name of the document.' } as const

export const documentIdsSchema = json.list(documentId, { maxItems: batchMax, examples: [['report']] })

/** Names of members of a document that only responses have. */
const documentReserved = ['id', 'organizationId', 'createdAt', 'lastUpdated'] as const

/** Members of a new document. */
const documentToAdd = json.object(
  { documentId },
  {
    documentName,
    folderId: json.id('The folder that it is in; `root`: in none.'),
    accessType,
    metadata,
  },
  { ...openMembers(...documentReserved, 'disabled'), description: keepsOthers },
)

export const documentsToAdd = json.list(documentToAdd, {
  maxItems: batchMax,
  examples: [[{ documentId: 'report', documentName: 'Annual report' }]],
})

export const documentsToUpdate = {
  ...documentsToAdd,
  items: {
    ...documentToAdd,
    properties: {
      ...documentToAdd.properties,
      disabled: json.boolean('True: no user may open or change the document.'),
    },
    ...openMembers(...documentReserved),
  },
} as const

/** Returns documents of a request with their unlisted members in `others`. */
export const toDocumentInputs = <Document extends object>(documents: readonly Document[]) =>
  documents.map((document) => ({ ...document, others: othersOf(documentsToUpdate.items, document) }))

/** Response members of a document in version 1. */
export const documentRecordV1 = json.object(
  {
    id: json.text('Id of the document.'),
    documentName: json.text("'' if not given."),
    disabled: json.boolean(),
    accessType: {
      ...accessType,
      description: 'Effective access type: its own, else that of its folder, else `public`.',
    },
  },
  {},
  { additionalProperties: {} },
)

export const documentRecord = json.object(
  {
    ...documentRecordV1.properties,
    organizationId,
    folderId: json.id('The folder that it is in; `root`: in none.'),
    metadata,
    createdAt,
    lastUpdated,
  },
  {},
  { additionalProperties: {} },
)

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

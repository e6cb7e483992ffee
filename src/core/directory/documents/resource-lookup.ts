import { ApiError } from '../../base/errors.ts'
import type { Key } from '../../store/engine.ts'
import { checkedRecord } from '../../store/stored-record.ts'
import {
  keys,
  type OrganizationScope,
  type Resource,
  rootFolderId,
} from '../organizations/organization-keys.ts'
import {
  findOrganization,
  type OrganizationStore,
  organizationOf,
} from '../organizations/organization-store.ts'
import type { DirectoryReader } from '../store/directory-reader.ts'
import {
  type DocumentRecord,
  documentRecordType,
  type OrganizationRecord,
  organizationRecordType,
} from '../store/records.ts'
import { folderPath } from './folder-tree.ts'

/**
 * Returns the resources that do not exist in the organization of the reader. A resource in a folder that is
 * being deleted counts as missing.
 */
export async function findMissing(
  reader: DirectoryReader,
  resources: readonly Resource[],
): Promise<readonly Resource[]> {
  if ((await findOrganization(reader)) === null) return resources
  const inside = resources.filter(({ type }) => type !== 'organization')
  const records = await reader.getAll(inside.map(recordKey))
  const missing: Resource[] = []
  for (const [index, resource] of inside.entries()) {
    const folderId = folderOf(resource, records[index] ?? null)
    const isThere =
      folderId === rootFolderId || (folderId !== null && (await folderPath(reader, folderId)) !== null)
    if (!isThere) missing.push(resource)
  }
  return missing
}

const recordKey = ({ type, id }: Resource): Key => (type === 'folder' ? keys.folder(id) : keys.document(id))

/**
 * Returns the folder in which a document is, or the folder itself. Returns null if the resource does not exist. `root`
 * has no record, so it counts as missing.
 */
function folderOf({ type, id }: Resource, record: object | null): string | null {
  if (type === 'folder') return id === rootFolderId ? null : id
  const document = record && checkedRecord(documentRecordType, keys.document(id), record)
  return document === null || document.deleting === true ? null : document.folderId
}

/** Calls that add a resource, for errors about a missing one. */
export const addingCalls: Readonly<Record<Resource['type'], string>> = {
  organization: '/v2/organizations/add',
  folder: '/v1/organizations/folders/add',
  document: '/v2/organizations/documents/add',
}

const notFound = ({ type, id }: Resource): ApiError =>
  new ApiError(
    `${type}/not-found`,
    `the ${type} does not exist: ${JSON.stringify(id)}; add it with ${addingCalls[type]}`,
  )

/** Checks that the organization exists and contains the resource. @throws ApiError NOT_FOUND */
export async function requireResource(reader: DirectoryReader, resource: Resource): Promise<void> {
  await organizationOf(reader)
  await requireExisting(reader, resource)
}

/**
 * Like `requireResource`, but if the organization does not exist, the error contains the name of the resource
 * instead of the name of the organization.
 */
export async function requireExisting(reader: DirectoryReader, resource: Resource): Promise<void> {
  const [missing] = await findMissing(reader, [resource])
  if (missing !== undefined) throw notFound(missing)
}

/**
 * Maximum number of attempts to read a document. If the folder of the document is missing, either the
 * document is being removed, or it was moved during the read. Another attempt distinguishes the two cases.
 */
export const existenceAttemptsMax = 3

/**
 * Result of the question whether a document exists. A document may exist without records, because its content
 * may be written before its records.
 */
type DocumentExistence =
  | {
      readonly state: 'there'
      readonly organization: OrganizationRecord | null
      readonly document: DocumentRecord | null
    }
  /** The document, an ancestor folder or the organization is being deleted. */
  | { readonly state: 'going' }

/** Returns whether a document exists. This takes one read, plus one read for each ancestor folder. */
export async function readExistence(
  store: OrganizationStore,
  scope: OrganizationScope,
  documentId: string,
): Promise<DocumentExistence> {
  for (let attempt = 0; attempt < existenceAttemptsMax; attempt++) {
    const found = await existenceIn(store.read(scope), documentId)
    if (found !== null) return found
  }
  return { state: 'going' }
}

/** Like `readExistence`, but with the records of one reader. Returns null if the folder of the document is missing. */
export async function existenceIn(
  reader: DirectoryReader,
  documentId: string,
): Promise<DocumentExistence | null> {
  const both = [keys.organization, keys.document(documentId)] as const
  const [first = null, second = null] = await reader.getAll(both)
  const organization = first && checkedRecord(organizationRecordType, both[0], first)
  const document = second && checkedRecord(documentRecordType, both[1], second)
  if (organization?.deleting === true || document?.deleting === true) return { state: 'going' }
  const folderId = document?.folderId ?? rootFolderId
  if (folderId !== rootFolderId && (await folderPath(reader, folderId)) === null) return null
  return { state: 'there', organization, document }
}

import type { Key } from '../engine/engine.ts'
import { ApiError } from '../errors.ts'
import { folderPath } from './folder-tree.ts'
import { keys, type Resource, rootFolderId } from './organization-keys.ts'
import { findOrganization, organizationOf } from './organization-store.ts'
import type { Reader } from './reader.ts'
import type { DocumentRecord, FolderRecord } from './records.ts'

/** Which of `resources` are not in the organization of the transaction; what is in a folder that is going is not. */
export async function missingOf(
  reader: Reader,
  resources: readonly Resource[],
): Promise<readonly Resource[]> {
  if ((await findOrganization(reader)) === null) return resources
  const inside = resources.filter(({ type }) => type !== 'organization')
  await reader.getAll(inside.map(recordKey))
  const missing: Resource[] = []
  for (const resource of inside) if ((await pathTo(reader, resource)) === null) missing.push(resource)
  return missing
}

const recordKey = ({ type, id }: Resource): Key => (type === 'folder' ? keys.folder(id) : keys.document(id))

/** The folders from a folder or document upwards; null when it does not exist. There is no record of `root`. */
export async function pathTo(
  reader: Reader,
  { type, id }: Resource,
): Promise<readonly FolderRecord[] | null> {
  if (type === 'folder') return id === rootFolderId ? null : folderPath(reader, id)
  const document = await reader.get<DocumentRecord>(keys.document(id))
  return document === null || document.deleting === true ? null : folderPath(reader, document.folderId)
}

/** @throws ApiError NOT_FOUND when the organization does not exist, or the resource in it */
export async function checkResource(reader: Reader, resource: Resource): Promise<void> {
  await organizationOf(reader)
  const [missing] = await missingOf(reader, [resource])
  if (missing !== undefined) throw new ApiError('NOT_FOUND', `the ${missing.type} does not exist`)
}

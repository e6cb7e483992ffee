import { firstIndex } from '../../../core/base/search.ts'
import { branchKeys } from '../../../core/directory/branches/branch-records.ts'
import {
  keys,
  type OrganizationScope,
  organizationPart,
} from '../../../core/directory/organizations/organization-keys.ts'
import { apiKeyOwnerType } from '../../../core/directory/store/records.ts'
import { workspaceKeys, workspacesPart } from '../../../core/directory/tenants/workspace-keys.ts'
import { documentPrefix, organizationPrefix, type Tenant } from '../../../core/model/address.ts'
import type { Key } from '../../../core/store/engine.ts'
import { type ByteRange, lastSegment } from '../../../core/store/key-encoding.ts'
import { readRecord } from '../../../core/store/stored-record.ts'
import type { StoredEntry, StoredSelection } from '../../../core/store/stored-selection.ts'
import type { BackupPart } from '../../backups/storage/backup-file.ts'
import { loadMaintenance } from '../../backups/storage/offline-store.ts'
import { requireFormat } from '../../backups/storage/restore.ts'
import { StorageError } from '../../backups/storage/storage-error.ts'
import { commentKeys } from '../../comments/comment-keys.ts'
import { judgmentKeys, memoryPart } from '../../decisions/judgment-keys.ts'
import { blobKeys, versionKeys } from '../../history/version-keys.ts'

/** The documents of a backup that are restored into a running server. */
export type RestoreSelection =
  | { readonly type: 'document'; readonly organizationId: string; readonly documentId: string }
  /** The documents in a folder and in all folders below it. */
  | { readonly type: 'folder'; readonly organizationId: string; readonly folderId: string }
  | { readonly type: 'organization'; readonly organizationId: string }

/** Reads the parts of a backup. Pairs outside of the ranges may be missing. */
export type ReadBackup = (ranges: readonly ByteRange[]) => AsyncIterable<BackupPart>

/** Documents of a folder whose logs are read one by one. For more, the logs of the organization are read. */
const documentsMax = 500

/** Kinds of records of an organization that a restore needs for each document of the organization. */
const organizationWide: readonly Key[] = [
  keys.organization,
  keys.folders,
  keys.folderTree,
  keys.grantsOn({ type: 'folder', id: '' }),
  keys.grantsOn({ type: 'organization', id: '' }),
  // Annotations are stored by their ids, without the id of the document.
  commentKeys.annotation(''),
  commentKeys.thread(''),
  commentKeys.comments(''),
].map((key) => key.filter((segment) => segment !== ''))

/** The organization of a selection in the backup, and the ranges of keys that the restore of the selection needs. */
interface NeededRanges {
  readonly scope: OrganizationScope
  readonly ranges: readonly ByteRange[]
}

/**
 * Returns the ranges of the keys that a restore of a selection needs: the records of its documents and of the folders
 * and the organization, the logs, and the contents of versions.
 * @throws StorageError if the backup does not have the API key; the errors of the backup
 */
export async function neededRanges(
  read: ReadBackup,
  apiKey: string,
  selection: RestoreSelection,
): Promise<NeededRanges> {
  const { organizationId } = selection
  const scope = { ...(await findTenant(read, apiKey)), organizationId }
  const selected = await selectedIds(read, scope, selection)
  const part = organizationPart(scope)
  const ofDocuments =
    selected === null
      ? {
          logs: [organizationPrefix(scope)],
          blobs: [blobKeys.ofOrganization(scope)],
          values: [{ part, prefix: [] }],
        }
      : {
          logs: selected.documentIds.map((id) => documentPrefix(scope, id)),
          blobs: selected.documentIds.map((id) => blobKeys.ofDocument(scope, id)),
          values: [
            ...organizationWide,
            ...selected.folderIds.map(keys.documentsIn),
            ...selected.documentIds.flatMap(recordPrefixes),
          ].map((prefix) => ({ part, prefix })),
        }
  const shared = [{ part: workspacesPart, prefix: workspaceKeys.ownerOfApiKey(apiKey) }]
  const decisions = (selected?.documentIds ?? [null]).map((documentId) => ({
    part: memoryPart(scope),
    prefix: judgmentKeys.within({ organizationId, documentId }),
  }))
  const { selectedRanges } = await loadMaintenance()
  const values = [...shared, ...decisions, ...ofDocuments.values]
  return { scope, ranges: selectedRanges({ ...ofDocuments, values }) }
}

/** Prefixes of the keys of the records of one document. */
const recordPrefixes = (documentId: string): readonly Key[] => [
  keys.document(documentId),
  keys.editorSchemas(documentId),
  keys.grantsOn({ type: 'document', id: documentId }),
  versionKeys.allOf(documentId),
  branchKeys.ofDocument(documentId),
  commentKeys.list({ kind: 'document', documentId }),
]

/** @throws StorageError if the backup does not have the API key */
async function findTenant(read: ReadBackup, apiKey: string): Promise<Tenant> {
  const prefix = workspaceKeys.ownerOfApiKey(apiKey)
  const selection = { logs: [], blobs: [], values: [{ part: workspacesPart, prefix }] }
  for await (const entry of valuesOf(read, selection))
    return { apiKey, workspaceId: readRecord(apiKeyOwnerType, entry).workspaceId }
  throw new StorageError(`the backup does not have the API key ${JSON.stringify(apiKey)}`, {
    hint: 'use a backup of this server that was made after the key was created, or name the key with --from-api-key',
  })
}

/** Returns the ids of the selected folders and documents; null if these are all of the organization, or too many. */
async function selectedIds(
  read: ReadBackup,
  scope: OrganizationScope,
  selection: RestoreSelection,
): Promise<{ readonly folderIds: readonly string[]; readonly documentIds: readonly string[] } | null> {
  if (selection.type === 'organization') return null
  if (selection.type === 'document') return { folderIds: [], documentIds: [selection.documentId] }
  const part = organizationPart(scope)
  const subfolders = new Map<string, string[]>()
  for await (const { key } of valuesOf(read, { values: [{ part, prefix: keys.folderTree }] })) {
    const [, parent = ''] = key
    subfolders.set(parent, [...(subfolders.get(parent) ?? []), lastSegment(key)])
  }
  const folderIds = [selection.folderId]
  for (const folderId of folderIds) folderIds.push(...(subfolders.get(folderId) ?? []))
  const values = folderIds.map((folderId) => ({ part, prefix: keys.documentsIn(folderId) }))
  const documentIds: string[] = []
  for await (const { key } of valuesOf(read, { values })) {
    if (documentIds.push(lastSegment(key)) > documentsMax) return null
  }
  return { folderIds, documentIds }
}

/** Yields the values of a selection. */
async function* valuesOf(
  read: ReadBackup,
  selection: Pick<StoredSelection, 'values'>,
): AsyncGenerator<StoredEntry> {
  const { selectedRanges, storedEntry } = await loadMaintenance()
  const ranges = selectedRanges({ logs: [], blobs: [], ...selection })
  const isWanted = rangeFilter(ranges)
  for await (const part of read(ranges)) {
    if (part.kind === 'header') await requireFormat(part.header)
    if (part.kind !== 'pairs') continue
    for (const [key, value] of part.pairs) {
      const entry = isWanted(key) ? storedEntry(key, value) : null
      if (entry !== null) yield entry
    }
  }
}

/** Returns a function that returns whether a key is in one of the ranges, which must not overlap. */
export function rangeFilter(ranges: readonly ByteRange[]): (key: Uint8Array) => boolean {
  const sorted = ranges.toSorted((one, two) => Buffer.compare(one.gte, two.gte))
  return (key) => {
    const isAfter = (index: number): boolean => Buffer.compare((sorted[index] as ByteRange).gte, key) > 0
    const found = sorted[firstIndex(sorted.length, isAfter) - 1]
    return found !== undefined && Buffer.compare(key, found.lt) < 0
  }
}

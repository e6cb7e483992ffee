import type { PairOwner } from '../../storage/offline-store.ts'

/** The documents of a backup that are restored into a running server. */
export type RestoreSelection =
  | { readonly type: 'document'; readonly organizationId: string; readonly documentId: string }
  /** The documents in a folder and in all folders below it. */
  | { readonly type: 'folder'; readonly organizationId: string; readonly folderId: string }
  | { readonly type: 'organization'; readonly organizationId: string }

/** First segment of the keys of the partitions that name the API keys and the organizations. */
const sharedParts = ['directory', 'tenant']

/**
 * Returns whether a restore of a selection needs a stored pair: the logs of its documents, the records of its
 * organization, and the API keys.
 * @param apiKey the API key that owns the documents
 */
export function isNeeded(
  { document, partition, isMeta }: PairOwner,
  apiKey: string,
  selection: RestoreSelection,
): boolean {
  const { organizationId } = selection
  if (document !== null) {
    const [, ofKey, ofOrganization, ofDocument] = document
    if (ofKey !== apiKey || ofOrganization !== organizationId) return false
    return selection.type !== 'document' || ofDocument === selection.documentId
  }
  if (partition === null) return isMeta
  const [type = '', , ofKey, ofOrganization] = partition
  return sharedParts.includes(type) || (ofKey === apiKey && ofOrganization === organizationId)
}

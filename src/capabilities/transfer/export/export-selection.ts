import {
  organizationPart,
  tenantKeys,
  tenantPart,
} from '../../../core/directory/organizations/organization-keys.ts'
import { schemaKeys, tenantOfSchemas } from '../../../core/directory/schemas/schema-service.ts'
import { clusterPart } from '../../../core/directory/tenants/cluster-credentials.ts'
import { workspacesPart } from '../../../core/directory/tenants/workspace-keys.ts'
import { isLeaseJob } from '../../../core/store/queue-lease-store.ts'
import type { StoredEntry } from '../../../core/store/stored-entry.ts'
import { isObjectPart, objectQueue } from '../../backups/objects/object-index.ts'
import { feedSweepQueue, isFeedPart } from '../../feed/feed-records.ts'

/** Partition that records the jobs that imports have enqueued. Exports do not contain this partition. */
export const importPart = ['import']

/** Selects the data of an export: all organizations or one, and all data or only documents. */
export interface ExportSelection {
  readonly holds: 'all' | 'documents'
  readonly organizationId: string | null
}

/** Queues whose jobs are about this store only. */
const storeQueues: readonly string[] = [feedSweepQueue, objectQueue]

const [organizations] = organizationPart({ workspaceId: '', apiKey: '', organizationId: '' })
const [tenants] = tenantPart({ workspaceId: '', apiKey: '' })
const [organizationsOfTenant] = tenantKeys.organizations

/**
 * Returns whether an entry of the store belongs to the export. An export of one organization contains the
 * partition of the organization, its documents with their versions, and its entry in the tenant. The export
 * also contains all workspaces and API keys, because users could not reach the organization without them. It
 * contains no other data of an API key, except its schemas, on which writes of documents depend. The caller must
 * leave out the schemas of API keys that do not have the organization.
 */
export function isSelected(entry: StoredEntry, { holds, organizationId }: ExportSelection): boolean {
  if (holds === 'documents' && entry.is !== 'document') return false
  // Excludes data that is only valid in the store that is exported.
  if (entry.is === 'value' && (entry.part[0] === importPart[0] || entry.part[0] === clusterPart[0]))
    return false
  // Cursors of a change feed must not be valid in the other store, which gets other changes.
  if (entry.is === 'value' && isFeedPart(entry.part)) return false
  // The export has the contents of the objects.
  if (entry.is === 'value' && isObjectPart(entry.part)) return false
  if (entry.is === 'job' && (isLeaseJob(entry) || storeQueues.includes(entry.queue))) return false
  // An import counts the schemas, because the store may have others.
  if (entry.is === 'value' && tenantOfSchemas(entry.part) !== null)
    return entry.key[0] !== schemaKeys.count[0]
  if (organizationId === null) return true
  if (entry.is === 'document') return entry.key[2] === organizationId
  if (entry.is === 'blob') return entry.key[3] === organizationId
  if (entry.is === 'value') return isValueOf(entry, organizationId)
  return Buffer.from(entry.payload).includes(`"organizationId":${JSON.stringify(organizationId)}`)
}

function isValueOf({ part, key }: Extract<StoredEntry, { is: 'value' }>, organizationId: string): boolean {
  if (part[0] === organizations) return part[3] === organizationId
  if (part[0] === tenants) return key[0] === organizationsOfTenant && key[1] === organizationId
  return part.length === workspacesPart.length && part[0] === workspacesPart[0]
}

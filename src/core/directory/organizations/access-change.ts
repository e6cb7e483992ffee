import * as s from '../../base/schema.ts'
import { matchesSchema } from '../../base/validation.ts'
import type { Tenant } from '../../model/address.ts'
import { addressSchemas } from '../../model/address-schemas.ts'
import type { Key } from '../../store/engine.ts'
import { Topic } from '../../store/topic.ts'
import { type DocumentRecord, documentRecordType } from '../store/records.ts'
import type { Mutation } from '../store/transaction.ts'
import { type OrganizationScope, rootFolderId } from './organization-keys.ts'

/** Describes which rights in an organization may have changed. */
const changeSchema = s.object({
  scope: addressSchemas.organization,
  /**
   * Documents whose own records have changed. The rights of all users on these documents may have changed.
   */
  documents: s.array(s.string),
  /** Users whose rights may have changed on any resource. */
  users: s.array(s.string),
  /** If true, the rights of all users on everything may have changed. */
  all: s.boolean,
})
export type AccessChange = s.TypeOf<typeof changeSchema>

/** Messages about changes that may affect the rights of users. */
export const accessTopic = new Topic('access', changeSchema)

/**
 * Returns the access change that a commit in an organization causes; null if there is none. Does not report
 * the removal of a document, because the removal itself closes the sessions, with its own reason.
 */
export function accessChangeOf(scope: OrganizationScope, written: readonly Mutation[]): AccessChange | null {
  const documents = new Set<string>()
  const users = new Set<string>()
  let all = false
  for (const mutation of written) {
    const { key, isNew, isGoing } = mutation
    if (isGoing) continue
    const [kind, first = '', second = '', third, fourth = ''] = key
    // This includes new documents with restrictions: a client that is connecting may have read earlier that
    // the document has no record, and therefore no restrictions.
    if (kind === 'documents') {
      if (!keepsAccess(mutation)) documents.add(first)
      // A client with an older schema is a viewer.
    } else if (kind === 'branches' || kind === 'editorSchemas') documents.add(first)
    else if (kind === 'members') users.add(second)
    else if (kind === 'grants' && third === 'user') users.add(fourth)
    else if (kind === 'grants' || ((kind === 'folders' || kind === 'organization') && !isNew)) all = true
  }
  if (!all && documents.size === 0 && users.size === 0) return null
  return { scope, documents: [...documents], users: [...users], all }
}

const accessFence = ({ workspaceId, apiKey, organizationId }: OrganizationScope, ...names: string[]): Key => [
  'access',
  workspaceId,
  apiKey,
  organizationId,
  ...names,
]

/**
 * Returns the fences of the records that decide whether a document may be changed at all, independent of the
 * user.
 */
export const documentFences = (scope: OrganizationScope, documentId: string): readonly Key[] => [
  accessFence(scope),
  accessFence(scope, 'document', documentId),
]

/**
 * Returns the fence of all records that decide the rights of a user in an organization, except the records of
 * the document itself.
 */
export const userFence = (scope: OrganizationScope, userId: string): Key => accessFence(scope, 'user', userId)

/** Returns the fence of the realtime tokens of a user. */
export const tokensFence = ({ workspaceId, apiKey }: Tenant, userId: string): Key => [
  'tokens',
  workspaceId,
  apiKey,
  userId,
]

/** Returns the fence of the auth tokens of an API key. */
export const authTokensFence = ({ workspaceId, apiKey }: Tenant): Key => ['authTokens', workspaceId, apiKey]

/** Returns the fence of the list of domains whose pages may use an API key. */
export const domainsFence = ({ workspaceId, apiKey }: Tenant): Key => ['domains', workspaceId, apiKey]

/** Returns the fences that a commit in an organization must raise because it changes access. */
export function raisedBy(scope: OrganizationScope, written: readonly Mutation[]): readonly Key[] {
  return written.flatMap((change) => {
    const {
      key: [kind, first = '', second = '', third, fourth = ''],
      isNew,
    } = change
    if (kind === 'documents')
      return isNew && isOrdinary(change.record) ? [] : [accessFence(scope, 'document', first)]
    // A merged or rejected branch is read-only, and so is an editor to clients with an older schema.
    if (kind === 'branches' || kind === 'editorSchemas')
      return isNew ? [] : [accessFence(scope, 'document', first)]
    if (kind === 'members') return [userFence(scope, second)]
    if (kind === 'grants' && third === 'user') return [userFence(scope, fourth)]
    const isOfAll = kind === 'grants' || ((kind === 'folders' || kind === 'organization') && !isNew)
    return isOfAll ? [accessFence(scope)] : []
  })
}

/**
 * Returns whether a record neither grants nor restricts rights. Such a record has the same effect as a
 * missing record: the document is public.
 */
function isOrdinary(record: object | null): boolean {
  if (!isInRoot(record)) return false
  return record.accessType === null || record.accessType === 'public'
}

/**
 * Returns whether a commit creates a document with exactly the rights that it had without a record. A new
 * document in no folder inherits its access type only if missing documents have the same one.
 */
const keepsAccess = ({ isNew, record }: Mutation): boolean =>
  isNew && isInRoot(record) && record.accessType === null

/** Returns whether a record describes an enabled document in no folder. */
function isInRoot(record: object | null): record is DocumentRecord {
  if (!matchesSchema(documentRecordType.schema, record)) return false
  return record.folderId === rootFolderId && !record.disabled && !record.deleting
}

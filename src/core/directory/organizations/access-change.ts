import { readJson } from '../../base/json.ts'
import * as s from '../../base/schema.ts'
import { addressSchemas } from '../../model/address-schemas.ts'
import type { Mutation } from '../store/transaction.ts'
import { keepsAccess } from './fence-names.ts'
import type { OrganizationScope } from './organization-keys.ts'

/** Topic of messages about changes that may affect the rights of users. */
export const accessTopic = 'access'

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
    } else if (kind === 'branches') documents.add(first)
    else if (kind === 'members') users.add(second)
    else if (kind === 'grants' && third === 'user') users.add(fourth)
    else if (kind === 'grants' || ((kind === 'folders' || kind === 'organization') && !isNew)) all = true
  }
  if (!all && documents.size === 0 && users.size === 0) return null
  return { scope, documents: [...documents], users: [...users], all }
}

export const encodeAccessChange = (change: AccessChange): Uint8Array => Buffer.from(JSON.stringify(change))

/** Decodes a message that `encodeAccessChange` has encoded. @throws MalformedJsonError */
export const decodeAccessChange = (message: Uint8Array): AccessChange => readJson(changeSchema, message)

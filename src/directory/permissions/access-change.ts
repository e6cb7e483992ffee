import * as v from 'valibot'
import { readJson } from '../../json.ts'
import { addressSchemas } from '../../model/address-schemas.ts'
import type { OrganizationScope } from '../organizations/organization-keys.ts'
import type { Mutation } from '../store/transaction.ts'

/** Topic of changes that may affect the rights of users. */
export const accessTopic = 'access'

/** A possible change of access in an organization. */
export interface AccessChange {
  readonly scope: OrganizationScope
  /** Documents whose own records changed: the rights of all users on them may have changed. */
  readonly documents: readonly string[]
  /** Users whose rights changed on any resource. */
  readonly users: readonly string[]
  /** If true, the rights of all users on everything may have changed. */
  readonly all: boolean
}

/**
 * Returns the access change of a commit in an organization; null if there is none. Does not report the
 * removal of a document: that ends its sessions with its own reason.
 */
export function accessChangeOf(scope: OrganizationScope, written: readonly Mutation[]): AccessChange | null {
  const documents = new Set<string>()
  const users = new Set<string>()
  let all = false
  for (const { key, isNew, isGoing } of written) {
    if (isGoing) continue
    const [kind, first = '', second = '', third, fourth = ''] = key
    // New documents count too: a connecting client may have read before that the document has no record, and
    // so no restrictions.
    if (kind === 'documents') documents.add(first)
    else if (kind === 'members') users.add(second)
    else if (kind === 'grants' && third === 'user') users.add(fourth)
    else if (kind === 'grants' || ((kind === 'folders' || kind === 'organization') && !isNew)) all = true
  }
  if (!all && documents.size === 0 && users.size === 0) return null
  return { scope, documents: [...documents], users: [...users], all }
}

export const encodeAccessChange = (change: AccessChange): Uint8Array => Buffer.from(JSON.stringify(change))

const changeSchema = v.looseObject({
  scope: addressSchemas.organization,
  documents: v.array(v.string()),
  users: v.array(v.string()),
  all: v.boolean(),
})

/** Decodes a message of `encodeAccessChange`. @throws MalformedJsonError */
export const decodeAccessChange = (message: Uint8Array): AccessChange => readJson(changeSchema, message)

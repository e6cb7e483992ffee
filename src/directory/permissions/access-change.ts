import * as v from 'valibot'
import { readJson } from '../../json.ts'
import { addressSchemas } from '../../model/address-schemas.ts'
import type { OrganizationScope } from '../organizations/organization-keys.ts'
import type { Mutation } from '../store/transaction.ts'

/** The topic on which changes are told that may change what users may do. */
export const accessTopic = 'access'

/** Whose access to what may have changed in an organization. */
export interface AccessChange {
  readonly scope: OrganizationScope
  /** Documents that changed themselves, for everybody. */
  readonly documents: readonly string[]
  /** Users whose rights changed, on whatever. */
  readonly users: readonly string[]
  /** True: everybody's, on everything. */
  readonly all: boolean
}

/**
 * What a commit in an organization means for access; null when nothing. The sessions of a document that is being
 * deleted are ended by its removal, which tells them why.
 */
export function accessChangeOf(scope: OrganizationScope, written: readonly Mutation[]): AccessChange | null {
  const documents = new Set<string>()
  const users = new Set<string>()
  let all = false
  for (const { key, isNew, isGoing } of written) {
    if (isGoing) continue
    const [kind, first = '', second = '', third, fourth = ''] = key
    // A new one too: somebody may be on their way to it, who has found that there is nothing that restricts it.
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

/** What `encodeAccessChange` was given. @throws MalformedJsonError */
export const decodeAccessChange = (message: Uint8Array): AccessChange => readJson(changeSchema, message)

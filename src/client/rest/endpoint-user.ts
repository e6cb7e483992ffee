import { idProblem } from '../../core/model/address.ts'
import { deletedUserId } from '../../core/model/deleted-user.ts'

/** The document for which a page asks. The endpoint has checked only that these are valid ids. */
export interface EndpointDocument {
  readonly organizationId: string
  readonly documentId: string
  readonly editorId: string
}

/** A user whom the application has authenticated, and the permissions of this user on one document. */
export interface EndpointUser {
  /** Id of the user in the application: at most 512 bytes. */
  readonly userId: string
  /** Name that the other users see. Default: the id. */
  readonly name?: string | undefined
  /** Only in the token. Other users do not see it. */
  readonly email?: string | undefined
  /** Maximum role of the token. Weft can give the user a lower role. */
  readonly role: 'viewer' | 'suggester' | 'editor'
  /** Whether the user may write comments. Default: true, but false for a viewer. All roles may read comments. */
  readonly canComment?: boolean | undefined
}

/** An `EndpointUser` with its defaults. */
export interface CheckedUser {
  readonly userId: string
  /** At most 200 characters, which is the maximum in comments. */
  readonly name: string
  readonly email: string
  readonly role: EndpointUser['role']
  readonly canComment: boolean
}

const roles: readonly unknown[] = ['viewer', 'suggester', 'editor']

const nameLengthMax = 200

/**
 * Checks the value that `authorize` has returned. A wrong role must not become the default of the server.
 * @throws TypeError if it is not valid
 */
export function checkUser(user: EndpointUser): CheckedUser {
  const { userId, name = userId, email = '', role, canComment = role !== 'viewer' } = user
  const problem = idProblem(userId)
  if (problem !== null) throw new TypeError(`authorize returned an invalid userId: it ${problem}`)
  // Comments of all users whose data was deleted have this id.
  if (userId === deletedUserId)
    throw new TypeError(`authorize returned the reserved userId "${deletedUserId}"`)
  if (!roles.includes(role))
    throw new TypeError(`authorize returned an invalid role; expected ${roles.join(', ')}`)
  if (typeof canComment !== 'boolean' || typeof name !== 'string' || typeof email !== 'string')
    throw new TypeError('authorize returned an invalid name, email or canComment')
  return { userId, name: name.slice(0, nameLengthMax).toWellFormed(), email, role, canComment }
}

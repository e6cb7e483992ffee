import type { AccessChange } from '../../directory/organizations/access-change.ts'
import type { OrganizationScope } from '../../directory/organizations/organization-keys.ts'
import { keyName } from '../../store/key-encoding.ts'
import type { Session } from './session.ts'

/**
 * The open sessions of one organization: the set of all sessions, and the sessions by document and by user.
 */
interface IndexedSessions {
  readonly all: Set<Session>
  readonly documents: Map<string, Set<Session>>
  readonly users: Map<string, Set<Session>>
}

/**
 * The open sessions, indexed by the ids that access changes contain. Each new document causes an access
 * change. Without the index, each change would check all sessions, and the cost of opening rooms would be
 * quadratic.
 */
export class SessionIndex {
  readonly #organizations = new Map<string, IndexedSessions>()

  add(session: Session): void {
    const name = nameOf(session.address)
    const sessions = this.#organizations.get(name) ?? {
      all: new Set(),
      documents: new Map(),
      users: new Map(),
    }
    this.#organizations.set(name, sessions)
    sessions.all.add(session)
    addTo(sessions.documents, session.address.documentId, session)
    addTo(sessions.users, session.identity.userId, session)
  }

  delete(session: Session): void {
    const name = nameOf(session.address)
    const sessions = this.#organizations.get(name)
    if (sessions === undefined) return
    sessions.all.delete(session)
    deleteFrom(sessions.documents, session.address.documentId, session)
    deleteFrom(sessions.users, session.identity.userId, session)
    if (sessions.all.size === 0) this.#organizations.delete(name)
  }

  has(session: Session): boolean {
    return this.#organizations.get(nameOf(session.address))?.all.has(session) === true
  }

  *all(): Iterable<Session> {
    for (const { all } of this.#organizations.values()) yield* all
  }

  /** Returns the sessions whose access may have changed. A session may be returned twice. */
  *affectedBy({ scope, all, documents, users }: AccessChange): Iterable<Session> {
    const sessions = this.#organizations.get(nameOf(scope))
    if (sessions === undefined) return
    if (all) yield* sessions.all
    for (const document of documents) yield* sessions.documents.get(document) ?? []
    for (const user of users) yield* sessions.users.get(user) ?? []
  }
}

/** Returns whether a change may have changed the access of this session. */
export function isAffectedBy(
  { scope, all, documents, users }: AccessChange,
  { address, identity }: Session,
): boolean {
  if (scope.organizationId !== address.organizationId || scope.apiKey !== address.apiKey) return false
  if (scope.workspaceId !== address.workspaceId) return false
  return all || documents.includes(address.documentId) || users.includes(identity.userId)
}

function addTo(groups: Map<string, Set<Session>>, name: string, session: Session): void {
  const group = groups.get(name)
  if (group === undefined) groups.set(name, new Set([session]))
  else group.add(session)
}

function deleteFrom(groups: Map<string, Set<Session>>, name: string, session: Session): void {
  const group = groups.get(name)
  if (group?.delete(session) && group.size === 0) groups.delete(name)
}

const nameOf = ({ workspaceId, apiKey, organizationId }: OrganizationScope): string =>
  keyName([workspaceId, apiKey, organizationId])

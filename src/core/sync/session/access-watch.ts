import type { Identity } from '../../access/identity.ts'
import type { RealtimeAccess } from '../../access/realtime-access.ts'
import { runUntraced } from '../../base/current-trace.ts'
import { memoized } from '../../base/maps.ts'
import type { AccessChange } from '../../directory/organizations/access-change.ts'
import type { OrganizationScope } from '../../directory/organizations/organization-keys.ts'
import { close } from '../../model/close.ts'
import { keyName } from '../../store/key-encoding.ts'
import type { ServerFaults } from '../admission/rejection-log.ts'
import type { Session } from './session.ts'
import { closeForToken } from './socket-authentication.ts'

/** Milliseconds until the permission of a session is read again, if the store was unavailable. */
const retryMs = 500
/**
 * Maximum number of permissions that are read concurrently. Without this limit, a change of a whole
 * organization would delay all other work.
 */
const readsAtOnce = 32

/**
 * Applies changes of access rights to open sessions: reads the permissions of the affected sessions again. Ends sessions
 * whose token is revoked, or whose page may no longer use the API key.
 */
export class AccessWatch {
  readonly #access: RealtimeAccess
  readonly #faults: ServerFaults
  readonly #sessions = new SessionIndex()
  readonly #recent = new RecentAccessChanges()
  /** Sessions whose permission must be rechecked, without duplicates. */
  readonly #queued = new Set<Session>()
  readonly #rechecking = new Set<Session>()
  readonly #unsubscribe: readonly (() => void)[]
  /** For each session, a function that ends the subscription to the access changes of its document. */
  readonly #unfollow = new Map<Session, () => void>()
  #withdrawals = 0
  #workers = 0

  constructor(access: RealtimeAccess, faults: ServerFaults) {
    this.#access = access
    this.#faults = faults
    this.#unsubscribe = [
      access.onChange((change) =>
        this.#changed(change, change === null ? this.#sessions.all() : this.#sessions.affectedBy(change)),
      ),
      access.onWithdrawal((concerns) => this.#reviewAll(concerns)),
    ]
  }

  /** Number of access changes so far. Read it before you read the permission of a joining client. */
  get changes(): number {
    return this.#recent.count
  }

  /** Number of withdrawals of credentials so far. Read it before you check the token of a joining client. */
  get withdrawals(): number {
    return this.#withdrawals
  }

  /**
   * Starts to watch a session. Applies the changes since `changes`, and the withdrawals since `withdrawals`, now.
   * @param changes value of the getter `changes` before the permission of the session was read
   * @param withdrawals value of the getter `withdrawals` before the token of the session was checked
   */
  add(session: Session, changes: number, withdrawals: number): void {
    this.#sessions.add(session)
    this.#unfollow.set(session, this.#access.follow(session.address))
    if (this.#recent.mayAffect(session, changes)) this.#queueRechecks([session])
    if (withdrawals !== this.#withdrawals) this.#review(session)
  }

  delete(session: Session): void {
    this.#sessions.delete(session)
    this.#unfollow.get(session)?.()
    this.#unfollow.delete(session)
    this.#queued.delete(session)
  }

  end(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
  }

  #reviewAll(concerns: (identity: Identity) => boolean): void {
    this.#withdrawals += 1
    for (const session of this.#sessions.all()) if (concerns(session.identity)) this.#review(session)
  }

  /** Checks the credentials of a session again, and ends the session if they would be rejected now. */
  #review(session: Session): void {
    this.#access.refusalOf(session.identity, session.origin).then(
      (refusal) => refusal !== null && session.end(closeForToken(refusal)),
      (error: unknown) => {
        this.#faults.log(error, 'the credentials of a session could not be checked again')
        session.end(close('tryAgainLater', 'the token could not be checked: try again'))
      },
    )
  }

  #changed(change: AccessChange | null, sessions: Iterable<Session>): void {
    this.#recent.add(change)
    this.#queueRechecks(sessions)
  }

  #queueRechecks(sessions: Iterable<Session>): void {
    for (const session of sessions) this.#queued.add(session)
    while (this.#workers < Math.min(readsAtOnce, this.#queued.size)) {
      this.#workers += 1
      // One worker serves the sessions of all tenants, so it belongs to the trace of none.
      void runUntraced(() => this.#recheckQueued()).finally(() => {
        this.#workers -= 1
      })
    }
  }

  /**
   * Rechecks queued sessions until the queue is empty. Several calls of this method run concurrently. Only
   * one of them rechecks a given session, so that an older result never overwrites a newer one.
   */
  async #recheckQueued(): Promise<void> {
    for (const session of this.#queued) {
      if (this.#rechecking.has(session)) continue
      this.#rechecking.add(session)
      while (this.#queued.delete(session)) await this.#recheckOrRetry(session)
      this.#rechecking.delete(session)
    }
  }

  async #recheckOrRetry(session: Session): Promise<void> {
    try {
      await this.recheck(session)
    } catch (error) {
      // The store is unavailable. The session keeps its last permission until the permission can be read
      // again.
      this.#faults.log(error, 'the permission of a session could not be read; retrying')
      this.#retry(session)
    }
  }

  /** Reads the permission of a session from the directory and applies it. @throws StoreUnavailableError */
  async recheck(session: Session): Promise<void> {
    const { identity, address, origin, right, schemaVersion } = session
    const { decision } = right
    session.changePermission(await this.#access.reread(identity, address, origin, decision, schemaVersion))
  }

  /** Asks the backend again about the role of a session, and applies the result. */
  renewDecision(session: Session): void {
    void this.#access.renewDecision(session.identity, session.address).then(() => {
      if (this.#sessions.has(session)) this.#queueRechecks([session])
    })
  }

  #retry(session: Session): void {
    const timer = setTimeout(() => {
      if (this.#sessions.has(session)) this.#queueRechecks([session])
    }, retryMs)
    timer.unref()
  }
}

/**
 * Maximum number of recent changes that are kept. It is larger than the number of changes that occur while a
 * client connects.
 */
const changesMax = 1_024

/**
 * Maximum number of ids in a kept change. A change with more ids is kept as a change that affects the whole
 * organization, because many long ids would take a quarter of a megabyte.
 */
const namesMax = 32

/**
 * The latest access changes. A session needs them if its permission was read before the session was watched.
 */
class RecentAccessChanges {
  /** A ring buffer of changes; null is a change with unknown content. */
  readonly #changes: (AccessChange | null)[] = []
  #count = 0

  /** Number of changes so far. */
  get count(): number {
    return this.#count
  }

  /** Adds a change. @param change the change; null if its content is unknown */
  add(change: AccessChange | null): void {
    this.#changes[this.#count % changesMax] = change === null ? null : boundedChange(change)
    this.#count += 1
  }

  /** Returns whether a change after the first `count` changes may affect this session. */
  mayAffect(session: Session, count: number): boolean {
    if (this.#count - count > changesMax) return true
    for (let at = count; at < this.#count; at++) {
      const change = this.#changes[at % changesMax] ?? null
      if (change === null || isAffectedBy(change, session)) return true
    }
    return false
  }
}

const boundedChange = (change: AccessChange): AccessChange =>
  change.documents.length + change.users.length <= namesMax
    ? change
    : { scope: change.scope, all: true, documents: [], users: [] }

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
class SessionIndex {
  readonly #organizations = new Map<string, IndexedSessions>()

  add(session: Session): void {
    const name = nameOf(session.address)
    const sessions = memoized(this.#organizations, name, newIndex)
    sessions.all.add(session)
    memoized(sessions.documents, session.address.documentId, newSet).add(session)
    memoized(sessions.users, session.identity.userId, newSet).add(session)
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
function isAffectedBy(
  { scope, all, documents, users }: AccessChange,
  { address, identity }: Session,
): boolean {
  if (scope.organizationId !== address.organizationId || scope.apiKey !== address.apiKey) return false
  if (scope.workspaceId !== address.workspaceId) return false
  return all || documents.includes(address.documentId) || users.includes(identity.userId)
}

const newSet = (): Set<Session> => new Set()
const newIndex = (): IndexedSessions => ({ all: new Set(), documents: new Map(), users: new Map() })

function deleteFrom(groups: Map<string, Set<Session>>, name: string, session: Session): void {
  const group = groups.get(name)
  if (group?.delete(session) && group.size === 0) groups.delete(name)
}

const nameOf = ({ workspaceId, apiKey, organizationId }: OrganizationScope): string =>
  keyName([workspaceId, apiKey, organizationId])

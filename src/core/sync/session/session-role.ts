import type { Identity } from '../../access/identity.ts'
import type { Permission } from '../../access/realtime-access.ts'
import type { DocumentAccess } from '../../access/roles/document-access.ts'
import type { RoleDecision } from '../../access/roles/role-decision.ts'
import { mayWrite, mustKeepContent, roleOn, roleOnSocket } from '../../access/roles/roles.ts'
import type { Clock } from '../../base/clock.ts'
import type { AccessRole } from '../../directory/store/records.ts'
import type { WriteRight } from '../../directory/write-right.ts'
import type { DocumentAddress } from '../../model/address.ts'
import { type Close, close } from '../../model/close.ts'
import type { Room } from '../../rooms/room/room.ts'
import { documentDeleted } from '../../rooms/room/room-errors.ts'
import type { Fence } from '../../store/engine.ts'
import type { UpdateSummary } from '../../update/summary.ts'
import { closeForToken } from './socket-authentication.ts'

/** Time in ms after which the backend is asked again about a decision that has not been replaced. */
const askAgainMs = 5_000

/** A session, as its role uses it. */
interface RoleHolder {
  readonly address: DocumentAddress
  /**
   * Reads the permission from the directory again and passes it to `changePermission`.
   * @throws StoreUnavailableError
   */
  readonly recheck: () => Promise<void>
  /** Called when the role is read for the first time, and after each change of the role or of the right to write. */
  roleChanged(role: AccessRole, mayWrite: boolean): void
}

/**
 * The role that the user of a session currently has on the document. It follows from the token, the
 * permission and the time.
 */
export class SessionRole implements WriteRight {
  readonly #session: RoleHolder
  readonly #clock: Clock
  #identity: Identity
  #permission: Permission
  #role: AccessRole | null = null
  #mayWrite = false
  #isOutdated = false
  /** Time until which the role is valid, in epoch milliseconds. */
  #validUntil = 0
  /** The decision for which the session has asked the backend again, and the time from which it may ask again. */
  #outdated: { readonly decision: RoleDecision; readonly until: number } | null = null

  constructor(session: RoleHolder, identity: Identity, permission: Permission, clock: Clock) {
    this.#session = session
    this.#clock = clock
    this.#identity = identity
    this.#permission = permission
  }

  get identity(): Identity {
    return this.#identity
  }

  /** Close reason for the session if its user no longer has a role. */
  get closeReason(): Close {
    const { refusal, access } = this.#permission
    return refusal === null ? revocations[access.state] : closeForToken(refusal)
  }

  /** True if the user only views because the client has an older schema than the editor. */
  get isOutdated(): boolean {
    return this.#isOutdated
  }

  /** Returns the role at a time; null if the user no longer has a role. @param now epoch milliseconds */
  roleAt(now: number): AccessRole | null {
    if (now >= this.#validUntil) this.#refresh(now)
    return this.#role
  }

  /** Returns whether the user may write the editor at a time. @param now epoch milliseconds */
  mayWriteAt(now: number): boolean {
    this.roleAt(now)
    return this.#mayWrite
  }

  /** Decision of the backend that applies; null if the backend does not decide. */
  get decision(): RoleDecision | null {
    return this.#permission.decision
  }

  /**
   * Returns whether the backend must be asked again: once for each decision, and again while there is no newer one,
   * because the question may have failed. @param now epoch milliseconds
   */
  isDecisionDue(now: number): boolean {
    const { decision } = this.#permission
    if (decision === null || now < decision.until) return false
    if (decision === this.#outdated?.decision && now < this.#outdated.until) return false
    this.#outdated = { decision, until: now + askAgainMs }
    return true
  }

  /** Reason why the edits of a client that may not write are dropped, with the remedy. */
  get readOnlyReason(): string {
    const { branch, protects } = this.#permission
    if (branch !== null && branch.status !== 'open') return readOnlyReasons.decided
    if (this.#isOutdated) return readOnlyReasons.outdated
    if (mustKeepContent(this.#identity)) return readOnlyReasons.mustKeep
    if (protects.length > 0) return readOnlyReasons.protects
    return this.#role === 'suggester' ? readOnlyReasons.suggester : readOnlyReasons.viewer
  }

  get fence(): Fence | null {
    return this.mayWriteAt(this.#clock.now()) ? this.#permission.fence : null
  }

  recheck(): Promise<void> {
    return this.#session.recheck()
  }

  /** Replaces the permission, unless the new permission was read before the current one. */
  changePermission(permission: Permission): void {
    if (fenceCount(permission) < fenceCount(this.#permission)) return
    this.#permission = permission
    this.#validUntil = 0
  }

  /** Replaces the identity. @param identity identity from a newer token of the same user */
  renew(identity: Identity): void {
    this.#identity = identity
    this.#validUntil = 0
  }

  #refresh(now: number): void {
    const { refusal, access, branch, decision, isOutdated } = this.#permission
    const { role: granted, until } =
      refusal === null ? roleOn(this.#identity, this.#session.address, access, now, decision) : rejected
    const role = roleOnSocket(this.#identity, granted, this.#permission)
    const canWrite = mayWrite(role, this.#identity.userId, branch)
    const isSame = role === this.#role && canWrite === this.#mayWrite && isOutdated === this.#isOutdated
    this.#role = role
    this.#isOutdated = isOutdated
    this.#mayWrite = canWrite
    this.#validUntil = until
    if (role !== null && !isSame) this.#session.roleChanged(role, canWrite)
  }
}

/**
 * Returns the sum of the fence counters of a permission. The counters never decrease, so the sums of two
 * permissions show which permission was read later.
 */
const fenceCount = ({ fence }: Permission): number =>
  fence.reduce((sum, { raised, raisedHere }) => sum + raised + raisedHere, 0)

const rejected = { role: null, until: Number.POSITIVE_INFINITY } as const

const readOnlyReasons = {
  viewer:
    'your edits of this document are not saved: you may only view it; ask its owner for the role editor',
  suggester:
    'your edits of this document are not saved: you may only suggest changes; edit a branch of your own',
  mustKeep:
    'your edits of this document are not saved: the policy no-delete makes an agent a viewer on this connection; edit with REST',
  protects:
    'your edits of this document are not saved: it can have protected content, so an agent is a viewer on this connection; edit with REST',
  outdated:
    'your edits of this document are not saved: the document has a newer schema; load the new version of the application',
  decided: 'your edits of this branch are not saved: it was merged or rejected; create a new branch',
} as const

/** Close reason for sessions on a disabled document. */
export const documentDisabled = close('forbidden', 'the document is disabled')

/** Close reasons for sessions whose user no longer has a role, by the state of the document. */
const revocations: Readonly<Record<DocumentAccess['state'], Close>> = {
  open: close('forbidden', 'access to this document was revoked'),
  disabled: documentDisabled,
  deleted: documentDeleted,
}

/**
 * Maximum number of updates without insertions that are compared with the document. Each comparison can take
 * as long as reading the document.
 */
const comparisonsMax = 10

/**
 * Decides when a viewer is notified that its edits are dropped: at its first edit, and at the first edit
 * after each change of its role. An update that the document already has does not count as an edit; clients
 * send such updates, for example, at each handshake.
 */
export class ReadOnlyNotice {
  #isSent = false
  #comparisons = 0

  /** Permits another notice. Must be called when the role has changed. */
  reset(): void {
    this.#isSent = false
    this.#comparisons = 0
  }

  /**
   * Returns whether the client must be notified now, because this update was dropped. Returns true only once
   * until `reset` is called.
   */
  isDue(room: Room, kind: 'update' | 'offer', bytes: Uint8Array, summary: UpdateSummary): boolean {
    if (this.#isSent || !this.#isEdit(room, kind, bytes, summary)) return false
    this.#isSent = true
    return true
  }

  #isEdit(room: Room, kind: 'update' | 'offer', bytes: Uint8Array, summary: UpdateSummary): boolean {
    const { clients, deletes } = summary
    if (clients.some(({ client, to }) => to > (room.state.clocks.get(client) ?? 0))) return true
    // An offer contains all deletions that the client has, so deletions in an offer do not prove an edit.
    if (kind === 'offer' || clients.length > 0 || deletes === 0) return false
    this.#comparisons += 1
    return this.#comparisons <= comparisonsMax && !room.contains(bytes, summary)
  }
}

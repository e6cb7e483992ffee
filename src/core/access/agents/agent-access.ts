import type { IncomingHttpHeaders } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../../base/clock.ts'
import { ApiError } from '../../base/errors.ts'
import { type AccessRole, roleStrength } from '../../directory/store/records.ts'
import type { WriteRight } from '../../directory/write-right.ts'
import type { DocumentAddress } from '../../model/address.ts'
import type { Fence } from '../../store/engine.ts'
import {
  type AgentCaller,
  adminTokenHeader,
  apiKeyHeader,
  authTokenHeader,
  type UserCaller,
  workspaceAuthTokenHeader,
  workspaceIdHeader,
} from '../credentials/authenticator.ts'
import { type OnRejection, readBearer } from '../credentials/credential-headers.ts'
import type { Identity } from '../identity.ts'
import type { Permission, RealtimeAccess } from '../realtime-access.ts'
import { mayWrite, type RoleOnDocument, roleOn } from '../roles/roles.ts'
import { type TokenProblem, TokenRejectedError } from '../tokens/realtime-tokens.ts'

/**
 * The right that an agent needs on an editor. `viewer` and `suggester`: at least this role on the document. `editor`: it
 * may change the content of the editor, as an editor of the document, or as a suggester in a branch of its own.
 */
export type RequiredRight = AccessRole

/** Headers with the credentials of backends. */
const credentialHeaders = [
  apiKeyHeader,
  authTokenHeader,
  workspaceIdHeader,
  workspaceAuthTokenHeader,
  adminTokenHeader,
]

/** A caller with a realtime token. */
type TokenCaller = AgentCaller | UserCaller

/** Identifies agents and users by their tokens, and decides what they may do with a document, as for websockets. */
export class AgentAccess {
  readonly #access: Pick<RealtimeAccess, 'identityOf' | 'permissionOf'>
  readonly #clock: Clock
  readonly #onRejection: OnRejection

  constructor(
    access: Pick<RealtimeAccess, 'identityOf' | 'permissionOf'>,
    clock: Clock,
    onRejection: OnRejection,
  ) {
    this.#access = access
    this.#clock = clock
    this.#onRejection = onRejection
  }

  /**
   * Returns the agent that the bearer token of a call identifies. Returns null if the call has no such token, or the
   * credentials of a backend in addition: a proxy may add a token of its own.
   * @throws ApiError UNAUTHENTICATED if the token is rejected; PERMISSION_DENIED if it is not the token of an agent;
   * UNAVAILABLE if it cannot be checked now
   */
  async callerOf(headers: IncomingHttpHeaders): Promise<AgentCaller | null> {
    const caller = await this.bearerOf(headers)
    if (caller === null || caller.level === 'agent') return caller
    this.#onRejection('wrong_credentials')
    throw new ApiError(
      'agent/token-required',
      'the token is not the token of an agent; create the token with agent: true',
    )
  }

  /**
   * Returns the agent or the user that the bearer token of a call identifies; null as `callerOf`.
   * @throws ApiError as `callerOf`, but not for the token of a user
   */
  async bearerOf(headers: IncomingHttpHeaders): Promise<TokenCaller | null> {
    const token = credentialHeaders.some(({ name }) => headers[name] !== undefined)
      ? null
      : readBearer(headers)
    if (token === null) return null
    const { origin } = headers
    const identity = await this.#access.identityOf(token, origin).catch((error: unknown) => {
      if (!(error instanceof TokenRejectedError)) throw error
      this.#onRejection(error.reason === 'origin' ? 'wrong_origin' : 'wrong_credentials')
      throw rejectionOf(error)
    })
    const { tenant, agent } = identity
    return agent === null
      ? { level: 'user', tenant, origin, identity }
      : { level: 'agent', tenant, origin, identity: { ...identity, agent } }
  }

  /**
   * Checks that an agent has a right on an editor.
   * @throws ApiError NOT_FOUND if the agent has no role on the document, as if the document did not exist;
   * PERMISSION_DENIED if its role is too weak, also in a disabled document; FAILED_PRECONDITION if the document is
   * disabled
   */
  async require(caller: TokenCaller, address: DocumentAddress, right: RequiredRight): Promise<void> {
    const permission = await this.#read(caller, address)
    check(caller, address, permission, right, this.#clock.now())
  }

  /**
   * Returns the right of an agent to change an editor. It is read again before the commit if it may have changed.
   * @throws ApiError like `require`
   */
  async rightToChange(caller: TokenCaller, address: DocumentAddress): Promise<WriteRight> {
    const right = new AgentWriteRight(() => this.#read(caller, address), caller, address, this.#clock)
    await right.recheck()
    return right
  }

  /** Returns whether an agent has any role on a document. */
  async mayRead(caller: AgentCaller, address: DocumentAddress): Promise<boolean> {
    const permission = await this.#read(caller, address)
    return roleIn(caller.identity, address, permission, this.#clock.now()).role !== null
  }

  #read({ identity, origin }: TokenCaller, address: DocumentAddress): Promise<Permission> {
    return this.#access.permissionOf(identity, address, origin)
  }
}

function roleIn(
  identity: Identity,
  address: DocumentAddress,
  { access, decision, refusal }: Permission,
  now: number,
): RoleOnDocument {
  if (refusal !== null) throw rejectionOf(refusal)
  if (now >= identity.expiresAt) throw rejectionOf(new TokenRejectedError('expired'))
  return roleOn(identity, address, access, now, decision)
}

/** Returns the time until which the right is valid, in epoch milliseconds. @throws ApiError like `require` */
function check(
  { identity }: TokenCaller,
  address: DocumentAddress,
  permission: Permission,
  right: RequiredRight,
  now: number,
): number {
  const { role, until } = roleIn(identity, address, permission, now)
  if (role !== null) {
    requireRight(identity, permission, role, right)
    return until
  }
  // Only an agent that would have a role learns that the document is disabled. For all others, it does not exist.
  const enabled = { ...permission, access: { ...permission.access, state: 'open' } } as const
  const isDisabled = permission.access.state === 'disabled'
  const later = isDisabled ? roleIn(identity, address, enabled, now).role : null
  if (later === null) throw documentHidden(address.documentId)
  requireRight(identity, permission, later, right)
  throw new ApiError('document/disabled', 'the document is disabled; ask its owner to enable it')
}

/** @throws ApiError PERMISSION_DENIED if a role does not include a right */
function requireRight(
  { userId }: Identity,
  { branch }: Permission,
  role: AccessRole,
  right: RequiredRight,
): void {
  const isAllowed =
    right === 'editor' ? mayWrite(role, userId, branch) : roleStrength(role) >= roleStrength(right)
  if (isAllowed) return
  if (right === 'editor' && branch !== null && branch.status !== 'open')
    throw new ApiError('branch/decided', `the branch was ${branch.status}; create a new branch`)
  throw new ApiError('agent/role-required', requiredMessages[right], { details: { role, required: right } })
}

const requiredMessages: Readonly<Record<RequiredRight, string>> = {
  viewer: 'the caller needs the role viewer on the document',
  suggester: 'the caller needs the role suggester on the document',
  editor: 'the caller needs the role editor on the document, or suggester in a branch that it has created',
}

/** The error for a document that does not exist for the agent. It must not depend on whether the document exists. */
export const documentHidden = (documentId: string): ApiError =>
  new ApiError(
    'document/not-found',
    `the document does not exist, or the caller has no role on it: ${JSON.stringify(documentId)}`,
  )

const protectionChanged = (): ApiError =>
  new ApiError('agent/token-unchecked', 'the protected content of the editor has changed; try again', {
    retryAfterSeconds: 1,
  })

/** Problems that mean that the token could not be checked. */
const undetermined: readonly TokenProblem[] = ['timeout', 'store', 'provider', 'authorize']

const rejectionOf = ({ reason, message }: TokenRejectedError): ApiError =>
  undetermined.includes(reason)
    ? new ApiError('agent/token-unchecked', message, { retryAfterSeconds: 1 })
    : new ApiError('agent/invalid-token', reason === 'malformed' ? message + authTokenHint : message, {
        details: { reason },
      })

const authTokenHint = '; the auth token of a backend belongs in the header x-service-auth-token'

/** The right of an agent to change an editor. Call `recheck` before the first use. It ends with the token, with a grant, or with a change of rights. */
class AgentWriteRight implements WriteRight {
  readonly #read: () => Promise<Permission>
  readonly #caller: TokenCaller
  readonly #address: DocumentAddress
  readonly #clock: Clock
  #protects: readonly string[] | null = null
  #fence: Fence | null = null
  #until = 0

  constructor(read: () => Promise<Permission>, caller: TokenCaller, address: DocumentAddress, clock: Clock) {
    this.#read = read
    this.#caller = caller
    this.#address = address
    this.#clock = clock
  }

  get fence(): Fence | null {
    return this.#clock.now() < this.#until ? this.#fence : null
  }

  get protects(): readonly string[] {
    return this.#protects ?? []
  }

  async recheck(): Promise<void> {
    this.#fence = null
    const permission = await this.#read()
    this.#until = check(this.#caller, this.#address, permission, 'editor', this.#clock.now())
    const before = this.#protects
    this.#protects = permission.protects
    // A change that was computed with other names must not be stored.
    if (before !== null && !isDeepStrictEqual(before, this.#protects)) throw protectionChanged()
    this.#fence = permission.fence
  }
}

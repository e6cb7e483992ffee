import type { Clock } from '../base/clock.ts'
import { ApiError } from '../base/errors.ts'
import {
  type AccessChange,
  documentFences,
  domainsFence,
  tokensFence,
  userFence,
} from '../directory/organizations/access-change.ts'
import { type SchemaService, schemasFence } from '../directory/schemas/schema-service.ts'
import type { CredentialsRevoked } from '../directory/tenants/token-revocations.ts'
import type { DocumentAddress, Tenant } from '../model/address.ts'
import type { Fence, FenceStore } from '../store/engine.ts'
import type { AccessChangeFeed } from './access-change-feed.ts'
import type { AllowedOrigins } from './allowed-origins.ts'
import { anonymous, type Identity } from './identity.ts'
import type { AccessReader, DocumentAccess } from './roles/document-access.ts'
import type { RoleDecider, RoleDecision } from './roles/role-decision.ts'
import { type BranchAccess, isUndecided } from './roles/roles.ts'
import { type RealtimeTokens, TokenRejectedError, tokenUsers } from './tokens/realtime-tokens.ts'

interface RealtimeAccessOptions {
  readonly tokens: RealtimeTokens
  readonly origins: AllowedOrigins
  readonly news: AccessChangeFeed
  /** Tenant of connections without a token. Null if a token is required. */
  readonly defaultTenant: Tenant | null
  readonly reader: AccessReader
  readonly schemas: Pick<SchemaService, 'of' | 'attachedTo'>
  readonly fences: FenceStore
  readonly decider: RoleDecider
  readonly clock: Clock
}

/** The permission of a user on a document, as it was at one moment. */
export interface Permission {
  /** The fence that protects the permission. It was read before `access`. */
  readonly fence: Fence
  readonly access: DocumentAccess
  /** The branch that the editor is; null if the editor is not a branch. */
  readonly branch: BranchAccess | null
  /** Decision of the backend; null if the backend does not decide. */
  readonly decision: RoleDecision | null
  /** Reason why the token is rejected; null if the token is accepted. */
  readonly refusal: TokenRejectedError | null
  /** Names of the marks and attributes whose content the user must not change; empty unless the user is an agent. */
  readonly protects: readonly string[]
  /** True if the client has announced an older version of the schema than the editor has. */
  readonly isOutdated: boolean
}

/** Determines the identity of realtime connections, and their rights according to the directory. */
export class RealtimeAccess {
  readonly #options: RealtimeAccessOptions

  constructor(options: RealtimeAccessOptions) {
    this.#options = options
  }

  /**
   * Returns the identity that belongs to a token. A given token is checked even if no token is required.
   * @param origin value of the header `Origin`; undefined if the client is not a page
   * @throws TokenRejectedError
   */
  async identityOf(token: string | null, origin: string | undefined): Promise<Identity> {
    const identity = await this.#bearerOf(token)
    if (!(await this.#isAllowed(identity, origin))) throw new TokenRejectedError('origin')
    return identity
  }

  /** Returns the reason why a connected client must be disconnected now; null if the client may stay. */
  async refusalOf(identity: Identity, origin: string | undefined): Promise<TokenRejectedError | null> {
    if (await this.#options.tokens.isRevoked(identity)) return new TokenRejectedError('revoked')
    return (await this.#isAllowed(identity, origin)) ? null : new TokenRejectedError('origin')
  }

  /**
   * Reads from the directory which permission a user has on a document. If no grant decides, asks the backend.
   * @param schemaVersion version of the schema that the client has announced; null if it has announced none
   * @throws StoreUnavailableError
   */
  async permissionOf(
    identity: Identity,
    address: DocumentAddress,
    origin: string | undefined,
    schemaVersion: number | null = null,
  ): Promise<Permission> {
    const stored = await this.#storedPermission(identity, address, origin, schemaVersion)
    if (stored.refusal !== null || !this.#isUndecided(identity, address, stored)) return stored
    return decided(stored, await this.#options.decider.decide(identity, address))
  }

  /**
   * Reads the permission of a connected user again. Does not wait for the backend: uses its latest decision. If
   * there is none, because a grant has decided before, the client must reconnect.
   * @param latest decision that applied to the client before
   * @throws StoreUnavailableError
   */
  async reread(
    identity: Identity,
    address: DocumentAddress,
    origin: string | undefined,
    latest: RoleDecision | null,
    schemaVersion: number | null,
  ): Promise<Permission> {
    const stored = await this.#storedPermission(identity, address, origin, schemaVersion)
    if (stored.refusal !== null || !this.#isUndecided(identity, address, stored)) return stored
    const { decider } = this.#options
    if (!(await decider.decides(identity.tenant))) return stored
    return decided(stored, decider.known(identity, address) ?? latest ?? unknownDecision)
  }

  /**
   * Asks the backend again about a connected user. Afterwards, `reread` returns the result. Never rejects.
   */
  renewDecision(identity: Identity, address: DocumentAddress): Promise<void> {
    return this.#options.decider.renew(identity, address)
  }

  #isUndecided(identity: Identity, address: DocumentAddress, { access }: Permission): boolean {
    return isUndecided(identity, address, access, this.#options.clock.now())
  }

  async #storedPermission(
    identity: Identity,
    address: DocumentAddress,
    origin: string | undefined,
    schemaVersion: number | null,
  ): Promise<Permission> {
    const { tenant, userId } = identity
    const fence = await this.#options.fences.read([
      ...documentFences(address, address.documentId),
      userFence(address, userId),
      ...tokenUsers(identity).map((each) => tokensFence(tenant, each)),
      domainsFence(tenant),
      ...(identity.agent === null ? [] : [schemasFence(tenant)]),
    ])
    const [access, branch, refusal, protects, schema] = await Promise.all([
      this.#accessOf(identity, address),
      this.#options.reader.readBranch(address),
      this.refusalOf(identity, origin),
      this.#protectedFrom(identity, address),
      schemaVersion === null ? null : this.#options.schemas.attachedTo(address),
    ])
    const isOutdated = schemaVersion !== null && schema !== null && schemaVersion < schema.version
    return { fence, access, branch, refusal, isOutdated, decision: null, protects }
  }

  async #protectedFrom({ agent }: Identity, address: DocumentAddress): Promise<readonly string[]> {
    if (agent === null) return []
    const attached = await this.#options.schemas.of(address).catch((error: unknown) => {
      // Without its schema, the editor accepts no write by REST, and has no protected names of its own.
      if (error instanceof ApiError && error.code === 'schema/not-found') return null
      throw error
    })
    return [...(agent.protected ?? []), ...(attached?.schema.spec?.protected ?? [])]
  }

  #accessOf({ userId }: Identity, address: DocumentAddress): Promise<DocumentAccess> {
    return this.#options.reader.read(address, address.documentId, userId)
  }

  /**
   * Calls the listener when the result of `permissionOf` may have changed. If the change is null, it may have
   * changed for all users. Returns the function that removes the listener.
   */
  onChange(listener: (change: AccessChange | null) => void): () => void {
    return this.#options.news.onChange(listener)
  }

  /**
   * Calls the listener when the result of `refusalOf` may have changed. The listener gets a function,
   * `concerns`, which returns whether an identity is affected. Returns the function that removes the
   * listener.
   */
  onWithdrawal(listener: (concerns: (identity: Identity) => boolean) => void): () => void {
    return this.#options.news.onWithdrawal((withdrawal) =>
      listener((identity) => withdrawal === null || isConcerned(identity, withdrawal)),
    )
  }

  /**
   * Watches the stored changes of the organization of a document. Call this method for each accepted client,
   * so that the listeners also receive changes whose messages the bus has lost. Returns the function that
   * ends the watch.
   */
  follow(address: DocumentAddress): () => void {
    return this.#options.news.follow(address)
  }

  #bearerOf(token: string | null): Promise<Identity> {
    const { tokens, defaultTenant } = this.#options
    if (token !== null && token !== '') return tokens.verify(token)
    if (defaultTenant !== null) return Promise.resolve(anonymous(defaultTenant))
    return Promise.reject(new TokenRejectedError('missing'))
  }

  #isAllowed({ tenant }: Identity, origin: string | undefined): Promise<boolean> | true {
    return origin === undefined || this.#options.origins.isAllowed(tenant, origin)
  }
}

function isConcerned(identity: Identity, withdrawal: CredentialsRevoked): boolean {
  const { tenant } = identity
  const { workspaceId, apiKey } = withdrawal.tenant
  if (tenant.workspaceId !== workspaceId || tenant.apiKey !== apiKey) return false
  // Auth tokens are credentials of backends only.
  if (withdrawal.kind === 'authTokens') return false
  return withdrawal.kind !== 'tokens' || tokenUsers(identity).includes(withdrawal.userId)
}

/** Decision about a connected user of whom the backend has not decided yet: the client must reconnect. */
const unknownDecision: RoleDecision = { kind: 'failed', until: Number.POSITIVE_INFINITY }

const decided = (permission: Permission, decision: RoleDecision | null): Permission => ({
  ...permission,
  decision,
  refusal: decision?.kind === 'failed' ? new TokenRejectedError('authorize') : null,
})

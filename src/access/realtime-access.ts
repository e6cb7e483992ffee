import { documentFences, domainsFence, tokensFence, userFence } from '../directory/fence-names.ts'
import type { AccessChange } from '../directory/permissions/access-change.ts'
import type { CredentialsRevoked } from '../directory/tenants/credentials-revoked.ts'
import type { Fence, FenceStore } from '../engine/engine.ts'
import type { DocumentAddress, Tenant } from '../model/address.ts'
import type { AccessChangeFeed } from './access-change-feed.ts'
import type { AllowedOrigins } from './allowed-origins.ts'
import { anonymous, type Identity } from './identity.ts'
import type { AccessReader, DocumentAccess } from './roles/document-access.ts'
import { type RealtimeTokens, TokenRejectedError } from './tokens/realtime-tokens.ts'

export interface RealtimeAccessOptions {
  readonly tokens: RealtimeTokens
  readonly origins: AllowedOrigins
  readonly news: AccessChangeFeed
  /** Tenant of a connection without a token; null if a token is required. */
  readonly defaultTenant: Tenant | null
  readonly reader: AccessReader
  readonly fences: FenceStore
}

/** The permission of a user on a document at one moment. */
export interface Permission {
  /** The fence, which was read before `access`. */
  readonly fence: Fence
  readonly access: DocumentAccess
  /** Why the token is rejected; null: it is accepted. */
  readonly refusal: TokenRejectedError | null
}

/** The identity of a realtime connection, and its rights according to the directory. */
export class RealtimeAccess {
  readonly #options: RealtimeAccessOptions

  constructor(options: RealtimeAccessOptions) {
    this.#options = options
  }

  /**
   * Returns the identity of a token. If a token is given, it is checked even if none is required.
   * @param origin value of the header `Origin`; undefined if the client is not a page
   * @throws TokenRejectedError
   */
  async identityOf(token: string | null, origin: string | undefined): Promise<Identity> {
    const identity = await this.#bearerOf(token)
    if (!(await this.#isAllowed(identity, origin))) throw new TokenRejectedError('origin')
    return identity
  }

  /** Returns why an accepted client must be disconnected now; null if the client may stay. */
  async refusalOf(identity: Identity, origin: string | undefined): Promise<TokenRejectedError | null> {
    if (await this.#options.tokens.isRevoked(identity)) return new TokenRejectedError('revoked')
    return (await this.#isAllowed(identity, origin)) ? null : new TokenRejectedError('origin')
  }

  /** Reads the permission of a user on a document from the directory. @throws StoreUnavailableError */
  async permissionOf(
    identity: Identity,
    address: DocumentAddress,
    origin: string | undefined,
  ): Promise<Permission> {
    const { tenant, userId } = identity
    const fence = await this.#options.fences.read([
      ...documentFences(address, address.documentId),
      userFence(address, userId),
      tokensFence(tenant, userId),
      domainsFence(tenant),
    ])
    const [access, refusal] = await Promise.all([
      this.#accessOf(identity, address),
      this.refusalOf(identity, origin),
    ])
    return { fence, access, refusal }
  }

  #accessOf({ userId }: Identity, address: DocumentAddress): Promise<DocumentAccess> {
    return this.#options.reader.read(address, address.documentId, userId)
  }

  /**
   * Calls the listener when `permissionOf` may have changed. The change null concerns all users. Returns a
   * function that removes the listener.
   */
  onChange(listener: (change: AccessChange | null) => void): () => void {
    return this.#options.news.onChange(listener)
  }

  /**
   * Calls the listener when `refusalOf` may have changed. The function `concerns` selects the affected
   * identities. Returns a function that removes the listener.
   */
  onWithdrawal(listener: (concerns: (identity: Identity) => boolean) => void): () => void {
    return this.#options.news.onWithdrawal((withdrawal) =>
      listener((identity) => withdrawal === null || isConcerned(identity, withdrawal)),
    )
  }

  /**
   * Watches the changes of a document's organization. Call it for each accepted client: the listeners then
   * also receive changes whose messages the bus has lost. Returns a function that ends the watch.
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

  async #isAllowed({ tenant }: Identity, origin: string | undefined): Promise<boolean> {
    return origin === undefined || (await this.#options.origins.isAllowed(tenant, origin))
  }
}

function isConcerned({ tenant, userId }: Identity, withdrawal: CredentialsRevoked): boolean {
  const { workspaceId, apiKey } = withdrawal.tenant
  if (tenant.workspaceId !== workspaceId || tenant.apiKey !== apiKey) return false
  return withdrawal.kind !== 'tokens' || withdrawal.userId === userId
}

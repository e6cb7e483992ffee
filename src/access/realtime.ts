import type { AccessChange } from '../directory/access-change.ts'
import type { Withdrawal } from '../directory/withdrawal.ts'
import type { DocumentAddress, Tenant } from '../model/address.ts'
import type { AccessNews } from './access-news.ts'
import type { AccessReader, DocumentAccess } from './document-access.ts'
import { anonymous, type Identity } from './identity.ts'
import type { Origins } from './origins.ts'
import { TokenRefused, type Tokens } from './tokens.ts'

export interface RealtimeAccessOptions {
  readonly tokens: Tokens
  readonly origins: Origins
  readonly news: AccessNews
  /** Whom a connection without a token belongs to; null where a token is required. */
  readonly defaultTenant: Tenant | null
  readonly reader: AccessReader
}

/** Who is at the other end of a realtime connection, and what the directory says about them. */
export class RealtimeAccess {
  readonly #options: RealtimeAccessOptions

  constructor(options: RealtimeAccessOptions) {
    this.#options = options
  }

  /**
   * A token that is given is checked, also where none is required.
   * @param origin header of that name; undefined: not from a page
   * @throws TokenRefused
   */
  async identityOf(token: string | null, origin: string | undefined): Promise<Identity> {
    const identity = await this.#bearerOf(token)
    if (!(await this.#isAllowed(identity, origin))) throw new TokenRefused('origin')
    return identity
  }

  /** Why somebody who was let in must leave now; null when they may stay. */
  async refusalOf(identity: Identity, origin: string | undefined): Promise<TokenRefused | null> {
    if (await this.#options.tokens.isRevoked(identity)) return new TokenRefused('revoked')
    return (await this.#isAllowed(identity, origin)) ? null : new TokenRefused('origin')
  }

  /** What the directory says now about a user and a document. */
  accessOf({ userId }: Identity, address: DocumentAddress): Promise<DocumentAccess> {
    return this.#options.reader.read(address, address.documentId, userId)
  }

  /** Calls when `accessOf` may have changed; null: for anybody. Returns the function that ends it. */
  onChange(listener: (change: AccessChange | null) => void): () => void {
    return this.#options.news.onChange(listener)
  }

  /** Calls when `refusalOf` may have changed for those whom `concerns` picks. Returns the function that ends it. */
  onWithdrawal(listener: (concerns: (identity: Identity) => boolean) => void): () => void {
    return this.#options.news.onWithdrawal((withdrawal) =>
      listener((identity) => withdrawal === null || isConcerned(identity, withdrawal)),
    )
  }

  /** To be called for who is let in: has both told of changes, also those that the bus loses. Returns its end. */
  follow(address: DocumentAddress): () => void {
    return this.#options.news.follow(address)
  }

  #bearerOf(token: string | null): Promise<Identity> {
    const { tokens, defaultTenant } = this.#options
    if (token !== null && token !== '') return tokens.verify(token)
    if (defaultTenant !== null) return Promise.resolve(anonymous(defaultTenant))
    return Promise.reject(new TokenRefused('missing'))
  }

  async #isAllowed({ tenant }: Identity, origin: string | undefined): Promise<boolean> {
    return origin === undefined || (await this.#options.origins.isAllowed(tenant, origin))
  }
}

function isConcerned({ tenant, userId }: Identity, withdrawal: Withdrawal): boolean {
  const { workspaceId, apiKey } = withdrawal.tenant
  if (tenant.workspaceId !== workspaceId || tenant.apiKey !== apiKey) return false
  return withdrawal.kind === 'domains' || withdrawal.userId === userId
}

import type { Tenant } from '../model/address.ts'
import { anonymous, type Identity } from './identity.ts'
import { TokenRefused, type Tokens } from './tokens.ts'

export interface RealtimeAccessOptions {
  readonly tokens: Tokens
  /** Whom a connection without a token belongs to; null where a token is required. */
  readonly defaultTenant: Tenant | null
}

/** Who is at the other end of a realtime connection. */
export class RealtimeAccess {
  readonly #options: RealtimeAccessOptions

  constructor(options: RealtimeAccessOptions) {
    this.#options = options
  }

  /** A token that is given is checked, also where none is required. @throws TokenRefused */
  identityOf(token: string | null): Promise<Identity> {
    const { tokens, defaultTenant } = this.#options
    if (token !== null && token !== '') return tokens.verify(token)
    if (defaultTenant !== null) return Promise.resolve(anonymous(defaultTenant))
    return Promise.reject(new TokenRefused('missing'))
  }
}

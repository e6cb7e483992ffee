import type { Clock } from '../clock.ts'
import type { DomainService } from '../directory/tenants/domain-service.ts'
import { keyName } from '../engine/key-encoding.ts'
import type { Tenant } from '../model/address.ts'
import { domainsOf, isAllowedOrigin } from '../model/domain.ts'
import type { AccessChangeFeed } from './access-change-feed.ts'
import { TtlCache } from './ttl-cache.ts'

/** API keys whose domains are remembered. */
const cachedOriginsMax = 1_000

const nameOf = ({ workspaceId, apiKey }: Tenant): string => keyName([workspaceId, apiKey])

export interface OriginsOptions {
  readonly domains: DomainService
  readonly news: AccessChangeFeed
  readonly clock: Clock
  /** Of the pages that come from this server, such as `https://docs.example.com`. */
  readonly own: string
}

/** Which pages may use which API key: our own always. What changes acts at once. */
export class AllowedOrigins {
  readonly #domains: DomainService
  readonly #own: string
  readonly #cache: TtlCache<readonly string[]>

  constructor({ domains, news, clock, own }: OriginsOptions) {
    this.#domains = domains
    this.#own = own
    this.#cache = new TtlCache({ clock, max: cachedOriginsMax, keepMs: news.keepMs })
    news.onWithdrawal((withdrawal) => {
      if (withdrawal === null) this.#cache.forgetAll()
      else if (withdrawal.kind === 'domains') this.#cache.forget(nameOf(withdrawal.tenant))
    })
  }

  /**
   * @param origin as in the header `Origin`
   * @param domains what besides has to allow it, such as those of an auth token; none: nothing
   */
  async isAllowed(tenant: Tenant, origin: string, domains: readonly string[] = []): Promise<boolean> {
    if (origin === this.#own) return true
    return isAllowedOrigin(domains, origin) && isAllowedOrigin(await this.#domainsOf(tenant), origin)
  }

  /** Whether any API key lists a domain of the origin: only then it is told what it may do. */
  isKnown(origin: string): Promise<boolean> {
    return this.#domains.isAnyListed(domainsOf(origin))
  }

  #domainsOf(tenant: Tenant): Promise<readonly string[]> {
    return this.#cache.get(nameOf(tenant), () => this.#domains.list(tenant))
  }
}

import type { Clock } from '../base/clock.ts'
import { TtlCache } from '../base/ttl-cache.ts'
import type { DomainService } from '../directory/tenants/domain-service.ts'
import type { Tenant } from '../model/address.ts'
import { domainsOf, isAllowedOrigin } from '../model/domain.ts'
import { tenantName } from '../store/key-encoding.ts'
import type { AccessChangeFeed } from './access-change-feed.ts'

/** Maximum number of API keys whose domains are cached. */
const cachedOriginsMax = 1_000

/**
 * Decides which pages may use an API key. The pages of this server may use every API key. Changes of the
 * allowed domains take effect immediately.
 */
export class AllowedOrigins {
  readonly #domains: DomainService
  readonly #own: string
  readonly #cache: TtlCache<readonly string[]>

  /** @param own origin of the pages of this server, such as `https://docs.example.com` */
  constructor(domains: DomainService, news: AccessChangeFeed, clock: Clock, own: string) {
    this.#domains = domains
    this.#own = own
    this.#cache = new TtlCache(clock, news.keepMs, cachedOriginsMax)
    news.onWithdrawal((withdrawal) => {
      if (withdrawal === null) this.#cache.forgetAll()
      else if (withdrawal.kind === 'domains') this.#cache.forget(tenantName(withdrawal.tenant))
    })
  }

  /**
   * Returns whether a page may use an API key.
   * @param origin value of the header `Origin`
   * @param domains domains to which the origin must also belong, such as those of an auth token; empty: no
   * additional condition
   */
  async isAllowed(tenant: Tenant, origin: string, domains: readonly string[] = []): Promise<boolean> {
    if (origin === this.#own) return true
    return isAllowedOrigin(domains, origin) && isAllowedOrigin(await this.#domainsOf(tenant), origin)
  }

  /**
   * Returns whether a page is one of this server, or belongs to a domain that the API key lists. In contrast to
   * `isAllowed`, an API key without domains lists no page.
   */
  async isListed(tenant: Tenant, origin: string): Promise<boolean> {
    if (origin === this.#own) return true
    const domains = await this.#domainsOf(tenant)
    return domains.length > 0 && isAllowedOrigin(domains, origin)
  }

  /**
   * Returns whether any API key lists a domain to which the origin belongs. Otherwise the response must not
   * contain CORS headers.
   */
  isKnown(origin: string): Promise<boolean> {
    return this.#domains.isAnyListed(domainsOf(origin))
  }

  #domainsOf(tenant: Tenant): Promise<readonly string[]> {
    return this.#cache.get(tenantName(tenant), () => this.#domains.list(tenant))
  }
}

import type { Domains } from '../directory/domains.ts'
import { decodeWithdrawal, withdrawalTopic } from '../directory/withdrawal.ts'
import type { Bus } from '../engine/engine.ts'
import { keyName } from '../engine/keys.ts'
import type { Tenant } from '../model/address.ts'
import { domainsOf, isAllowedOrigin } from '../model/domain.ts'

/** API keys whose domains are remembered; of more the ones remembered longest are forgotten. */
const rememberedMax = 1_000

const nameOf = ({ workspaceId, apiKey }: Tenant): string => keyName([workspaceId, apiKey])

/** Which pages may use which API key. What changes acts at once. */
export class Origins {
  readonly #domains: Domains
  readonly #remembered = new Map<string, Promise<readonly string[]>>()

  constructor(domains: Domains, bus: Bus) {
    this.#domains = domains
    bus.subscribe(withdrawalTopic, (message) => {
      const { kind, tenant } = decodeWithdrawal(message)
      if (kind === 'domains') this.#remembered.delete(nameOf(tenant))
      return undefined
    })
    bus.onLoss(() => this.#remembered.clear())
  }

  /** @param origin as in the header `Origin` */
  async isAllowed(tenant: Tenant, origin: string): Promise<boolean> {
    return isAllowedOrigin(await this.#domainsOf(tenant), origin)
  }

  /** Whether any API key lists a domain of the origin: only then it is told what it may do. */
  isKnown(origin: string): Promise<boolean> {
    return this.#domains.isAnyListed(domainsOf(origin))
  }

  /** The question is remembered, not the answer: one that a change overtakes is forgotten with it. */
  #domainsOf(tenant: Tenant): Promise<readonly string[]> {
    const name = nameOf(tenant)
    const remembered = this.#remembered.get(name)
    if (remembered !== undefined) return remembered
    const asked = this.#domains.list(tenant)
    this.#remembered.set(name, asked)
    asked.catch(() => this.#remembered.delete(name))
    const [oldest] = this.#remembered.keys()
    if (this.#remembered.size > rememberedMax && oldest !== undefined) this.#remembered.delete(oldest)
    return asked
  }
}

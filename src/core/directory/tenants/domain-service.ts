import { ApiError } from '../../base/errors.ts'
import type { Tenant } from '../../model/address.ts'
import type { Bus } from '../../store/engine.ts'
import { domainsFence } from '../organizations/access-change.ts'
import {
  type CounterRecord,
  counterRecordType,
  type DomainsRecord,
  domainsRecordType,
} from '../store/records.ts'
import type { Transaction } from '../store/transaction.ts'
import type { TenantStore } from './tenant-store.ts'
import { credentialsRevokedTopic } from './token-revocations.ts'
import { workspaceKeys } from './workspace-keys.ts'

/** Maximum number of domains of one API key. */
export const domainsMax = 1_000

/**
 * The domains that a call has changed (`changed`), and the domains that were already in the requested state
 * (`skipped`).
 */
export interface DomainsChange {
  readonly changed: readonly string[]
  readonly skipped: readonly string[]
}

/**
 * Manages the domains whose pages may use an API key. All domains are in the form that `normalizeDomain`
 * returns.
 */
export class DomainService {
  readonly #tenants: TenantStore
  readonly #bus: Bus

  constructor(tenants: TenantStore, bus: Bus) {
    this.#tenants = tenants
    this.#bus = bus
  }

  /**
   * Returns the domains, sorted by the time at which they were added. If the list is empty, pages of all
   * domains are allowed.
   */
  list(tenant: Tenant): Promise<readonly string[]> {
    return listDomains(this.#tenants.read(), tenant)
  }

  /** Returns whether any API key has at least one of `domains` in its list. */
  async isAnyListed(domains: readonly string[]): Promise<boolean> {
    const uses = await this.#tenants.read().getAll(domains.map(workspaceKeys.domainUses))
    return uses.some((record) => record !== null)
  }

  /**
   * Adds domains.
   * @throws ApiError FAILED_PRECONDITION if the limit would be exceeded; no domain is added then
   */
  add(tenant: Tenant, domains: readonly string[]): Promise<DomainsChange> {
    return this.#change(tenant, (transaction) => writeNewDomains(transaction, tenant, domains))
  }

  remove(tenant: Tenant, domains: readonly string[]): Promise<DomainsChange> {
    return this.#change(tenant, (transaction) => removeDomains(transaction, tenant, domains))
  }

  async #change(
    tenant: Tenant,
    work: (transaction: Transaction) => Promise<DomainsChange>,
  ): Promise<DomainsChange> {
    const change = await this.#tenants.change((transaction) => {
      transaction.raise([domainsFence(tenant)])
      return work(transaction)
    })
    if (change.changed.length > 0) credentialsRevokedTopic.publish(this.#bus, { kind: 'domains', tenant })
    return change
  }
}

/** Like `DomainService.add`, but as a part of the commit of `transaction`. */
export async function writeNewDomains(
  transaction: Transaction,
  tenant: Tenant,
  domains: readonly string[],
): Promise<DomainsChange> {
  const present = await listDomains(transaction, tenant)
  const { hit, missed } = split(domains, present)
  if (present.length + missed.length > domainsMax)
    throw new ApiError('domain/too-many', `an API key has at most ${domainsMax} domains; delete some`)
  write(transaction, tenant, [...present, ...missed])
  await count(transaction, missed, 1)
  return { changed: missed, skipped: hit }
}

async function removeDomains(
  transaction: Transaction,
  tenant: Tenant,
  domains: readonly string[],
): Promise<DomainsChange> {
  const present = await listDomains(transaction, tenant)
  const { hit, missed } = split(domains, present)
  const removed = new Set(hit)
  const left = present.filter((domain) => !removed.has(domain))
  write(transaction, tenant, left)
  await count(transaction, hit, -1)
  return { changed: hit, skipped: missed }
}

async function listDomains(transaction: Transaction, tenant: Tenant): Promise<readonly string[]> {
  return (await transaction.get(workspaceKeys.domains(tenant), domainsRecordType))?.domains ?? []
}

/** Splits `domains` into those that are in `present` and those that are not. Removes duplicates. */
function split(domains: readonly string[], present: readonly string[]) {
  const there = new Set(present)
  const distinct = [...new Set(domains)]
  return {
    hit: distinct.filter((domain) => there.has(domain)),
    missed: distinct.filter((domain) => !there.has(domain)),
  }
}

function write(transaction: Transaction, tenant: Tenant, domains: readonly string[]): void {
  const key = workspaceKeys.domains(tenant)
  if (domains.length === 0) transaction.delete(key)
  else transaction.put(key, { domains } satisfies DomainsRecord)
}

/** Updates the index that contains, for each domain, the number of API keys that list it. */
async function count(transaction: Transaction, domains: readonly string[], by: 1 | -1): Promise<void> {
  const keys = domains.map(workspaceKeys.domainUses)
  const records = await transaction.getAll(keys, counterRecordType)
  for (const [index, key] of keys.entries()) {
    const next = (records[index]?.count ?? 0) + by
    if (next <= 0) transaction.delete(key)
    else transaction.put(key, { count: next } satisfies CounterRecord)
  }
}

import {
  keys,
  type OrganizationScope,
  organizationPart,
  tenantKeys,
  tenantPart,
} from '../directory/organizations/organization-keys.ts'
import { type AccessChange, accessTopic, decodeAccessChange } from '../directory/permissions/access-change.ts'
import {
  type CredentialsRevoked,
  credentialsRevokedTopic,
  decodeCredentialsRevoked,
} from '../directory/tenants/credentials-revoked.ts'
import { workspaceKeys, workspacesPart } from '../directory/tenants/workspace-keys.ts'
import type { Engine, ForeignChanges } from '../engine/engine.ts'

export interface AccessChangeFeedDependencies {
  readonly engine: Pick<Engine, 'bus' | 'foreignChanges'>
}

/** Receives a change; null: any access may have changed. */
type AccessListener<Change> = (change: Change | null) => void

/**
 * Reports changes of rights and credentials. A change is reported immediately when the bus delivers its
 * message. If the bus has lost the message, the change is found in the store within some seconds. Listeners
 * are called in the order in which they were added, so that an earlier listener evicts its values before a
 * later one reads.
 */
export class AccessChangeFeed {
  /** Time in ms for which a value from the store may be cached. */
  readonly keepMs: number
  readonly #stored: ForeignChanges
  readonly #changes = new Set<AccessListener<AccessChange>>()
  readonly #withdrawals = new Set<AccessListener<CredentialsRevoked>>()
  readonly #subscriptions: readonly (() => void)[]

  constructor({ engine: { bus, foreignChanges } }: AccessChangeFeedDependencies) {
    this.keepMs = foreignChanges.maxAgeMs
    this.#stored = foreignChanges
    this.#subscriptions = [
      bus.subscribe(accessTopic, (message) => {
        this.#changed(decodeAccessChange(message))
        return undefined
      }),
      bus.subscribe(credentialsRevokedTopic, (message) => {
        this.#withdrawn(decodeCredentialsRevoked(message))
        return undefined
      }),
      bus.onLoss(() => {
        this.#changed(null)
        this.#withdrawn(null)
      }),
    ]
  }

  /** Registers a listener. Returns the function that removes it. */
  onChange(listener: AccessListener<AccessChange>): () => void {
    this.#changes.add(listener)
    return () => this.#changes.delete(listener)
  }

  /** Registers a listener. Returns the function that removes it. */
  onWithdrawal(listener: AccessListener<CredentialsRevoked>): () => void {
    this.#withdrawals.add(listener)
    return () => this.#withdrawals.delete(listener)
  }

  /**
   * Watches the changes of an organization and of its API key. Call it while a user of the organization is
   * connected. Returns a function that ends the watch.
   */
  follow(scope: OrganizationScope): () => void {
    const { workspaceId, apiKey, organizationId } = scope
    const tenant = { workspaceId, apiKey }
    const everything = { scope: { ...tenant, organizationId }, documents: [], users: [], all: true }
    const withdrawn = (): void => this.#withdrawn({ kind: 'domains', tenant })
    const watches = [
      this.#stored.watch(organizationPart(scope), keys.accessMark, () => this.#changed(everything)),
      this.#stored.watch(tenantPart(tenant), tenantKeys.revocationMark, withdrawn),
      this.#stored.watch(workspacesPart, workspaceKeys.domains(tenant), withdrawn),
      this.#stored.watch(workspacesPart, workspaceKeys.mintingSecrets(tenant), () =>
        this.#withdrawn({ kind: 'mintingSecrets', tenant }),
      ),
    ]
    return () => {
      for (const end of watches) end()
    }
  }

  /** Ends all subscriptions: nothing is reported any more. */
  end(): void {
    for (const unsubscribe of this.#subscriptions) unsubscribe()
  }

  #changed(change: AccessChange | null): void {
    for (const listener of this.#changes) listener(change)
  }

  #withdrawn(withdrawal: CredentialsRevoked | null): void {
    for (const listener of this.#withdrawals) listener(withdrawal)
  }
}

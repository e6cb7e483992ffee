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

/** Null: whatever may have changed. */
type AccessListener<Change> = (change: Change | null) => void

/**
 * Reports changes of rights and credentials: at once when the bus delivers a message, and within some seconds when the bus
 * has lost it, because the store shows the change. It calls listeners in the order in which they were added, so that an
 * earlier one forgets its values before a later one reads.
 */
export class AccessChangeFeed {
  /** How long what was read may be remembered without being read again, in ms. */
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

  /** Returns the function that ends it. */
  onChange(listener: AccessListener<AccessChange>): () => void {
    this.#changes.add(listener)
    return () => this.#changes.delete(listener)
  }

  /** Likewise. */
  onWithdrawal(listener: AccessListener<CredentialsRevoked>): () => void {
    this.#withdrawals.add(listener)
    return () => this.#withdrawals.delete(listener)
  }

  /** Somebody is in whom changes in an organization, and of its API key, concern. Returns the function that ends it. */
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

  /** Tells nothing more. */
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

import { type AccessChange, accessTopic } from '../directory/organizations/access-change.ts'
import {
  keys,
  type OrganizationScope,
  organizationPart,
  tenantKeys,
  tenantPart,
} from '../directory/organizations/organization-keys.ts'
import { type CredentialsRevoked, credentialsRevokedTopic } from '../directory/tenants/token-revocations.ts'
import { workspaceKeys, workspacesPart } from '../directory/tenants/workspace-keys.ts'
import type { Engine, ForeignChanges } from '../store/engine.ts'

/** Receives a change. Null: any access may have changed. */
type AccessListener<Change> = (change: Change | null) => void

/**
 * Reports changes of rights and credentials. A change is reported as soon as the bus delivers its message. If
 * the bus has lost the message, the feed finds the change in the store within some seconds. The listeners are
 * called in the order in which they were added. So a listener that evicts cached values must be added before
 * a listener that reads them.
 */
export class AccessChangeFeed {
  /** Time in ms for which a value that was read from the store may be cached. Infinity: no other process writes to it. */
  readonly keepMs: number
  readonly #stored: ForeignChanges
  readonly #changes = new Set<AccessListener<AccessChange>>()
  readonly #withdrawals = new Set<AccessListener<CredentialsRevoked>>()
  readonly #subscriptions: readonly (() => void)[]

  constructor({ bus, foreignChanges }: Pick<Engine, 'bus' | 'foreignChanges'>) {
    this.keepMs = foreignChanges.maxAgeMs
    this.#stored = foreignChanges
    this.#subscriptions = [
      accessTopic.subscribe(bus, (change) => this.#changed(change)),
      credentialsRevokedTopic.subscribe(bus, (withdrawal) => this.#withdrawn(withdrawal)),
      bus.onLoss(() => {
        this.#changed(null)
        this.#withdrawn(null)
      }),
    ]
  }

  /** Registers a listener for changes of rights. Returns the function that removes the listener. */
  onChange(listener: AccessListener<AccessChange>): () => void {
    this.#changes.add(listener)
    return () => this.#changes.delete(listener)
  }

  /**
   * Registers a listener for credentials that may no longer be valid. Returns the function that removes the
   * listener.
   */
  onWithdrawal(listener: AccessListener<CredentialsRevoked>): () => void {
    this.#withdrawals.add(listener)
    return () => this.#withdrawals.delete(listener)
  }

  /**
   * Watches the stored changes of an organization and of its API key. Call this method for each connected
   * user of the organization, so that changes are also found if the bus loses their messages. Returns the
   * function that ends the watch.
   */
  follow(scope: OrganizationScope): () => void {
    if (this.keepMs === Number.POSITIVE_INFINITY) return nothingToEnd
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

  /** Ends the subscriptions to the bus. Its messages are no longer reported. */
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

const nothingToEnd = (): void => {}

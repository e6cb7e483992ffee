import type { AccessRole } from '../../directory/store/records.ts'
import type { DocumentAddress, Tenant } from '../../model/address.ts'
import type { Identity } from '../identity.ts'

/** A decision of the backend of an API key about a user and an editor. */
export type RoleDecision =
  /** The backend gives this role; null: none. */
  | { readonly kind: 'role'; readonly role: AccessRole | null; readonly until: number }
  /** The backend could not be asked, and the access type decides. */
  | { readonly kind: 'stored'; readonly until: number }
  /** The backend could not be asked, and the user gets no access at the moment. */
  | { readonly kind: 'failed'; readonly until: number }

/**
 * Asks the backends of API keys about users whom no grant gives a role. `until` of a decision is the time in
 * epoch milliseconds from which the backend should be asked again.
 */
export interface RoleDecider {
  /** Returns whether the API key has a callback that decides. @throws StoreUnavailableError */
  decides(tenant: Tenant): Promise<boolean>
  /** Returns the decision; null if the API key has no callback for it. @throws StoreUnavailableError */
  decide(identity: Identity, address: DocumentAddress): Promise<RoleDecision | null>
  /**
   * Returns the latest decision without asking, also for a minute after its `until`; null if there is none.
   */
  known(identity: Identity, address: DocumentAddress): RoleDecision | null
  /** Asks again for a client that is connected. `known` then returns the result. Never rejects. */
  renew(identity: Identity, address: DocumentAddress): Promise<void>
}

/** For servers without callbacks. */
export const noDecider: RoleDecider = {
  decides: () => Promise.resolve(false),
  decide: () => Promise.resolve(null),
  known: () => null,
  renew: () => Promise.resolve(),
}

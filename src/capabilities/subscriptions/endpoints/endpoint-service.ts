import type { Clock } from '../../../core/base/clock.ts'
import { CredentialGenerator } from '../../../core/directory/tenants/workspace-service.ts'
import type { Tenant } from '../../../core/model/address.ts'
import { generateSecret, rotateSecret } from '../../../core/outgoing/sign.ts'
import { readRecord } from '../../../core/store/stored-record.ts'
import { serveJob } from '../deliveries/delivery-keys.ts'
import { type CursorPage, type ListingCursor, pageAt } from '../deliveries/listing-cursor.ts'
import { subscriptionLimits as limits } from '../limits.ts'
import { subscriptionKeys as keys } from '../subscription-keys.ts'
import type { SubscriptionStore } from '../subscription-store.ts'
import { checkAdvanced } from '../webhook-config-service.ts'
import { type DisabledBy, type EndpointRecord, endpointRecordType } from '../webhook-records.ts'
import {
  changedEndpoint,
  type EndpointChange,
  endpointOf,
  type NewEndpoint,
  putNewEndpoint,
} from './endpoint-records.ts'

/**
 * Manages the endpoints of API keys. Callers identify an endpoint by its id or its uid. Operations of users
 * throw ApiError FAILED_PRECONDITION if advanced webhooks are not enabled, and NOT_FOUND if the endpoint does
 * not exist.
 */
export class EndpointService {
  readonly #store: SubscriptionStore
  readonly #clock: Clock
  readonly #generator = new CredentialGenerator()

  constructor(store: SubscriptionStore, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /**
   * Creates an endpoint.
   * @throws ApiError ALREADY_EXISTS if another endpoint has the uid; FAILED_PRECONDITION if the API key has
   * the maximum number of endpoints
   */
  create(tenant: Tenant, { disabled, ...described }: NewEndpoint): Promise<EndpointRecord> {
    const now = this.#clock.now()
    const endpoint: EndpointRecord = {
      ...described,
      id: this.#generator.id('ep'),
      disabledBy: disabled ? 'user' : null,
      enabledSince: now,
      createdAt: now,
      updatedAt: now,
      secret: generateSecret(),
      previousSecret: null,
    }
    return this.#store.change(tenant, async (transaction) => {
      await checkAdvanced(transaction)
      await putNewEndpoint(transaction, endpoint)
      return endpoint
    })
  }

  /** Returns a page of endpoints, sorted by id. */
  async list(
    tenant: Tenant,
    cursor: ListingCursor | null,
    limit: number,
  ): Promise<CursorPage<EndpointRecord>> {
    const reader = this.#store.read(tenant)
    await checkAdvanced(reader)
    const entries = await reader.scan({ prefix: keys.endpoints, limit: limits.endpoints })
    const endpoints = entries.map((entry) => readRecord(endpointRecordType, entry))
    return pageAt(endpoints, ({ id }) => id, cursor, limit)
  }

  async find(tenant: Tenant, idOrUid: string): Promise<EndpointRecord> {
    const reader = this.#store.read(tenant)
    await checkAdvanced(reader)
    return endpointOf(reader, idOrUid)
  }

  update(tenant: Tenant, idOrUid: string, change: EndpointChange): Promise<EndpointRecord> {
    return this.#change(tenant, idOrUid, (endpoint) => changedEndpoint(endpoint, change, this.#clock.now()))
  }

  /** Deletes an endpoint. Returns the deleted record. */
  delete(tenant: Tenant, idOrUid: string): Promise<EndpointRecord> {
    return this.#store.change(tenant, async (transaction) => {
      await checkAdvanced(transaction)
      const endpoint = await endpointOf(transaction, idOrUid)
      transaction.delete(keys.endpoint(endpoint.id))
      // The worker that runs this job finds that the endpoint is deleted. The worker then removes the
      // messages of the endpoint.
      transaction.enqueue(serveJob({ ...tenant, targetId: endpoint.id }, this.#clock.now()))
      if (endpoint.uid !== null) transaction.delete(keys.endpointOfUid(endpoint.uid))
      return endpoint
    })
  }

  /**
   * Replaces the signing secret. The previous secret continues to sign for `graceSeconds`, in addition to the
   * new one. Older secrets no longer sign.
   */
  rotateSecret(tenant: Tenant, idOrUid: string, graceSeconds: number): Promise<EndpointRecord> {
    const secret = generateSecret()
    return this.#change(tenant, idOrUid, (endpoint) =>
      rotateSecret(endpoint, secret, graceSeconds, this.#clock.now()),
    )
  }

  /**
   * Disables an endpoint because its deliveries failed. If the endpoint is already deleted or disabled, does
   * nothing.
   */
  disable(tenant: Tenant, id: string, by: Exclude<DisabledBy, 'user'>): Promise<void> {
    return this.#store.change(tenant, async (transaction) => {
      const endpoint = await transaction.get(keys.endpoint(id), endpointRecordType)
      if (endpoint === null || endpoint.disabledBy !== null) return
      transaction.put(keys.endpoint(id), { ...endpoint, disabledBy: by, updatedAt: this.#clock.now() })
    })
  }

  #change(
    tenant: Tenant,
    idOrUid: string,
    next: (endpoint: EndpointRecord) => EndpointRecord,
  ): Promise<EndpointRecord> {
    return this.#store.change(tenant, async (transaction) => {
      await checkAdvanced(transaction)
      const endpoint = next(await endpointOf(transaction, idOrUid))
      transaction.put(keys.endpoint(endpoint.id), endpoint)
      return endpoint
    })
  }
}

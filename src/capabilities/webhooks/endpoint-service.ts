import type { Clock } from '../../core/base/clock.ts'
import { ApiError } from '../../core/base/errors.ts'
import * as s from '../../core/base/schema.ts'
import type { Transaction } from '../../core/directory/store/transaction.ts'
import { CredentialGenerator } from '../../core/directory/tenants/workspace-service.ts'
import type { Tenant } from '../../core/model/address.ts'
import { generateSecret, rotateSecret } from '../../core/outgoing/sign.ts'
import { type CursorPage, type ListingCursor, pageAtCursor, serveJob } from './deliveries/delivery-keys.ts'
import { subscriptionLimits as limits } from './limits.ts'
import type { SubscriptionCache } from './subscription-cache.ts'
import { checkAdvanced, given, type PatchOf } from './webhook-config-service.ts'
import {
  type DisabledBy,
  type EndpointRecord,
  endpointRecordType,
  fixedTargetIds,
  subscriptionKeys as keys,
} from './webhook-records.ts'

/**
 * Manages the endpoints of API keys. Callers identify an endpoint by its id or its uid. Operations of users
 * throw ApiError FAILED_PRECONDITION if advanced webhooks are not enabled, and NOT_FOUND if the endpoint does
 * not exist.
 */
export class EndpointService {
  readonly #store: SubscriptionCache
  readonly #clock: Clock
  readonly #generator = new CredentialGenerator()

  constructor(store: SubscriptionCache, clock: Clock) {
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
    const listing = { reader, prefix: keys.endpoints, reverse: false, keyOf: keys.endpoint }
    return pageAtCursor({ ...listing, type: endpointRecordType }, cursor, limit)
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

/** The members of an endpoint that callers set. */
export interface NewEndpoint
  extends Pick<
    EndpointRecord,
    'url' | 'description' | 'filterTypes' | 'channels' | 'rateLimit' | 'metadata' | 'uid'
  > {
  readonly disabled: boolean
}

/** Changes to the members of an endpoint. Absent members stay unchanged. */
type EndpointChange = PatchOf<Omit<NewEndpoint, 'uid'>>

/** Index entry under a uid. It contains the id of the endpoint that has this uid. */
const uidRecordType = {
  name: 'uid of a webhook endpoint',
  schema: s.object({ endpointId: s.string }),
}
type UidRecord = s.TypeOf<typeof uidRecordType.schema>

/**
 * Returns the endpoint with this id. If no endpoint has this id, returns the endpoint with this uid.
 * @throws ApiError NOT_FOUND if no endpoint has this id or uid
 */
async function endpointOf(transaction: Transaction, idOrUid: string): Promise<EndpointRecord> {
  const find = (id: string) => transaction.get(keys.endpoint(id), endpointRecordType)
  const known = await transaction.get(keys.endpointOfUid(idOrUid), uidRecordType)
  const endpoint = (await find(idOrUid)) ?? (known && (await find(known.endpointId)))
  if (endpoint === null)
    throw new ApiError('webhook/endpoint-not-found', 'the endpoint does not exist; check its id')
  return endpoint
}

/**
 * Adds an endpoint. A uid must not be equal to the id of another endpoint, because a search for this uid
 * would find the other endpoint.
 * @throws ApiError ALREADY_EXISTS if another endpoint has the uid as its uid or id; FAILED_PRECONDITION if
 * the API key has the maximum number of endpoints
 */
async function putNewEndpoint(transaction: Transaction, endpoint: EndpointRecord): Promise<void> {
  const { id, uid } = endpoint
  const others = await transaction.scan({ prefix: keys.endpoints, limit: limits.endpoints })
  if (others.length >= limits.endpoints)
    throw new ApiError(
      'webhook/too-many-endpoints',
      `an API key has at most ${limits.endpoints} endpoints; delete some`,
    )
  if (uid !== null) {
    const taken = [keys.endpointOfUid(uid), keys.endpoint(uid)]
    const isTaken = (await transaction.getAll(taken)).some((record) => record !== null)
    if (isTaken || fixedTargetIds.includes(uid))
      throw new ApiError('webhook/uid-taken', 'another endpoint has that uid, or that id; choose another')
    transaction.put(keys.endpointOfUid(uid), { endpointId: id } satisfies UidRecord)
  }
  transaction.put(keys.endpoint(id), endpoint)
}

/** Returns the endpoint with the changes applied. @param now current time in epoch milliseconds */
function changedEndpoint(
  endpoint: EndpointRecord,
  { disabled, ...change }: EndpointChange,
  now: number,
): EndpointRecord {
  const described: EndpointRecord = { ...endpoint, ...given(change), updatedAt: now }
  if (disabled === true) return { ...described, disabledBy: endpoint.disabledBy ?? 'user' }
  if (disabled === false && endpoint.disabledBy !== null)
    return { ...described, disabledBy: null, enabledSince: now }
  return described
}

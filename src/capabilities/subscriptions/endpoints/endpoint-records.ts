import { ApiError } from '../../../core/base/errors.ts'
import * as s from '../../../core/base/schema.ts'
import type { Transaction } from '../../../core/directory/store/transaction.ts'
import type { RecordType } from '../../../core/store/stored-record.ts'
import { fixedTargetIds } from '../event-recipient.ts'
import { subscriptionLimits as limits } from '../limits.ts'
import { subscriptionKeys as keys } from '../subscription-keys.ts'
import { type EndpointRecord, endpointRecordType } from '../webhook-records.ts'

/** Members of an endpoint that callers set. */
type Described = Pick<
  EndpointRecord,
  'url' | 'description' | 'filterTypes' | 'channels' | 'rateLimit' | 'metadata'
>

export interface NewEndpoint extends Described, Pick<EndpointRecord, 'uid'> {
  readonly disabled: boolean
}

/** Changes to the members of an endpoint. Absent members stay unchanged. */
export type EndpointChange = { readonly [K in keyof Described]?: Described[K] | undefined } & {
  readonly disabled?: boolean | undefined
}

/** Index entry under a uid. It contains the id of the endpoint that has this uid. */
interface UidRecord {
  readonly endpointId: string
}

const uidRecordType: RecordType<UidRecord> = {
  name: 'uid of a webhook endpoint',
  schema: s.object({ endpointId: s.string }),
}

/**
 * Returns the endpoint with this id. If no endpoint has this id, returns the endpoint with this uid.
 * @throws ApiError NOT_FOUND if no endpoint has this id or uid
 */
export async function endpointOf(transaction: Transaction, idOrUid: string): Promise<EndpointRecord> {
  const ofId = await transaction.get(keys.endpoint(idOrUid), endpointRecordType)
  const endpoint = ofId ?? (await endpointOfUid(transaction, idOrUid))
  if (endpoint === null)
    throw new ApiError('webhook/endpoint-not-found', 'the endpoint does not exist; check its id')
  return endpoint
}

async function endpointOfUid(transaction: Transaction, uid: string): Promise<EndpointRecord | null> {
  const known = await transaction.get(keys.endpointOfUid(uid), uidRecordType)
  return known === null ? null : transaction.get(keys.endpoint(known.endpointId), endpointRecordType)
}

/**
 * Adds an endpoint. A uid must not be equal to the id of another endpoint, because a search for this uid
 * would find the other endpoint.
 * @throws ApiError ALREADY_EXISTS if another endpoint has the uid as its uid or id; FAILED_PRECONDITION if
 * the API key has the maximum number of endpoints
 */
export async function putNewEndpoint(transaction: Transaction, endpoint: EndpointRecord): Promise<void> {
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
export function changedEndpoint(
  endpoint: EndpointRecord,
  { disabled, ...change }: EndpointChange,
  now: number,
): EndpointRecord {
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
  const described: EndpointRecord = { ...endpoint, ...given, updatedAt: now }
  if (disabled === true) return { ...described, disabledBy: endpoint.disabledBy ?? 'user' }
  if (disabled === false && endpoint.disabledBy !== null)
    return { ...described, disabledBy: null, enabledSince: now }
  return described
}

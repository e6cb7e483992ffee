import type { Transaction } from '../../directory/store/transaction.ts'
import { ApiError } from '../../errors.ts'
import { basicTargetIds } from '../event-recipient.ts'
import { subscriptionLimits as limits } from '../limits.ts'
import { subscriptionKeys as keys } from '../subscription-keys.ts'
import type { EndpointRecord } from '../webhook-records.ts'

/** What callers say of an endpoint. */
type Described = Pick<
  EndpointRecord,
  'url' | 'description' | 'filterTypes' | 'channels' | 'rateLimit' | 'metadata'
>

export interface NewEndpoint extends Described, Pick<EndpointRecord, 'uid'> {
  readonly disabled: boolean
}

/** What is left out stays. */
export type EndpointChange = { readonly [K in keyof Described]?: Described[K] | undefined } & {
  readonly disabled?: boolean | undefined
}

/** Index: which endpoint has a uid. */
interface UidRecord {
  readonly endpointId: string
}

/** @throws ApiError NOT_FOUND when there is no endpoint of that id, nor of that uid */
export async function endpointOf(transaction: Transaction, idOrUid: string): Promise<EndpointRecord> {
  const ofId = await transaction.get<EndpointRecord>(keys.endpoint(idOrUid))
  const endpoint = ofId ?? (await endpointOfUid(transaction, idOrUid))
  if (endpoint === null)
    throw new ApiError('webhook/endpoint-not-found', 'the endpoint does not exist; check its id')
  return endpoint
}

async function endpointOfUid(transaction: Transaction, uid: string): Promise<EndpointRecord | null> {
  const known = await transaction.get<UidRecord>(keys.endpointOfUid(uid))
  return known === null ? null : transaction.get<EndpointRecord>(keys.endpoint(known.endpointId))
}

/**
 * A uid that names something else already would name that, and not its endpoint.
 * @throws ApiError ALREADY_EXISTS when another has the uid or that id; FAILED_PRECONDITION when there are as many as there can be
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
    const isTaken = (await transaction.getAll<object>(taken)).some((record) => record !== null)
    if (isTaken || basicTargetIds.includes(uid))
      throw new ApiError('webhook/uid-taken', 'another endpoint has that uid, or that id; choose another')
    transaction.put(keys.endpointOfUid(uid), { endpointId: id } satisfies UidRecord)
  }
  transaction.put(keys.endpoint(id), endpoint)
}

/** The endpoint after a change. @param now epoch milliseconds */
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

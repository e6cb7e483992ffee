import type { Tenant } from '../../../core/model/address.ts'
import type { Kv } from '../../../core/store/engine.ts'
import { lastSegment } from '../../../core/store/key-encoding.ts'
import { basicTargetIds, fixedTargetIds } from '../event-recipient.ts'
import { subscriptionLimits } from '../limits.ts'
import { subscriptionKeys as keys, subscriptionsPart } from '../subscription-keys.ts'
import type { TargetAddress } from './delivery-records.ts'

/** Returns the ids of all targets that may have messages. The result includes inactive targets. */
export async function allTargetIds(kv: Kv, tenant: Tenant): Promise<readonly string[]> {
  const range = { prefix: keys.endpoints, limit: subscriptionLimits.endpoints }
  const entries = await kv.scan(subscriptionsPart(tenant), range)
  return [...fixedTargetIds, ...entries.map(({ key }) => lastSegment(key))]
}

/**
 * Returns whether the messages of a target that is off must be removed. This is so for a deleted endpoint, whose id
 * is never used again, and for the callback `store`.
 */
export async function isTargetRemoved(kv: Kv, { targetId, ...tenant }: TargetAddress): Promise<boolean> {
  if (basicTargetIds.includes(targetId)) return false
  const [endpoint] = await kv.get(subscriptionsPart(tenant), [keys.endpoint(targetId)])
  return endpoint === null
}

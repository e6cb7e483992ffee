import { type CountRecord, decodeRecord } from '../directory/records.ts'
import type { Kv } from '../engine/engine.ts'
import { type EventType, eventTypes } from '../events/outbound.ts'
import type { Tenant } from '../model/address.ts'
import { noAdvancedConfig, noBasicConfig } from './defaults.ts'
import { subscriptionKeys as keys, subscriptionsPart } from './keys.ts'
import { subscriptionLimits } from './limits.ts'
import type { AdvancedConfig, BasicConfig, EndpointRecord } from './records.ts'
import { openTargets, type Target, wantsType } from './target.ts'

/** Of what there is besides the records. */
const overheadBytes = 512

/** What an API key had configured at some revision. */
export interface Snapshot {
  readonly revision: number
  /** To whom anything is sent. */
  readonly targets: readonly Target[]
  /** Types of events that somebody wants to be told of. */
  readonly types: ReadonlySet<EventType>
  /** What it takes to remember it, roughly. */
  readonly bytes: number
}

/** How often an API key has changed what it has configured. */
export async function readRevision(kv: Kv, tenant: Tenant): Promise<number> {
  const [bytes = null] = await kv.get(subscriptionsPart(tenant), [keys.revision])
  return bytes === null ? 0 : (decodeRecord(bytes) as CountRecord).count
}

/** Of a revision that is read first: what is newer counts as older, and is read once more. */
export async function readSnapshot(kv: Kv, tenant: Tenant): Promise<Snapshot> {
  const part = subscriptionsPart(tenant)
  const revision = await readRevision(kv, tenant)
  const [[basic = null, advanced = null], entries] = await Promise.all([
    kv.get(part, [keys.basic, keys.advanced]),
    kv.scan(part, { prefix: keys.endpoints, limit: subscriptionLimits.endpoints }),
  ])
  const targets = openTargets({
    basic: basic === null ? noBasicConfig : (decodeRecord(basic) as BasicConfig),
    advanced: advanced === null ? noAdvancedConfig : (decodeRecord(advanced) as AdvancedConfig),
    endpoints: entries.map(({ value }) => decodeRecord(value) as EndpointRecord),
  })
  const types = new Set(eventTypes.filter((type) => targets.some((target) => wantsType(target, type))))
  const sizes = [basic, advanced, ...entries.map(({ value }) => value)].map((value) => value?.length ?? 0)
  return { revision, targets, types, bytes: sizes.reduce((sum, size) => sum + size, overheadBytes) }
}

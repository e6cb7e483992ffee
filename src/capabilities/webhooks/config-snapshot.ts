import { counterRecordType } from '../../core/directory/store/records.ts'
import { type EventType, eventTypes } from '../../core/events/outbound-event.ts'
import type { Tenant } from '../../core/model/address.ts'
import type { Key, Kv } from '../../core/store/engine.ts'
import { type RecordType, readRecord } from '../../core/store/stored-record.ts'
import { type CallbacksRecord, callbacksRecordType, withFunctions } from './callback-records.ts'
import { subscriptionLimits } from './limits.ts'
import { basicTargets, endpointTargets, storeTargets, type WebhookTarget, wantsType } from './target.ts'
import {
  advancedConfigType,
  basicConfigType,
  endpointRecordType,
  type FeedConfig,
  feedConfigType,
  subscriptionKeys as keys,
  noAdvancedConfig,
  noBasicConfig,
  noFeedConfig,
  subscriptionsPart,
  typesForFeed,
} from './webhook-records.ts'

/** Estimated memory in bytes that a snapshot needs in addition to its records. */
const overheadBytes = 512

/** The configuration of the webhooks and of the feed of an API key at one revision. */
export interface ConfigSnapshot {
  readonly revision: number
  /** Targets that can receive events. */
  readonly targets: readonly WebhookTarget[]
  readonly feed: FeedConfig
  /** Event types that must be recorded, because at least one target or the feed wants them. */
  readonly types: ReadonlySet<EventType>
  /** The callbacks; null if none are configured. */
  readonly callbacks: CallbacksRecord | null
  /** Estimated memory of the snapshot in bytes. */
  readonly bytes: number
}

/** Returns whether changes of content must be recorded: for the change feed, or for the callback `store`. */
export const wantsChanges = ({ feed, callbacks }: ConfigSnapshot): boolean =>
  feed.enabled || (callbacks?.store ?? null) !== null

/**
 * Returns the revision of an API key's webhook configuration. The revision is the number of changes so far.
 */
export async function readConfigRevision(kv: Kv, tenant: Tenant): Promise<number> {
  const [bytes = null] = await kv.get(subscriptionsPart(tenant), [keys.revision])
  return bytes === null ? 0 : readRecord(counterRecordType, { key: keys.revision, value: bytes }).count
}

/**
 * Reads the webhook configuration of an API key. The revision is read before the rest: if the configuration
 * changes during the read, the snapshot has an outdated revision, and is read again later.
 * @param functions callbacks that are functions of this process; null if there are none
 */
export async function readConfigSnapshot(
  kv: Kv,
  tenant: Tenant,
  functions: CallbacksRecord | null = null,
): Promise<ConfigSnapshot> {
  const part = subscriptionsPart(tenant)
  const revision = await readConfigRevision(kv, tenant)
  const recordKeys: readonly Key[] = [keys.basic, keys.advanced, keys.feed, keys.callbacks]
  const [values, entries] = await Promise.all([
    kv.get(part, recordKeys),
    kv.scan(part, { prefix: keys.endpoints, limit: subscriptionLimits.endpoints }),
  ])
  const stored = <R extends object>(key: Key, type: RecordType<R>): R | null => {
    const value = values[recordKeys.indexOf(key)] ?? null
    return value === null ? null : readRecord(type, { key, value })
  }
  const callbacks = withFunctions(stored(keys.callbacks, callbacksRecordType), functions)
  const advanced = stored(keys.advanced, advancedConfigType) ?? noAdvancedConfig
  const endpoints = entries.map((entry) => readRecord(endpointRecordType, entry))
  const targets = [
    ...basicTargets(stored(keys.basic, basicConfigType) ?? noBasicConfig),
    ...endpointTargets(advanced, endpoints),
    ...storeTargets(callbacks),
  ]
  const feed = stored(keys.feed, feedConfigType) ?? noFeedConfig
  const types = new Set([
    ...eventTypes.filter((type) => targets.some((target) => wantsType(target, type))),
    ...(feed.enabled ? typesForFeed : []),
  ])
  const sizes = [...values, ...entries.map(({ value }) => value)].map((value) => value?.length ?? 0)
  return {
    revision,
    targets,
    feed,
    types,
    callbacks,
    bytes: sizes.reduce((sum, size) => sum + size, overheadBytes),
  }
}

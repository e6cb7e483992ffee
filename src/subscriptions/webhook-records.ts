import * as v from 'valibot'
import type { RecordType } from '../directory/store/records.ts'

/** A switch, or the switches of the members of a group by name. */
export type TriggerValue = boolean | Readonly<Record<string, boolean>>

/**
 * The events that the basic service sends, by type; an absent type is not sent. `enableDataProtection` is one of the
 * names. Groups, and names without events, are stored as given and switch nothing themselves.
 */
export type Triggers = Readonly<Record<string, TriggerValue>>

/** The basic webhook service of an API key. Before the first change: `false`, empty strings and no triggers. */
export interface BasicConfig {
  readonly useWebhookService: boolean
  readonly webhookServiceConfig: BasicServiceConfig
}

export interface BasicServiceConfig {
  /** Value of the `authorization` header after `Basic `; '' for no header. */
  readonly authToken: string
  /** '' for none, as for `processedNotificationUrl`. Both URLs get every enabled event. */
  readonly rawNotificationUrl: string
  readonly processedNotificationUrl: string
  /** Sends base64 instead of JSON; `encryptData` takes precedence. */
  readonly encodeData: boolean
  readonly encryptData: boolean
  /** A PEM file or its base64 body, SPKI or PKCS#1; '' for none. */
  readonly publicKey: string
  /** Equals the trigger with this name. Present only if a caller has set it next to the triggers. */
  readonly enableDataProtection?: boolean
  readonly triggers: Triggers
}

/** Settings that apply to all advanced endpoints of an API key. */
export interface AdvancedConfig {
  readonly isEnabled: boolean
  readonly encryptData: boolean
  readonly encodeData: boolean
  readonly publicKey: string
  /** True if payloads must not contain names, e-mail addresses and content. They still contain ids. */
  readonly enableDataProtection: boolean
}

/** Why an endpoint is disabled. */
export type DisabledBy =
  | 'user'
  /** It answered 410. */
  | 'gone'
  /** All attempts of five days failed. */
  | 'failures'

/** A receiver of events. */
export interface EndpointRecord {
  readonly id: string
  readonly url: string
  readonly description: string | null
  /** Null for all types. May include types that Weft does not have. */
  readonly filterTypes: readonly string[] | null
  /** Ids of organizations and documents; the endpoint gets events that belong to one of them. Null for all events. */
  readonly channels: readonly string[] | null
  readonly disabledBy: DisabledBy | null
  /** Epoch milliseconds of its creation, or of when it was last enabled. Earlier failures do not count. */
  readonly enabledSince: number
  /** Attempts per second; null for no limit. */
  readonly rateLimit: number | null
  /** Unique among the endpoints of the API key. */
  readonly uid: string | null
  readonly metadata: Readonly<Record<string, string>> | null
  /** Epoch milliseconds, as is `updatedAt`. */
  readonly createdAt: number
  readonly updatedAt: number
  /** `whsec_` and base64 of 32 random bytes. */
  readonly secret: string
  /** The secret that also signs until `until` (epoch milliseconds); null for none. */
  readonly previousSecret: { readonly secret: string; readonly until: number } | null
}

const triggersSchema = v.record(v.string(), v.union([v.boolean(), v.record(v.string(), v.boolean())]))

export const basicConfigType: RecordType<BasicConfig> = {
  name: 'basic webhook configuration',
  schema: v.looseObject({
    useWebhookService: v.boolean(),
    webhookServiceConfig: v.looseObject({
      authToken: v.string(),
      rawNotificationUrl: v.string(),
      processedNotificationUrl: v.string(),
      encodeData: v.boolean(),
      encryptData: v.boolean(),
      publicKey: v.string(),
      enableDataProtection: v.exactOptional(v.boolean()),
      triggers: triggersSchema,
    }),
  }),
}

export const advancedConfigType: RecordType<AdvancedConfig> = {
  name: 'advanced webhook configuration',
  schema: v.looseObject({
    isEnabled: v.boolean(),
    encryptData: v.boolean(),
    encodeData: v.boolean(),
    publicKey: v.string(),
    enableDataProtection: v.boolean(),
  }),
}

const texts = v.array(v.string())

export const endpointRecordType: RecordType<EndpointRecord> = {
  name: 'webhook endpoint',
  schema: v.looseObject({
    id: v.string(),
    url: v.string(),
    description: v.nullable(v.string()),
    filterTypes: v.nullable(texts),
    channels: v.nullable(texts),
    // A newer version may have other reasons.
    disabledBy: v.nullable(v.custom<DisabledBy>((by) => typeof by === 'string')),
    enabledSince: v.number(),
    rateLimit: v.nullable(v.number()),
    uid: v.nullable(v.string()),
    metadata: v.nullable(v.record(v.string(), v.string())),
    createdAt: v.number(),
    updatedAt: v.number(),
    secret: v.string(),
    previousSecret: v.nullable(v.looseObject({ secret: v.string(), until: v.number() })),
  }),
}

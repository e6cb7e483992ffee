import * as v from 'valibot'
import type { RecordType } from '../directory/store/records.ts'

/** A switch; or, for a group, a map of switches by name. */
export type TriggerValue = boolean | Readonly<Record<string, boolean>>

/**
 * The events that the basic service sends, by type; an absent type is not sent. `enableDataProtection` is one
 * of the names. Names of groups, and names without an event, are stored as given, and switch nothing
 * themselves.
 */
export type Triggers = Readonly<Record<string, TriggerValue>>

/** The basic webhook service of an API key. Before the first change: `false`, empty strings and no triggers. */
export interface BasicConfig {
  readonly useWebhookService: boolean
  readonly webhookServiceConfig: BasicServiceConfig
}

export interface BasicServiceConfig {
  /** Value of the `authorization` header after `Basic `; empty: no header. */
  readonly authToken: string
  /**
   * Empty: no URL; the same for `processedNotificationUrl`. Each of the two URLs gets every enabled event.
   */
  readonly rawNotificationUrl: string
  readonly processedNotificationUrl: string
  /** Sends base64 instead of JSON. `encryptData` takes precedence. */
  readonly encodeData: boolean
  readonly encryptData: boolean
  /** A PEM file or its base64 body, as SPKI or PKCS#1; empty: no key. */
  readonly publicKey: string
  /**
   * The same value as the trigger with this name. Present only if a caller has set it outside of `triggers`.
   */
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
  /** The endpoint responded with 410. */
  | 'gone'
  /** All attempts failed for five days. */
  | 'failures'

/** A receiver of events. */
export interface EndpointRecord {
  readonly id: string
  readonly url: string
  readonly description: string | null
  /** Types of the events that the endpoint gets; null: all. May include types that Weft does not have. */
  readonly filterTypes: readonly string[] | null
  /**
   * Ids of organizations and documents: the endpoint gets events that belong to one of them. Null: all
   * events.
   */
  readonly channels: readonly string[] | null
  readonly disabledBy: DisabledBy | null
  /**
   * Time in epoch milliseconds at which the endpoint was created or last enabled. Earlier failures do not
   * count.
   */
  readonly enabledSince: number
  /** Maximum number of attempts per second; null: no limit. */
  readonly rateLimit: number | null
  /** Id that the caller has chosen; unique among the endpoints of the API key. */
  readonly uid: string | null
  readonly metadata: Readonly<Record<string, string>> | null
  /** Epoch milliseconds, like `updatedAt`. */
  readonly createdAt: number
  readonly updatedAt: number
  /** `whsec_`, followed by the base64 of 32 random bytes. */
  readonly secret: string
  /** The secret that also signs until `until` (epoch milliseconds); null: none. */
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
    // A newer version may have reasons that this one does not know.
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

import * as v from 'valibot'
import type { ReadingFormat } from '../content/read-document.ts'
import type { RecordType } from '../engine/stored-record.ts'

/** Switches an event on or off. For a group, the value can also be a map of switches by name. */
export type TriggerValue = boolean | Readonly<Record<string, boolean>>

/**
 * Switches for the events that the basic service sends, by event type. An event whose type is absent is not
 * sent. `enableDataProtection` is also one of the names. Names of groups and names without an event are
 * stored as given, but switch nothing after they are stored.
 */
export type Triggers = Readonly<Record<string, TriggerValue>>

/**
 * Configuration of the basic webhook service of an API key. Before the first change it has `false`, empty
 * strings, and no triggers.
 */
export interface BasicConfig {
  readonly useWebhookService: boolean
  readonly webhookServiceConfig: BasicServiceConfig
}

export interface BasicServiceConfig {
  /** Value of the `authorization` header after `Basic `. If it is empty, no header is sent. */
  readonly authToken: string
  /**
   * URL for events in the raw form; empty if there is no URL. `processedNotificationUrl` is the URL for the
   * processed form. Each of the two URLs gets every enabled event.
   */
  readonly rawNotificationUrl: string
  readonly processedNotificationUrl: string
  /** Whether bodies are sent as base64 instead of JSON. `encryptData` takes precedence. */
  readonly encodeData: boolean
  readonly encryptData: boolean
  /**
   * Public key as a PEM file, or as the base64 body of one, in the form SPKI or PKCS#1. Empty if there is no
   * key.
   */
  readonly publicKey: string
  /**
   * Same value as that of the trigger with this name. Present only if a caller has set it outside of
   * `triggers`.
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

/** Reason why an endpoint is disabled. */
export type DisabledBy =
  | 'user'
  /** The endpoint responded with the status 410. */
  | 'gone'
  /** All attempts failed for five days. */
  | 'failures'

/** A receiver of events. */
export interface EndpointRecord {
  readonly id: string
  readonly url: string
  readonly description: string | null
  /**
   * Types of the events that the endpoint gets; null for all types. The list may include types that Weft does
   * not have.
   */
  readonly filterTypes: readonly string[] | null
  /**
   * Ids of organizations and documents. The endpoint gets only events that belong to one of them; null for
   * all events.
   */
  readonly channels: readonly string[] | null
  readonly disabledBy: DisabledBy | null
  /**
   * Time in epoch milliseconds at which the endpoint was created or last enabled. Failures before this time
   * do not count.
   */
  readonly enabledSince: number
  /** Maximum number of attempts per second; null if there is no limit. */
  readonly rateLimit: number | null
  /**
   * Format in which `crdt.update_data` contains the content of the editor; null or absent: without content.
   */
  readonly contentFormat?: ReadingFormat | null
  /** Id that the caller has chosen. It is unique among the endpoints of the API key. */
  readonly uid: string | null
  readonly metadata: Readonly<Record<string, string>> | null
  /** Time of the creation in epoch milliseconds. `updatedAt` is the time of the last change. */
  readonly createdAt: number
  readonly updatedAt: number
  /** Signing secret: `whsec_`, followed by 32 random bytes in base64. */
  readonly secret: string
  /**
   * The previous signing secret, which also signs until `until` (epoch milliseconds); null if there is none.
   */
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
    // A newer version of Weft may store reasons that this version does not know.
    disabledBy: v.nullable(v.custom<DisabledBy>((by) => typeof by === 'string')),
    enabledSince: v.number(),
    rateLimit: v.nullable(v.number()),
    // A newer version of Weft may store formats that this version does not know.
    contentFormat: v.exactOptional(
      v.nullable(v.custom<ReadingFormat>((format) => typeof format === 'string')),
    ),
    uid: v.nullable(v.string()),
    metadata: v.nullable(v.record(v.string(), v.string())),
    createdAt: v.number(),
    updatedAt: v.number(),
    secret: v.string(),
    previousSecret: v.nullable(v.looseObject({ secret: v.string(), until: v.number() })),
  }),
}

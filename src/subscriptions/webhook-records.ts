/** A switch, or the switches of the members of a group by name. */
export type TriggerValue = boolean | Readonly<Record<string, boolean>>

/**
 * Which events the basic service sends, by type; a type that is absent is not sent. `enableDataProtection` is one of
 * the names. Groups, and names without events, are stored as they were given and switch nothing themselves.
 */
export type Triggers = Readonly<Record<string, TriggerValue>>

/** The basic webhook service of an API key. Never set: `false`, empty strings and no triggers. */
export interface BasicConfig {
  readonly useWebhookService: boolean
  readonly webhookServiceConfig: BasicServiceConfig
}

export interface BasicServiceConfig {
  /** Sent with every request, as it is; '' for none. */
  readonly authToken: string
  /** '' for none, as is the other. Both get every event that is enabled. */
  readonly rawNotificationUrl: string
  readonly processedNotificationUrl: string
  /** base64 instead of JSON; `encryptData` wins over it. */
  readonly encodeData: boolean
  readonly encryptData: boolean
  /** A PEM file or its base64 body, SPKI or PKCS#1; '' for none. */
  readonly publicKey: string
  /** Equals the trigger of this name; present only if it was ever given next to the triggers. */
  readonly enableDataProtection?: boolean
  readonly triggers: Triggers
}

/** What holds for all advanced endpoints of an API key. */
export interface AdvancedConfig {
  readonly isEnabled: boolean
  readonly encryptData: boolean
  readonly encodeData: boolean
  readonly publicKey: string
  /** Names, e-mail addresses and content stay away from payloads; ids are in them. */
  readonly enableDataProtection: boolean
}

/** Why an endpoint is disabled. */
export type DisabledBy =
  | 'user'
  /** It answered 410. */
  | 'gone'
  /** Nothing but failures for five days. */
  | 'failures'

/** A receiver of events. */
export interface EndpointRecord {
  readonly id: string
  readonly url: string
  readonly description: string | null
  /** Null: all types. May include types that Weft does not have. */
  readonly filterTypes: readonly string[] | null
  /** Organization and document ids; an event is told if it belongs to one of them. Null: all. */
  readonly channels: readonly string[] | null
  readonly disabledBy: DisabledBy | null
  /** Epoch milliseconds of when it was made, or enabled again: failures before that do not count. */
  readonly enabledSince: number
  /** Deliveries a second; null: no limit. */
  readonly rateLimit: number | null
  /** Unique among the endpoints of the API key. */
  readonly uid: string | null
  readonly metadata: Readonly<Record<string, string>> | null
  /** Epoch milliseconds, as is `updatedAt`. */
  readonly createdAt: number
  readonly updatedAt: number
  /** `whsec_` and base64 of 32 random bytes. */
  readonly secret: string
  /** Signs, too, until then (epoch milliseconds). */
  readonly previousSecret: { readonly secret: string; readonly until: number } | null
}

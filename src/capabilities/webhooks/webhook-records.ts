import * as s from '../../core/base/schema.ts'
import { type EventType, eventTypes } from '../../core/events/outbound-event.ts'
import type { Tenant } from '../../core/model/address.ts'
import type { Key } from '../../core/store/engine.ts'

/** The configuration of an API key that has never configured its feed. The feed then keeps events for a week. */
export const noFeedConfig: FeedConfig = { enabled: false, keepSeconds: 604_800 }

/** Configuration of the change feed of an API key. */
export const feedConfigType = {
  name: 'configuration of a feed',
  schema: s.object({
    enabled: s.boolean,
    /** Time in seconds for which the feed keeps an event. */
    keepSeconds: s.number,
  }),
}
export type FeedConfig = s.TypeOf<typeof feedConfigType.schema>

/** Types of events that are about webhooks themselves. The feed does not contain them. */
const typesOfWebhooks: readonly EventType[] = ['webhook.test', 'message.attempt.exhausted']

/** Types of the events that the feed gets from webhook events. */
export const feedEventTypes = eventTypes.filter((type) => !typesOfWebhooks.includes(type))

/**
 * Types of the events that must be recorded for a feed. The feed records the changes of content itself, because
 * its events form a chain of versions.
 */
export const typesForFeed = feedEventTypes.filter((type) => type !== 'crdt.update_data')

/** Switches an event on or off. For a group, the value can also be a map of switches by name. */
export type TriggerValue = boolean | Readonly<Record<string, boolean>>

/**
 * Switches for the events that the basic service sends, by event type. An event whose type is absent is not
 * sent. `enableDataProtection` is also one of the names. Names of groups and names without an event are
 * stored as given, but switch nothing after they are stored.
 */
export type Triggers = Readonly<Record<string, TriggerValue>>

/** Reason why an endpoint is disabled. */
export type DisabledBy =
  | 'user'
  /** The endpoint responded with the status 410. */
  | 'gone'
  /** All attempts failed for five days. */
  | 'failures'

const triggersSchema = s.map(s.anyOf([s.boolean, s.map(s.boolean)]))

const basicServiceSchema = s.object(
  {
    /** Value of the `authorization` header after `Basic `. If it is empty, no header is sent. */
    authToken: s.string,
    /**
     * URL for events in the raw form; empty if there is no URL. `processedNotificationUrl` is the URL for the
     * processed form. Each of the two URLs gets every enabled event.
     */
    rawNotificationUrl: s.string,
    processedNotificationUrl: s.string,
    /** Whether bodies are sent as base64 instead of JSON. `encryptData` takes precedence. */
    encodeData: s.boolean,
    encryptData: s.boolean,
    /**
     * Public key as a PEM file, or as the base64 body of one, in the form SPKI or PKCS#1. Empty if there is no
     * key.
     */
    publicKey: s.string,
    triggers: triggersSchema,
  },
  {
    /**
     * Same value as that of the trigger with this name. Present only if a caller has set it outside of
     * `triggers`.
     */
    enableDataProtection: s.boolean,
  },
)
export type BasicServiceConfig = s.TypeOf<typeof basicServiceSchema>

/**
 * Configuration of the basic webhook service of an API key. Before the first change it has `false`, empty
 * strings, and no triggers.
 */
export const basicConfigType = {
  name: 'basic webhook configuration',
  schema: s.object({
    useWebhookService: s.boolean,
    webhookServiceConfig: basicServiceSchema,
  }),
}
export type BasicConfig = s.TypeOf<typeof basicConfigType.schema>

/** Settings that apply to all advanced endpoints of an API key. */
export const advancedConfigType = {
  name: 'advanced webhook configuration',
  schema: s.object({
    isEnabled: s.boolean,
    encryptData: s.boolean,
    encodeData: s.boolean,
    publicKey: s.string,
    /** True if payloads must not contain names, e-mail addresses and content. They still contain ids. */
    enableDataProtection: s.boolean,
  }),
}
export type AdvancedConfig = s.TypeOf<typeof advancedConfigType.schema>

const texts = s.array(s.string)

/** A receiver of events. */
export const endpointRecordType = {
  name: 'webhook endpoint',
  schema: s.object({
    id: s.string,
    url: s.string,
    description: s.orNull(s.string),
    /**
     * Types of the events that the endpoint gets; null for all types. The list may include types that Weft does
     * not have.
     */
    filterTypes: s.orNull(texts),
    /**
     * Ids of organizations and documents. The endpoint gets only events that belong to one of them; null for
     * all events.
     */
    channels: s.orNull(texts),
    // A newer version of Weft may store reasons that this version does not know.
    disabledBy: s.orNull(s.trusted<DisabledBy>(s.string)),
    /**
     * Time in epoch milliseconds at which the endpoint was created or last enabled. Failures before this time
     * do not count.
     */
    enabledSince: s.number,
    /** Maximum number of attempts per second; null if there is no limit. */
    rateLimit: s.orNull(s.number),
    /** Id that the caller has chosen. It is unique among the endpoints of the API key. */
    uid: s.orNull(s.string),
    metadata: s.orNull(s.map(s.string)),
    /** Time of the creation in epoch milliseconds. `updatedAt` is the time of the last change. */
    createdAt: s.number,
    updatedAt: s.number,
    /** Signing secret: `whsec_`, followed by 32 random bytes in base64. */
    secret: s.string,
    /**
     * The previous signing secret, which also signs until `until` (epoch milliseconds); null if there is none.
     */
    previousSecret: s.orNull(s.object({ secret: s.string, until: s.number })),
  }),
}
export type EndpointRecord = s.TypeOf<typeof endpointRecordType.schema>

/** Configuration of the basic service before the first change. */
export const noBasicConfig: BasicConfig = {
  useWebhookService: false,
  webhookServiceConfig: {
    authToken: '',
    rawNotificationUrl: '',
    processedNotificationUrl: '',
    encodeData: false,
    encryptData: false,
    publicKey: '',
    triggers: {},
  },
}

/** Configuration of advanced webhooks before the first change. */
export const noAdvancedConfig: AdvancedConfig = {
  isEnabled: false,
  encryptData: false,
  encodeData: false,
  publicKey: '',
  enableDataProtection: false,
}

/**
 * Returns the partition with the configuration of the webhooks, the callbacks and the change feed of an API key. The
 * whole configuration is in one partition, so that each change is one commit.
 */
export const subscriptionsPart = ({ workspaceId, apiKey }: Tenant): Key => ['webhooks', workspaceId, apiKey]

export const subscriptionKeys = {
  /** Number of changes. Every change writes this key, so that concurrent changes conflict. */
  revision: ['revision'],
  basic: ['basic'],
  advanced: ['advanced'],
  /** The callbacks, in one record. */
  callbacks: ['callbacks'],
  /** Configuration of the change feed. */
  feed: ['feed'],
  endpoints: ['endpoints'],
  endpoint: (id: string): Key => ['endpoints', id],
  /** Index: the endpoint that has a uid. */
  endpointOfUid: (uid: string): Key => ['endpointOfUid', uid],
}

/** The forms in which the basic service sends events. Each form has its own URL. */
export const basicForms = ['raw', 'processed'] as const
export type BasicForm = (typeof basicForms)[number]

export const basicTargetId = (form: BasicForm): string => `basic-${form}`

/** Ids of the two basic targets, which every API key has. */
export const basicTargetIds: readonly string[] = basicForms.map(basicTargetId)

/**
 * Ids of the targets of the callback `store`. Each sends one request at a time, so this is also the number of
 * requests that an application gets at a time.
 */
export const storeTargetIds: readonly string[] = Array.from({ length: 8 }, (_, index) => `store-${index}`)

/** Ids of the targets that are not endpoints. */
export const fixedTargetIds: readonly string[] = [...basicTargetIds, ...storeTargetIds]

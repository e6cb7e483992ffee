/** What one API key may configure. */
export const subscriptionLimits = {
  /** All are looked at when an event is told. */
  endpoints: 100,
  /** Channels of one endpoint. */
  channels: 100,
  /** Event types of one endpoint. */
  filterTypes: 100,
  /** Characters of the name of an event type. */
  eventType: 200,
  /** JSON of all triggers of the basic service. */
  triggersBytes: 16_384,
  /** JSON of one endpoint's metadata. */
  metadataBytes: 4_096,
  /** Characters of a URL. */
  url: 2_000,
  description: 2_000,
  authToken: 2_000,
  /** Characters: the body of a key of `publicKeyBits.max` is shorter. */
  publicKey: 4_000,
  /** 30 days: for which a replaced secret signs, too, at most. */
  graceSeconds: 2_592_000,
} as const

/** Limits of the configuration of one API key. */
export const subscriptionLimits = {
  /** Endpoints of the API key. Each event is compared with all of them. */
  endpoints: 100,
  /** Channels of one endpoint. */
  channels: 100,
  /** Event types of one endpoint. */
  filterTypes: 100,
  /** Characters of the name of an event type. */
  eventType: 200,
  /** Bytes of all triggers of the basic service as JSON. */
  triggersBytes: 16_384,
  /** Bytes of one endpoint's metadata as JSON. */
  metadataBytes: 4_096,
  /** Characters of a URL. */
  url: 2_000,
  description: 2_000,
  authToken: 2_000,
  /** Characters of a public key. The body of a key with `publicKeyBits.max` bits is shorter. */
  publicKey: 4_000,
  /** Maximum time in seconds for which a replaced secret also signs (30 days). */
  graceSeconds: 2_592_000,
} as const

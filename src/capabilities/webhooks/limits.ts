/** Limits of the configuration of one API key. */
export const subscriptionLimits = {
  /** Maximum number of endpoints. Each event is compared with all endpoints of its API key. */
  endpoints: 250,
  /** Maximum number of channels of one endpoint. */
  channels: 100,
  /** Maximum number of event types of one endpoint. */
  filterTypes: 100,
  /** Maximum length of the name of an event type, in characters. */
  eventType: 200,
  /** Maximum size of all triggers of the basic service as JSON, in bytes. */
  triggersBytes: 16_384,
  /** Maximum size of one endpoint's metadata as JSON, in bytes. */
  metadataBytes: 4_096,
  /** Maximum length of a URL in characters. The next two limits are also in characters. */
  url: 2_000,
  description: 2_000,
  authToken: 2_000,
  /**
   * Maximum length of a public key in characters. The base64 body of a key with `publicKeyBits.max` bits is
   * shorter.
   */
  publicKey: 4_000,
  /** Maximum timeout of a call of a callback in ms. */
  callbackMs: 30_000,
  /** Maximum of the minimum time in seconds between two deliveries of `store` (1 day). */
  storeSeconds: 86_400,
  /** Maximum time in seconds for which a replaced secret also signs (30 days). */
  graceSeconds: 2_592_000,
} as const

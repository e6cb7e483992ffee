/** Names of the values in a sample of the metrics history. Durations are in seconds, and memory is in bytes. */
export const historyNames = [
  'connections',
  'updatesPerSecond',
  'commitP50',
  'commitP99',
  'loopP50',
  'loopP99',
  'webhookQueue',
  'memory',
] as const

import type { CommitListeners, RemoteUpdates } from '../../../../src/core/rooms/log/commits.ts'

/** Runs everything without a thread. */
export const remoteUpdates: RemoteUpdates = {
  split: (foreign) => [foreign],
  isExpensive: () => false,
  place: () => Promise.resolve(),
  apply: () => undefined,
}

export const listening = (listeners: Partial<CommitListeners> = {}): CommitListeners => ({
  durable: () => undefined,
  accepted: () => undefined,
  failed: () => undefined,
  appended: () => undefined,
  remote: () => remoteUpdates,
  ...listeners,
})

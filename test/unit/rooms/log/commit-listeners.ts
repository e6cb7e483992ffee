import type { CommittingRoom, RemoteUpdates } from '../../../../src/core/rooms/log/commits.ts'

/** Runs everything without a thread. */
export const remoteUpdates: RemoteUpdates = {
  split: (foreign) => [foreign],
  isExpensive: () => false,
  place: () => Promise.resolve(),
  apply: () => undefined,
}

export const listening = (listeners: Partial<CommittingRoom> = {}): CommittingRoom => ({
  trace: undefined,
  replica: remoteUpdates,
  broadcast: () => undefined,
  accepted: () => undefined,
  fail: () => undefined,
  notifyNodes: () => undefined,
  ...listeners,
})

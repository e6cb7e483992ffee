import type { CommittingRoom } from '../../../../src/core/rooms/log/commits.ts'

export const listening = (listeners: Partial<CommittingRoom> = {}): CommittingRoom => ({
  trace: undefined,
  broadcast: () => undefined,
  accepted: () => undefined,
  fail: () => undefined,
  ...listeners,
})

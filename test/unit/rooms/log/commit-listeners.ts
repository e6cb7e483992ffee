import type { CommittingRoom } from '../../../../src/core/rooms/log/commit-queue.ts'

export const listening = (listeners: Partial<CommittingRoom> = {}): CommittingRoom => ({
  term: { bucket: 0, value: 1 },
  trace: undefined,
  record: () => Promise.resolve(),
  broadcast: () => undefined,
  accepted: () => undefined,
  fail: () => undefined,
  ...listeners,
})

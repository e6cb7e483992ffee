import type { Clock } from '../../base/clock.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import type { Commits, RemoteUpdates } from '../log/commits.ts'
import type { RemoteAppend } from '../log/read-log-since.ts'
import type { ThreadPool } from '../threads/thread-pool.ts'
import { type AppliedUpdate, UpdateBroadcast } from '../updates/broadcast.ts'
import type { RoomTrace } from '../updates/room-trace.ts'
import type { UpdateApplier } from '../updates/update-applier.ts'
import { applyRemote } from './apply-remote.ts'
import { type PlacingRoom, RemotePlacing } from './remote-placing.ts'
import { describeMessage, type ReplicaMessage } from './replica-messages.ts'

/** The parts of a room that its replica uses. */
interface ReplicaOwner extends PlacingRoom {
  readonly commits: Commits
  readonly applier: UpdateApplier
  readonly trace?: RoomTrace | undefined
  /** Runs `work`, which applies updates on the event loop, and charges its time to the workspace. */
  readonly charged: <T>(updates: number, work: () => T) => T
  /** Counts updates that other nodes have added to the log. */
  readonly added: (updates: readonly AppliedUpdate[]) => void
  readonly send: (broadcast: UpdateBroadcast) => void
  readonly commit: (updates: readonly AppliedUpdate[], since: number) => void
}

interface ReplicaOptions {
  readonly clock: Clock
  readonly metrics: Metrics
  /** Threads that integrate expensive updates of other nodes. */
  readonly mergers: ThreadPool
}

/**
 * Maximum milliseconds for which arriving updates wait for another node, even if that node requests a longer
 * time.
 */
const waitMsMax = 2_000

/** Receives the messages of other nodes that append to the log of a document, and applies their updates. */
export class Replica implements RemoteUpdates {
  readonly #room: ReplicaOwner
  readonly #clock: Clock
  readonly #counts: Metrics['updates']
  readonly #placing: RemotePlacing
  /** Ends the pause for another node; null while there is no such pause. */
  #endWaiting: (() => void) | null = null

  constructor(room: ReplicaOwner, { clock, metrics, mergers }: ReplicaOptions) {
    this.#room = room
    this.#clock = clock
    this.#counts = metrics.updates
    this.#placing = new RemotePlacing(room, mergers)
  }

  receive(message: ReplicaMessage): void {
    const { commits, trace } = this.#room
    if (trace !== undefined) trace.of()?.('node_received', describeMessage(message))
    if (message.is === 'appended') commits.received(message.notice)
    else if (message.is === 'changed') commits.catchUp()
    else this.#waitFor(message.ms)
  }

  split(foreign: readonly RemoteAppend[]): readonly (readonly RemoteAppend[])[] {
    return this.#placing.split(foreign)
  }

  isExpensive(part: readonly RemoteAppend[]): boolean {
    return this.#placing.isExpensive(part)
  }

  place(part: readonly RemoteAppend[]): Promise<void> {
    return this.#placing.place(part)
  }

  apply(foreign: readonly RemoteAppend[]): void {
    const { state, commits, applier, added, send, commit, charged } = this.#room
    const now = this.#clock.now()
    const placed = this.#placing.take()
    const updates = charged(foreign.length, () => applyRemote(state, foreign, { commits, placed }))
    this.#counts.node += updates.length
    added(updates)
    commits.whileBroadcasting(new UpdateBroadcast(updates, now), send)
    const retried = applier.retry()
    if (retried.length > 0) commit(retried, now)
    this.#endPauses()
  }

  /** Ends all pauses. Must be called when the room is closed. */
  close(): void {
    this.#endPauses()
  }

  #endPauses(): void {
    this.#placing.end()
    this.#endWaiting?.()
    this.#endWaiting = null
  }

  /**
   * Lets updates that arrive at this node wait, because another node must write first. The pause is at most
   * `waitMsMax`, because the other node may have died.
   */
  #waitFor(ms: number): void {
    const { lock, endTick } = this.#room
    if (lock.held !== null) return
    endTick()
    const letGo = lock.hold(endTick)
    const cancel = this.#clock.after(Math.min(ms, waitMsMax), letGo)
    this.#endWaiting = () => {
      cancel()
      letGo()
    }
  }
}

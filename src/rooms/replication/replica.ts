import type { Clock } from '../../clock.ts'
import type { Key, LoadedLog, LogHead } from '../../engine/engine.ts'
import type { StartedWindows } from '../../events/debounce-windows.ts'
import type { ConditionalUpdate, ReplicaContext } from '../edits/edit-context.ts'
import type { CommitListeners } from '../log/commits.ts'
import type { CommitLog } from '../log/recorded-log.ts'
import { type AppliedUpdate, UpdateBroadcast } from '../room/broadcast.ts'
import type { ReplicaDependencies, RoomDependencies } from '../room/room-options.ts'
import type { UpdateApplier } from '../room/update-applier.ts'
import { SharedCommits } from '../shared-commits.ts'
import { applyRemote } from './apply-remote.ts'
import type { RemoteAppend } from './read-log-since.ts'
import { type PlacingRoom, RemotePlacing } from './remote-placing.ts'
import type { ReplicaMessage } from './replica-messages.ts'

/** What a room gives to that of it which knows of other nodes. */
export interface ReplicaOwner extends CommitListeners, PlacingRoom {
  readonly doc: Key
  readonly log: CommitLog
  readonly loaded: LoadedLog
  readonly intake: UpdateApplier
  /** Runs work for edits on the event loop, and counts its time against the share of the workspace. */
  readonly charged: <T>(updates: number, work: () => T) => T
  /** Says who edits, and what that begins. */
  readonly noted: (updates: readonly AppliedUpdate[], now: number) => StartedWindows | null
  /** Counts what has been added to the log. */
  readonly added: (updates: readonly AppliedUpdate[]) => void
  readonly send: (delivery: UpdateBroadcast) => void
  readonly commit: (updates: readonly AppliedUpdate[], since: number) => void
}

/** So long a document waits for another node, whatever that asks for. */
const waitMsMax = 2_000

/** One of several copies of a document: what this node hears from the others, and what it has them hear. */
export class Replica implements ReplicaContext {
  readonly commits: SharedCommits
  readonly #room: ReplicaOwner
  readonly #tools: ReplicaDependencies
  readonly #clock: Clock
  readonly #counts: RoomDependencies['metrics']['updates']
  readonly #placing: RemotePlacing
  /** Ends the waiting for another node. */
  #endWaiting: (() => void) | null = null

  constructor(
    room: ReplicaOwner,
    tools: ReplicaDependencies,
    { clock, metrics, mergers }: Pick<RoomDependencies, 'clock' | 'metrics' | 'mergers'>,
  ) {
    this.#room = room
    this.#tools = tools
    this.#clock = clock
    this.#counts = metrics.updates
    this.#placing = new RemotePlacing(room, mergers)
    const { doc, log, loaded } = room
    this.commits = new SharedCommits({
      log,
      doc,
      loaded,
      queued: tools.queued,
      placing: this.#placing,
      listeners: {
        durable: (delivery) => room.durable(delivery),
        failed: (error) => room.failed(error),
        foreign: (foreign) => this.#takeOver(foreign),
        appended: (news) => tools.tell(doc, { is: 'appended', news }),
      },
    })
  }

  /** What another node says of the document. */
  told(message: ReplicaMessage): void {
    if (message.is === 'appended') this.commits.heard(message.news)
    else if (message.is === 'changed') this.commits.look()
    else this.#waitFor(message.ms)
  }

  /**
   * Its log is said to have been removed. False where it has none yet; else the log is asked: the document may have been
   * made anew before the news has come.
   */
  looksWhetherItIsGone(): boolean {
    if (!this.commits.hasLog) return false
    this.commits.look()
    return true
  }

  /** The room is closed. */
  close(): void {
    this.#placing.end()
    this.#endWaiting?.()
    this.#endWaiting = null
  }

  /** Number up to which it has all that is in the log. */
  get durableTo(): number {
    return this.commits.durableTo
  }

  /**
   * Whether the log has more, which may be on its way, or has lost something.
   * @param head where the log is; null: nowhere
   * @param had `durableTo` before it was asked
   */
  differs(head: LogHead | null, had: number): boolean {
    return this.commits.differs(head, had)
  }

  /** Reads what the log has more. */
  catchUp(): void {
    this.commits.look()
  }

  reach(): Promise<void> {
    return this.commits.reach()
  }

  endsAt(head: number): Promise<boolean> {
    return this.commits.endsAt(head)
  }

  askToWait(ms: number): void {
    this.#tools.tell(this.#room.doc, { is: 'wait', ms })
  }

  async commitAt({ head, update, apply }: ConditionalUpdate): Promise<number | null> {
    const at = this.#clock.now()
    const begun = this.#room.noted([update], at)
    try {
      const delivery = new UpdateBroadcast([update], at)
      const seq = await this.commits.commitAt(head, { delivery, at, jobs: begun?.jobs ?? [], apply })
      if (seq === null) begun?.lost()
      else begun?.stored()
      if (seq !== null) this.#room.added([update])
      return seq
    } catch (error) {
      begun?.lost()
      throw error
    }
  }

  /** Another node wants to be first: what arrives here waits for it. Never for long, it may be gone. */
  #waitFor(ms: number): void {
    const { holding, turn } = this.#room
    if (holding.held !== null) return
    turn()
    const letGo = holding.hold(turn)
    const cancel = this.#clock.after(Math.min(ms, waitMsMax), letGo)
    this.#endWaiting = () => {
      cancel()
      letGo()
    }
  }

  #takeOver(foreign: readonly RemoteAppend[]): void {
    const { state, intake, added, send, commit, charged } = this.#room
    const now = this.#clock.now()
    const placed = this.#placing.take()
    const updates = charged(foreign.length, () =>
      applyRemote(state, foreign, { commits: this.commits, placed }),
    )
    this.#counts.node += updates.length
    added(updates)
    this.commits.deliver(new UpdateBroadcast(updates, now), send)
    const held = intake.retry()
    if (held.length > 0) commit(held, now)
    this.#placing.end()
    this.#endWaiting?.()
    this.#endWaiting = null
  }
}

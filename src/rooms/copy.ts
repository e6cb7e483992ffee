import type { Clock } from '../clock.ts'
import type { Key, LoadedLog, LogHead } from '../engine/engine.ts'
import type { Begun } from '../events/windows.ts'
import type { Foreign } from './catching-up.ts'
import type { CommitListeners } from './commits.ts'
import { Delivery, type RoomUpdate } from './delivery.ts'
import type { DocumentMessage } from './document-news.ts'
import type { ExactUpdate, OtherNodes } from './edited-room.ts'
import type { Holding } from './holding.ts'
import type { Intake } from './intake.ts'
import type { CopyTools, RoomTools } from './room-tools.ts'
import { SharedCommits } from './shared-commits.ts'
import type { RoomState } from './state.ts'
import { takeOver } from './taking-over.ts'

/** What a room gives to that of it which knows of other nodes. */
export interface CopiedRoom extends CommitListeners {
  readonly doc: Key
  readonly loaded: LoadedLog
  readonly state: RoomState
  readonly intake: Intake
  readonly holding: Holding
  /** Applies what has arrived. */
  readonly turn: () => void
  /** Says who edits, and what that begins. */
  readonly noted: (updates: readonly RoomUpdate[], now: number) => Begun | null
  /** Counts what has been added to the log. */
  readonly added: (updates: readonly RoomUpdate[]) => void
  readonly send: (delivery: Delivery) => void
  readonly commit: (updates: readonly RoomUpdate[], since: number) => void
}

/** So long a document waits for another node, whatever that asks for. */
const waitMsMax = 2_000

/** One of several copies of a document: what this node hears from the others, and what it has them hear. */
export class Copy implements OtherNodes {
  readonly commits: SharedCommits
  readonly #room: CopiedRoom
  readonly #tools: CopyTools
  readonly #clock: Clock
  readonly #counts: RoomTools['metrics']['updates']
  /** Ends the waiting for another node. */
  #endWaiting: (() => void) | null = null

  constructor(room: CopiedRoom, tools: CopyTools, { log, clock, metrics }: RoomTools) {
    this.#room = room
    this.#tools = tools
    this.#clock = clock
    this.#counts = metrics.updates
    const { doc, loaded } = room
    this.commits = new SharedCommits({
      log,
      doc,
      loaded,
      queued: tools.queued,
      listeners: {
        durable: (delivery) => room.durable(delivery),
        failed: (error) => room.failed(error),
        foreign: (foreign) => this.#takeOver(foreign),
        appended: (news) => tools.tell(doc, { is: 'appended', news }),
      },
    })
  }

  /** What another node says of the document. */
  told(message: DocumentMessage): void {
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

  async commitAt({ head, update, apply }: ExactUpdate): Promise<number | null> {
    const at = this.#clock.now()
    const begun = this.#room.noted([update], at)
    try {
      const delivery = new Delivery([update], at)
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
    this.#endWaiting = holding.hold(turn)
    this.#clock.after(Math.min(ms, waitMsMax), this.#endWaiting)
  }

  #takeOver(foreign: readonly Foreign[]): void {
    const { state, intake, added, send, commit } = this.#room
    const now = this.#clock.now()
    const updates = takeOver(state, foreign, this.commits)
    this.#counts.node += updates.length
    added(updates)
    this.commits.deliver(new Delivery(updates, now), send)
    const held = intake.retry()
    if (held.length > 0) commit(held, now)
    this.#endWaiting?.()
    this.#endWaiting = null
  }
}

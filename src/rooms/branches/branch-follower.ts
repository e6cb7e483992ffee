import * as Y from 'yjs'
import type { Clock } from '../../clock.ts'
import type { WriteRight } from '../../directory/write-right.ts'
import { ApiError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { AppliedUpdate } from '../room/broadcast.ts'
import { DocumentExpensiveError } from '../room/expensive-documents.ts'
import type { Room } from '../room/room.ts'

/**
 * Milliseconds for which a branch collects the commits of its main editor before it appends them. A node that
 * is not the home node of the branch waits longer, because the home node usually appends the same commits and
 * its appends arrive in this time. An update that arrives twice changes nothing.
 */
const collectMs = { home: 50, other: 400 }

/** Milliseconds until a branch tries again to follow, after its main editor was closed or an error occurred. */
const retryMs = 2_000

/** Maximum bytes of the commits that wait. If more wait, the branch compares itself with the main editor. */
const waitingBytesMax = 1_048_576

/** A claim that keeps the room of the main editor open. */
export interface MainHandle {
  readonly room: Room
  release(): void
}

export interface BranchFollowerOptions {
  /** The open room of the branch. */
  readonly branch: Room
  /** Opens the room of the main editor. */
  readonly openMain: () => Promise<MainHandle>
  /** Returns the permission to change the branch. @throws ApiError FAILED_PRECONDITION if it is decided */
  readonly right: () => Promise<WriteRight>
  /** Returns whether this node is the home node of the branch. */
  readonly isHome: () => boolean
  readonly clock: Clock
  readonly logger: Log
}

type FollowerState =
  | { readonly is: 'apart' }
  /** The branch contained everything of the main editor when it began to listen. */
  | { readonly is: 'following'; readonly main: MainHandle; readonly end: () => void }
  | { readonly is: 'ended' }

/**
 * Keeps an open branch equal to its main editor, except for the changes of the branch itself: appends to the
 * branch all updates of the main editor that the branch lacks. It holds the room of the main editor open, so it
 * also receives the commits of other nodes. It ends with the room of the branch.
 */
export class BranchFollower {
  readonly #options: BranchFollowerOptions
  #state: FollowerState = { is: 'apart' }
  /** Commits of the main editor that the branch does not have yet. */
  #waiting: AppliedUpdate[] = []
  #waitingBytes = 0
  #cancelTimer: (() => void) | null = null
  /** The steps of this object run one after the other. */
  #line: Promise<void> = Promise.resolve()

  constructor(options: BranchFollowerOptions) {
    this.#options = options
  }

  /**
   * Resolves when the branch contains everything that the main editor contained at the time of the call, also
   * what other nodes have acknowledged. Does nothing if the branch is decided.
   * @throws StoreUnavailableError, ApiError if the main editor cannot be read, or if the branch would be too
   * large
   */
  catchUp(): Promise<void> {
    const done = this.#line.then(() => this.#follow())
    this.#line = done.catch(() => {})
    return done
  }

  /** Must be called when the room of the branch has ended. */
  end(): void {
    this.#part()
    this.#state = { is: 'ended' }
  }

  async #follow(): Promise<void> {
    if (this.#hasEnded()) return
    try {
      if (this.#state.is === 'apart') await this.#join()
      if (this.#state.is !== 'following') return
      // The commits that the main editor has lacked until now arrive while this promise is pending.
      await this.#state.main.room.editing.version()
      await this.#copyWaiting()
    } catch (error) {
      this.#part()
      if (error instanceof ApiError && error.code === 'branch/decided') return
      throw error
    }
  }

  readonly #hasEnded = (): boolean => this.#state.is === 'ended'

  /** Begins to listen to the main editor, then copies what the branch lacks. */
  async #join(): Promise<void> {
    const right = await this.#options.right()
    const main = await this.#options.openMain()
    if (this.#hasEnded()) return main.release()
    const end = main.room.follow({
      committed: (updates) => this.#add(updates),
      ended: () => {
        this.#part()
        this.#retryLater()
      },
    })
    this.#state = { is: 'following', main, end }
    await this.#copyMissing(main, right)
  }

  #part(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = null
    this.#waiting = []
    this.#waitingBytes = 0
    if (this.#state.is !== 'following') return
    const { main, end } = this.#state
    this.#state = { is: 'apart' }
    end()
    main.release()
  }

  async #copyMissing({ room: main }: MainHandle, right: WriteRight): Promise<void> {
    const { branch } = this.#options
    try {
      const bytes = await main.editing.missing(branch.state.vector())
      await branch.editing.apply('', bytes, { expects: 'either', isCopy: true, right })
    } catch (error) {
      // The next call opens the editor with the help of a thread.
      if (error instanceof DocumentExpensiveError) main.closeAsExpensive()
      throw error
    }
  }

  #add(updates: readonly AppliedUpdate[]): void {
    for (const update of updates) this.#waiting.push(update)
    for (const { bytes } of updates) this.#waitingBytes += bytes.length
    if (this.#waitingBytes > waitingBytesMax) {
      this.#part()
      this.#retryLater()
    } else this.#later(this.#options.isHome() ? collectMs.home : collectMs.other)
  }

  #retryLater(): void {
    if (!this.#hasEnded()) this.#later(retryMs)
  }

  #later(ms: number): void {
    if (this.#cancelTimer !== null) return
    this.#cancelTimer = this.#options.clock.after(ms, () => {
      this.#cancelTimer = null
      this.catchUp().catch((err: unknown) => {
        this.#options.logger.debug({ err }, 'a branch could not follow its main editor; retrying')
        this.#retryLater()
      })
    })
  }

  /** Appends the waiting commits, one update for each run of commits with one author. */
  async #copyWaiting(): Promise<void> {
    if (this.#waiting.length === 0) return
    const updates = this.#waiting
    this.#waiting = []
    this.#waitingBytes = 0
    const right = await this.#options.right()
    for (const run of runsOf(updates)) {
      const [{ by, source, meta = null }] = run
      const bytes = run.length === 1 ? run[0].bytes : Y.mergeUpdates(run.map((update) => update.bytes))
      await this.#options.branch.editing.apply(by, bytes, {
        expects: 'either',
        isCopy: true,
        right,
        cause: { source: source ?? 'socket', meta },
      })
    }
  }
}

type Run = readonly [AppliedUpdate, ...AppliedUpdate[]]

/** Divides updates into runs with the same author and the same data of the sender. */
function runsOf(updates: readonly AppliedUpdate[]): readonly Run[] {
  const runs: [AppliedUpdate, ...AppliedUpdate[]][] = []
  for (const update of updates) {
    const run = runs.at(-1)
    const isSame = run !== undefined && run[0].by === update.by && run[0].meta === update.meta
    if (isSame && run[0].source === update.source) run.push(update)
    else runs.push([update])
  }
  return runs
}

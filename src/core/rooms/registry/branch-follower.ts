import { setImmediate as nextTick } from 'node:timers/promises'
import * as Y from 'yjs'
import { ApiError } from '../../base/errors.ts'
import { type BranchOverlap, withOverlaps } from '../../content/branches/branch-overlaps.ts'
import type { MainChanges } from '../../content/branches/follow-main.ts'
import type { WriteRight } from '../../directory/write-right.ts'
import type { ChangeCause } from '../../model/change-origin.ts'
import { StoreUnavailableError } from '../../store/engine.ts'
import { readUpdate } from '../../update/read-update.ts'
import { emptyUpdate } from '../document/document-state.ts'
import { DocumentExpensiveError } from '../document/unreadable-documents.ts'
import { BackendEdits } from '../edits/backend-edits.ts'
import type { RestoreOptions } from '../edits/edit-conditions.ts'
import { Replacement } from '../edits/replacement.ts'
import type { CommitFollower, Room } from '../room/room.ts'
import type { Change } from '../updates/change.ts'

/** Milliseconds for which a branch collects the commits of its main editor before it appends them. */
const collectMs = 50

/** Milliseconds until a branch tries again to follow, after its main editor was closed or an error occurred. */
const retryMs = 2_000

/** Maximum number and bytes of the commits that wait. If more wait, the branch compares itself with the main editor. */
const waitingMax = { commits: 500, bytes: 1_048_576 } as const

/**
 * Maximum number of runs of commits with one author that are copied at once. Each takes time for the whole main editor,
 * so more of them become one, without an author.
 */
const runsMax = 8

/**
 * A branch waits this many times as long as it took to copy the last commits, but at most `pauseMsMax`, so that following
 * takes a small share of the event loop.
 */
const pauseFactor = 50
const pauseMsMax = 400

/** Maximum bytes of copied commits that are kept. If there are more, the branch compares itself with the main editor. */
const takenBytesMax = 1_048_576

/** Milliseconds after a commit of a branch in which others join its message. */
const notifyMs = 300

/** Content of a branch that is deleted because the main editor has a copy of it. */
export interface ReplacedContent {
  /** Id of the user who deletes it. */
  readonly by: string
  /** The update (V1) that deletes it. */
  readonly removal: Uint8Array
  readonly cause: ChangeCause
}

/** A claim that keeps the room of the main editor open. */
interface MainHandle {
  readonly room: Room
  release(): void
}

type FollowerState =
  | { readonly is: 'apart' }
  /** The branch contained everything of the main editor when it began to listen. */
  | { readonly is: 'following'; readonly main: MainHandle }
  | { readonly is: 'ended' }

/**
 * Keeps an open branch equal to its main editor, except for the changes of the branch itself: appends to the
 * branch all updates of the main editor that the branch lacks. It holds the room of the main editor open, and ends
 * with the room of the branch.
 */
export class BranchFollower implements CommitFollower {
  readonly #branch: Room
  readonly #openMain: () => Promise<MainHandle>
  #state: FollowerState = { is: 'apart' }
  /** Commits of the main editor that the branch does not have yet. */
  #waiting: Change[] = []
  #waitingBytes = 0
  /** The state (V1) of the main editor that the branch has: that at the join, with the copied commits. */
  #taken: Uint8Array = emptyUpdate
  /** Overlaps that are not recorded yet. */
  #overlaps: readonly BranchOverlap[] = []
  /** Milliseconds that the last copy took. */
  #copyMs = 0
  #cancelTimer: (() => void) | null = null
  #cancelMessage: (() => void) | null = null
  /** The steps of this object run one after the other. */
  #line: Promise<void> = Promise.resolve()

  /**
   * @param branch the open room of the branch
   * @param openMain opens the room of the main editor
   * @param notify sends the clients of the document a message about the branch
   */
  constructor(branch: Room, openMain: () => Promise<MainHandle>, notify: () => void) {
    this.#branch = branch
    this.#openMain = openMain
    const committed = (): void => {
      this.#cancelMessage ??= branch.dependencies.clock.after(notifyMs, () => {
        this.#cancelMessage = null
        notify()
      })
    }
    branch.follow({ committed, ended: () => {} })
  }

  /**
   * Resolves when the branch contains everything that the main editor contained at the time of the call. A branch that
   * is decided does not follow any more.
   * @throws StoreUnavailableError, ApiError if the main editor cannot be read, or if the branch would be too
   * large
   */
  catchUp(): Promise<void> {
    const done = this.#line.then(() => this.#follow())
    this.#line = done.catch(() => {})
    return done
  }

  /**
   * Runs `work`, which copies changes of the branch to the main editor. Meanwhile, the branch does not follow. Then
   * it gets the copies and loses the originals in one update: a client that has both removes formatting that it
   * finds twice.
   * @throws the errors of `work` and of `catchUp`; StoreUnavailableError if the branch was closed
   */
  replace<T>(
    work: () => Promise<{ readonly result: T; readonly replaced: ReplacedContent | null }>,
  ): Promise<T> {
    const done = this.#line.then(async () => {
      const { result, replaced } = await work()
      if (replaced === null) return result
      await this.#follow(replaced)
      if (this.#state.is !== 'following') throw new StoreUnavailableError('the branch was closed')
      return result
    })
    this.#line = done.then(
      () => {},
      () => {},
    )
    return done
  }

  /** Called by the room of the main editor when it has ended. */
  ended(): void {
    this.#part()
    this.#retryLater()
  }

  /** Must be called when the room of the branch has ended. */
  end(): void {
    this.#part()
    this.#cancelMessage?.()
    this.#state = { is: 'ended' }
  }

  async #follow(replaced: ReplacedContent | null = null): Promise<void> {
    if (this.#hasEnded()) return
    try {
      const right = await this.#branch.dependencies.records.rightToChange(this.#branch.address)
      if (this.#state.is === 'apart') {
        await this.#join(right, replaced)
        replaced = null
      }
      if (this.#state.is !== 'following') return
      // The last commits of the main editor become durable and arrive while this promise is pending.
      await new BackendEdits(this.#state.main.room).version()
      await this.#copyWaiting(right, replaced)
      await this.#recordOverlaps()
    } catch (error) {
      this.#part()
      if (error instanceof ApiError && error.code === 'branch/decided') return
      throw error
    }
  }

  readonly #hasEnded = (): boolean => this.#state.is === 'ended'

  /** Begins to listen to the main editor, then copies what the branch lacks. */
  async #join(right: WriteRight, replaced: ReplacedContent | null): Promise<void> {
    const main = await this.#openMain()
    if (this.#hasEnded()) return main.release()
    this.#state = { is: 'following', main }
    main.room.follow(this)
    await this.#copyMissing(main, right, replaced)
  }

  #part(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = null
    this.#waiting = []
    this.#waitingBytes = 0
    this.#taken = emptyUpdate
    if (this.#state.is !== 'following') return
    const { main } = this.#state
    this.#state = { is: 'apart' }
    main.room.unfollow(this)
    main.release()
  }

  async #copyMissing(
    { room: main }: MainHandle,
    right: WriteRight,
    replaced: ReplacedContent | null,
  ): Promise<void> {
    const branch = this.#branch
    const options = { expects: 'either', isCopy: true, right } as const
    try {
      const captured = await new BackendEdits(main).capture()
      if (captured === null) return
      const { bytes } = captured
      if (replaced !== null || branch.state.clocks.size === 0) {
        const update = Y.diffUpdate(bytes, branch.state.vector())
        const all = replaced === null ? update : Y.mergeUpdates([update, replaced.removal])
        await new BackendEdits(branch).apply('', all, options)
      } else await this.#merge('', { base: null, updates: [bytes] }, options)
      this.#taken = bytes
    } catch (error) {
      // The next call opens the editor with the help of a thread.
      if (error instanceof DocumentExpensiveError) main.closeAsExpensive()
      throw error
    }
  }

  /** Called by the room of the main editor, which must not be delayed. */
  committed(changes: readonly Change[]): void {
    for (const change of changes) this.#waiting.push(change)
    for (const { bytes } of changes) this.#waitingBytes += bytes.length
    if (this.#waiting.length > waitingMax.commits || this.#waitingBytes > waitingMax.bytes) {
      this.#part()
      this.#retryLater()
    } else {
      this.#later(Math.max(collectMs, Math.min(pauseMsMax, pauseFactor * this.#copyMs)))
    }
  }

  /** Applies changes of the main editor next to those of the branch. */
  async #merge(by: string, changes: MainChanges, options: RestoreOptions): Promise<void> {
    const { result } = await new Replacement(this.#branch).change(by, { is: 'follow', changes }, options)
    this.#overlaps = withOverlaps(this.#overlaps, result.branchOverlaps ?? [])
  }

  /** @throws StoreUnavailableError */
  async #recordOverlaps(): Promise<void> {
    if (this.#overlaps.length === 0) return
    const overlaps = this.#overlaps
    await this.#branch.dependencies.records.recordOverlaps(this.#branch.address, overlaps)
    this.#overlaps = []
  }

  #retryLater(): void {
    if (!this.#hasEnded()) this.#later(retryMs)
  }

  #later(ms: number): void {
    if (this.#cancelTimer !== null) return
    this.#cancelTimer = this.#branch.dependencies.clock.after(ms, () => {
      this.#cancelTimer = null
      this.catchUp().catch((err: unknown) => {
        this.#branch.dependencies.logger.debug({ err }, 'a branch could not follow its main editor; retrying')
        this.#retryLater()
      })
    })
  }

  /** Appends the waiting commits, one update for each run of commits with one author. */
  async #copyWaiting(right: WriteRight, replaced: ReplacedContent | null): Promise<void> {
    const waiting = new Set(this.#waiting)
    const updates = replaced === null ? this.#waiting : withRemoval(this.#waiting, replaced)
    const [first, ...others] = updates
    if (first === undefined) return
    const following = this.#state
    let base = this.#taken
    this.#waiting = []
    this.#waitingBytes = 0
    const start = performance.now()
    let runs = runsOf(updates)
    // The author and the data of a run are those of its first update.
    if (replaced === null && runs.length > runsMax)
      runs = [[{ ...first, by: '', source: 'socket', meta: null }, ...others]]
    for (const run of runs) {
      // Several copies in one tick would delay other documents.
      await nextTick()
      const [{ by, source, meta = null }] = run
      const copied = run.map(({ bytes }) => bytes)
      const cause = { source: source ?? 'socket', meta }
      const options = { expects: 'either', isCopy: true, right, cause } as const
      // The copies of merged hunks replace content of the branch.
      if (replaced === null || run.every((update) => waiting.has(update)))
        await this.#merge(by, { base, updates: copied }, options)
      else await new BackendEdits(this.#branch).apply(by, Y.mergeUpdates(copied), options)
      base = Y.mergeUpdates([base, ...copied])
    }
    this.#copyMs = performance.now() - start
    // Meanwhile, the branch may have parted from the main editor.
    if (this.#state !== following) return
    this.#taken = base
    if (replaced !== null || this.#taken.length <= takenBytesMax + this.#branch.state.sizeBytes) return
    this.#part()
    this.#later(collectMs)
  }
}

/** Adds a removal to the update that has the copies, or behind the updates if they have arrived before. */
function withRemoval(updates: readonly Change[], { by, removal, cause }: ReplacedContent): readonly Change[] {
  const at = updates.findLastIndex(({ source }) => source === cause.source)
  const copies = updates[at]
  if (copies === undefined)
    return [...updates, { by, from: null, bytes: removal, summary: readUpdate(removal), ...cause }]
  const bytes = Y.mergeUpdates([copies.bytes, removal])
  return updates.with(at, { ...copies, bytes, summary: readUpdate(bytes) })
}

type Run = readonly [Change, ...Change[]]

/** Divides updates into runs with the same author and the same data of the sender. */
function runsOf(updates: readonly Change[]): readonly Run[] {
  const runs: [Change, ...Change[]][] = []
  for (const update of updates) {
    const run = runs.at(-1)
    const isSame = run !== undefined && run[0].by === update.by && run[0].meta === update.meta
    if (isSame && run[0].source === update.source) run.push(update)
    else runs.push([update])
  }
  return runs
}

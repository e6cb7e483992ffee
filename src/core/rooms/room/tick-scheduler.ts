import { runUntraced } from '../../base/current-trace.ts'

/** An object whose work runs at the end of a tick of the event loop. */
export interface TickTask {
  /** The workspace whose share of the tick the work uses. */
  readonly workspaceId: string
  endTick(): void
}

/** An object whose remaining work runs after the broadcasts. No caller waits for this work. */
interface AfterTickTask {
  followUp(): void
}

/**
 * Maximum milliseconds that room tasks may take in a tick; the same limit applies separately to replies. The
 * remaining work runs in the next tick.
 */
const tickMsMax = 12

/**
 * Milliseconds of a tick after which no further tasks of the same workspace run, so that the tasks of another
 * workspace need not wait for the next tick.
 */
const workspaceMsMax = 4

/** Milliseconds for which a task counts as active after it was added. */
const activeMs = 1_000

/**
 * Runs the work of each room once, at the end of a tick. All updates that the sockets of a room have received
 * in the tick then form one transaction, one commit and one write for each receiver.
 */
export class TickScheduler {
  #waiting: TickTask[] = []
  readonly #answers: (() => void)[] = []
  /** Milliseconds that replies have taken in this tick. */
  #answeredMs = 0
  readonly #following = new Set<AfterTickTask>()
  /**
   * The task that was added last, and the times of the last task and of the last other task. The reference does
   * not keep a closed room in memory.
   */
  #last: WeakRef<TickTask> | null = null
  #lastAt = Number.NEGATIVE_INFINITY
  #otherAt = Number.NEGATIVE_INFINITY

  /** Adds a task. A caller must not add the same task twice in a tick. */
  add(task: TickTask): void {
    if (task !== this.#last?.deref()) {
      this.#otherAt = this.#lastAt
      this.#last = new WeakRef(task)
    }
    this.#lastAt = performance.now()
    this.resume(task)
  }

  /** Adds a task that continues work of an earlier tick. It does not count as added recently. */
  resume(task: TickTask): void {
    this.#waiting.push(task)
    if (this.#waiting.length === 1) atEndOfTick(this.#run)
  }

  /** Runs `work` in the share that a workspace has of the next tick. Resolves with its result. */
  run<T>(workspaceId: string, work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const endTick = (): void => {
        try {
          resolve(work())
        } catch (error) {
          reject(error)
        }
      }
      this.resume({ workspaceId, endTick })
    })
  }

  /** Returns whether other tasks were added recently, so that the task must leave time for them. */
  mustShare(task: TickTask): boolean {
    return performance.now() - (task === this.#last?.deref() ? this.#otherAt : this.#lastAt) < activeMs
  }

  /** Calls `followUp` of the task once, after the current broadcasts have been sent. */
  follow(follower: AfterTickTask): void {
    this.#following.add(follower)
    if (this.#following.size === 1) atEndOfTick(this.#followUp)
  }

  /** Runs `work` now, or in a later tick if replies have used their share of this tick. */
  answer(work: () => void): void {
    if (this.#answers.length > 0 || this.#answeredMs >= tickMsMax) this.#answers.push(work)
    else this.#answer(work)
  }

  #answer(work: () => void): void {
    const startedAt = performance.now()
    if (this.#answeredMs === 0) atEndOfTick(this.#answerNext)
    work()
    this.#answeredMs += performance.now() - startedAt
  }

  readonly #answerNext = (): void => {
    this.#answeredMs = 0
    while (this.#answeredMs < tickMsMax) {
      const next = this.#answers.shift()
      if (next === undefined) return
      this.#answer(next)
    }
  }

  readonly #run = (): void => {
    const waiting = this.#waiting
    this.#waiting = []
    const later: TickTask[] = []
    const spentMs = new Map<string, number>()
    let now = performance.now()
    const endsAt = now + tickMsMax
    for (const task of waiting) {
      const spent = spentMs.get(task.workspaceId) ?? 0
      if (now >= endsAt || spent >= workspaceMsMax) {
        later.push(task)
        continue
      }
      task.endTick()
      const startedAt = now
      now = performance.now()
      spentMs.set(task.workspaceId, spent + now - startedAt)
    }
    if (later.length === 0) return
    // If tasks were added in the meantime, they have scheduled the next run. A second one would have a budget of its own.
    if (this.#waiting.length === 0) atEndOfTick(this.#run)
    this.#waiting = [...later, ...this.#waiting]
  }

  readonly #followUp = (): void => {
    const following = [...this.#following]
    this.#following.clear()
    for (const follower of following) follower.followUp()
  }
}

/**
 * Runs the work of many rooms at the end of this tick, or of the next one if called at an end, outside the trace of
 * the caller that was first.
 */
const atEndOfTick = (work: () => void): void => void runUntraced(() => setImmediate(work))

import type { RealtimeAccess } from '../../access/realtime-access.ts'
import type { AccessChange } from '../../directory/permissions/access-change.ts'
import type { ServerFaults } from '../connect/server-faults.ts'
import { RecentAccessChanges } from './recent-access-changes.ts'
import type { Session } from './session.ts'
import { SessionIndex } from './session-index.ts'

/** Pause before asking again a store that was away. */
const retryMs = 500
/** Sessions whose access is read at once: a change for a whole organization must not crowd out everything else. */
const readsAtOnce = 32

/** Has the open sessions follow what changes in the directory. */
export class AccessWatch {
  readonly #access: RealtimeAccess
  readonly #faults: ServerFaults
  readonly #sessions = new SessionIndex()
  readonly #recent = new RecentAccessChanges()
  /** Sessions to be looked at, each once however often it is named. */
  readonly #queued = new Set<Session>()
  readonly #rechecking = new Set<Session>()
  readonly #unsubscribe: () => void
  /** What ends that changes are looked for, for each session. */
  readonly #unfollow = new Map<Session, () => void>()
  /** Origins of the pages of sessions, also of closed ones: their last updates may wait for the store. */
  readonly #origins = new WeakMap<Session, string>()
  #workers = 0

  constructor(access: RealtimeAccess, faults: ServerFaults) {
    this.#access = access
    this.#faults = faults
    this.#unsubscribe = access.onChange((change) =>
      this.#changed(change, change === null ? this.#sessions.all() : this.#sessions.affectedBy(change)),
    )
  }

  /** Number of changes so far: to be taken before the access of a newcomer is read. */
  get changes(): number {
    return this.#recent.count
  }

  /** @param changes what they were before the session's access was read: what has come since would be missed */
  add(session: Session, changes: number, origin: string | undefined): void {
    this.#sessions.add(session)
    if (origin !== undefined) this.#origins.set(session, origin)
    this.#unfollow.set(session, this.#access.follow(session.address))
    if (this.#recent.mayAffect(session, changes)) this.#queueRechecks([session])
  }

  delete(session: Session): void {
    this.#sessions.delete(session)
    this.#unfollow.get(session)?.()
    this.#unfollow.delete(session)
    this.#queued.delete(session)
  }

  end(): void {
    this.#unsubscribe()
  }

  #changed(change: AccessChange | null, sessions: Iterable<Session>): void {
    this.#recent.add(change)
    this.#queueRechecks(sessions)
  }

  #queueRechecks(sessions: Iterable<Session>): void {
    for (const session of sessions) this.#queued.add(session)
    while (this.#workers < Math.min(readsAtOnce, this.#queued.size)) {
      this.#workers += 1
      void this.#recheckQueued().finally(() => {
        this.#workers -= 1
      })
    }
  }

  /** One of several that work off what waits; each session by one of them, lest an older answer come last. */
  async #recheckQueued(): Promise<void> {
    for (const session of this.#queued) {
      if (this.#rechecking.has(session)) continue
      this.#rechecking.add(session)
      while (this.#queued.delete(session)) await this.#recheckOrRetry(session)
      this.#rechecking.delete(session)
    }
  }

  async #recheckOrRetry(session: Session): Promise<void> {
    try {
      await this.recheck(session)
    } catch (error) {
      // The store is away: what was known goes on to hold until it can be asked again.
      this.#faults.log(error, 'access could not be read')
      this.#retry(session)
    }
  }

  /** Reads the permission of a session now. @throws StoreUnavailableError */
  async recheck(session: Session): Promise<void> {
    const { identity, address } = session
    const origin = this.#origins.get(session)
    session.changePermission(await this.#access.permissionOf(identity, address, origin))
  }

  #retry(session: Session): void {
    const timer = setTimeout(() => {
      if (this.#sessions.has(session)) this.#queueRechecks([session])
    }, retryMs)
    timer.unref()
  }
}

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
  readonly #open = new SessionIndex()
  readonly #recent = new RecentAccessChanges()
  /** Sessions to be looked at, each once however often it is named. */
  readonly #waiting = new Set<Session>()
  readonly #reading = new Set<Session>()
  readonly #unsubscribe: () => void
  /** What ends that changes are looked for, for each session. */
  readonly #following = new Map<Session, () => void>()
  /** Origins of the pages of sessions, also of closed ones: their last updates may wait for the store. */
  readonly #origins = new WeakMap<Session, string>()
  #readers = 0

  constructor(access: RealtimeAccess, faults: ServerFaults) {
    this.#access = access
    this.#faults = faults
    this.#unsubscribe = access.onChange((change) =>
      this.#changed(change, change === null ? this.#open.all() : this.#open.touchedBy(change)),
    )
  }

  /** Number of changes so far: to be taken before the access of a newcomer is read. */
  get changes(): number {
    return this.#recent.count
  }

  /** @param changes what they were before the session's access was read: what has come since would be missed */
  add(session: Session, changes: number, origin: string | undefined): void {
    this.#open.add(session)
    if (origin !== undefined) this.#origins.set(session, origin)
    this.#following.set(session, this.#access.follow(session.address))
    if (this.#recent.mayConcern(session, changes)) this.#lookAt([session])
  }

  delete(session: Session): void {
    this.#open.delete(session)
    this.#following.get(session)?.()
    this.#following.delete(session)
    this.#waiting.delete(session)
  }

  end(): void {
    this.#unsubscribe()
  }

  #changed(change: AccessChange | null, sessions: Iterable<Session>): void {
    this.#recent.add(change)
    this.#lookAt(sessions)
  }

  #lookAt(sessions: Iterable<Session>): void {
    for (const session of sessions) this.#waiting.add(session)
    while (this.#readers < Math.min(readsAtOnce, this.#waiting.size)) {
      this.#readers += 1
      void this.#read().finally(() => {
        this.#readers -= 1
      })
    }
  }

  /** One of several that work off what waits; each session by one of them, lest an older answer come last. */
  async #read(): Promise<void> {
    for (const session of this.#waiting) {
      if (this.#reading.has(session)) continue
      this.#reading.add(session)
      while (this.#waiting.delete(session)) await this.#follow(session)
      this.#reading.delete(session)
    }
  }

  async #follow(session: Session): Promise<void> {
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
      if (this.#open.has(session)) this.#lookAt([session])
    }, retryMs)
    timer.unref()
  }
}

import type { Clock } from '../../clock.ts'
import { ApiError } from '../../errors.ts'
import { exhausted, limitDetails } from '../../quota/limits.ts'
import { type AwarenessText, removedText } from '../../update/awareness.ts'

/** Users without a socket that one document may have. */
export const virtualUsersMax = 500
/** The same for all documents of a process. */
const virtualUsersTotalMax = 100_000
/** They go by themselves. */
const retryAfterSeconds = 60
/** Stock clients forget what they have not heard of for 30 s. */
export const virtualUserRenewalMs = 15_000
/** Seconds since then are the clocks of virtual users: later than what a client has heard before a restart. */
const clockEpoch = Date.UTC(2026, 0)

/** The last client ids are kept for users without a socket: a Yjs client draws one of them once in eight million times. */
const firstClientId = 2 ** 32 - virtualUsersMax

/** Is this a client id of a user without a socket? No socket may speak for those. */
export const isVirtualClient = (clientId: number): boolean => clientId >= firstClientId

/** What REST says of a user; what is left out is not said. */
export interface RestPresence {
  readonly name?: string | undefined
  readonly email?: string | undefined
  readonly status?: string | undefined
}

/** What awareness shows of a virtual user; `text` is `null` when it shows nothing any more. */
export interface VirtualUserState extends AwarenessText {
  readonly userId: string
}

/** How many virtual users there are in a process. */
export interface VirtualUserCount {
  count: number
}

export interface VirtualUser {
  readonly userId: string
  readonly clientId: number
  readonly clock: number
  readonly fields: RestPresence
  readonly ttlMs: number
  /** Epoch milliseconds, as all times here. */
  readonly lastSeen: number
}

interface VirtualUserOptions {
  readonly clock: Clock
  readonly total: VirtualUserCount
  /** What awareness is to show from now on. */
  readonly changed: (states: readonly VirtualUserState[]) => void
  readonly joined: (virtualUser: VirtualUser) => void
  /** Also when it comes with a socket. */
  readonly left: (virtualUser: VirtualUser) => void
}

/** What is said when nothing is said. */
export const defaultStatus = 'online'

/** Users of one document of whom only REST says that they are there: each for a time, under a client id of its own. */
export class VirtualUserList {
  readonly #options: VirtualUserOptions
  readonly #byUser = new Map<string, VirtualUser>()
  readonly #clientIds = new Set<number>()
  /** Clients may remember the ids of an earlier list: a new one is unlikely to begin with the same. */
  #lastClientId = firstClientId + Math.floor(Math.random() * virtualUsersMax)
  /** The latest clock of a removed client id, which another user may get. */
  #lastRemovedClock = 0
  #renewedAt = 0
  #cancelTick = (): void => {}

  constructor(options: VirtualUserOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#byUser.size
  }

  get(userId: string): VirtualUser | undefined {
    return this.#byUser.get(userId)
  }

  all(): Iterable<VirtualUser> {
    return this.#byUser.values()
  }

  states(): readonly VirtualUserState[] {
    return [...this.#byUser.values()].map(stateOf)
  }

  /** @throws ApiError FAILED_PRECONDITION, RESOURCE_EXHAUSTED when so many more are too many */
  checkCapacity(added: number): void {
    if (added === 0) return
    if (this.size + added > virtualUsersMax)
      throw new ApiError(
        'presence/too-many-users',
        `a document has at most ${virtualUsersMax} users who are not connected; delete some`,
        { details: limitDetails('virtualUsersPerDocument', virtualUsersMax) },
      )
    if (this.#options.total.count + added > virtualUsersTotalMax)
      throw exhausted('virtualUsersTotal', virtualUsersTotalMax, {
        problem: `the server shows ${virtualUsersTotalMax} users who are not connected, which is its maximum`,
        remedy: `delete some with /v2/presence/delete, or try again after ${retryAfterSeconds} s`,
        retryAfterSeconds,
      })
  }

  /** Shows a user as REST has named them; one too many is not shown. */
  set(
    userId: string,
    fields: RestPresence,
    { ttlMs, lastSeen }: Pick<VirtualUser, 'ttlMs' | 'lastSeen'>,
  ): void {
    const before = this.#byUser.get(userId)
    const isSame = before !== undefined && isSameVirtualUser(before, { fields, ttlMs, lastSeen })
    if (isSame || (before === undefined && this.size >= virtualUsersMax)) return
    if (this.size === 0) this.#renewedAt = this.#options.clock.now()
    const clientId = before?.clientId ?? this.#takeClientId()
    const clock = this.#clockAfter(before?.clock ?? this.#lastRemovedClock)
    const virtualUser: VirtualUser = { userId, clientId, clock, fields, ttlMs, lastSeen }
    this.#byUser.set(userId, virtualUser)
    if (before === undefined) this.#options.joined(virtualUser)
    this.#publish([stateOf(virtualUser)])
  }

  /** Shows these users no more. */
  remove(userIds: Iterable<string>): void {
    const changed: VirtualUserState[] = []
    for (const userId of userIds) {
      const virtualUser = this.#byUser.get(userId)
      if (virtualUser === undefined) continue
      this.#byUser.delete(userId)
      this.#clientIds.delete(virtualUser.clientId)
      this.#options.total.count -= 1
      this.#options.left(virtualUser)
      this.#lastRemovedClock = Math.max(this.#lastRemovedClock, virtualUser.clock)
      changed.push({ userId, clientId: virtualUser.clientId, clock: virtualUser.clock, text: removedText })
    }
    if (changed.length > 0) this.#publish(changed)
  }

  #takeClientId(): number {
    do {
      this.#lastClientId = this.#lastClientId + 1 < 2 ** 32 ? this.#lastClientId + 1 : firstClientId
    } while (this.#clientIds.has(this.#lastClientId))
    this.#clientIds.add(this.#lastClientId)
    this.#options.total.count += 1
    return this.#lastClientId
  }

  #clockAfter(last: number): number {
    return Math.max(last + 1, Math.floor((this.#options.clock.now() - clockEpoch) / 1000))
  }

  #publish(changed: readonly VirtualUserState[]): void {
    this.#schedule()
    this.#options.changed(changed)
  }

  #schedule(): void {
    this.#cancelTick()
    if (this.size === 0) return
    const now = this.#options.clock.now()
    let next = this.#renewedAt + virtualUserRenewalMs
    for (const virtualUser of this.all()) next = Math.min(next, expiryOf(virtualUser))
    this.#cancelTick = this.#options.clock.after(Math.max(0, next - now), () => this.#tick())
  }

  #tick(): void {
    const now = this.#options.clock.now()
    this.remove(
      [...this.all()].filter((virtualUser) => expiryOf(virtualUser) <= now).map(({ userId }) => userId),
    )
    if (now - this.#renewedAt < virtualUserRenewalMs) return this.#schedule()
    this.#renewedAt = now
    for (const virtualUser of this.all())
      this.#byUser.set(virtualUser.userId, { ...virtualUser, clock: this.#clockAfter(virtualUser.clock) })
    this.#publish(this.states())
  }
}

const expiryOf = ({ lastSeen, ttlMs }: VirtualUser): number => lastSeen + ttlMs

function isSameVirtualUser(
  before: VirtualUser,
  after: Pick<VirtualUser, 'fields' | 'ttlMs' | 'lastSeen'>,
): boolean {
  const { name, email, status } = after.fields
  const { fields, ttlMs, lastSeen } = before
  if (ttlMs !== after.ttlMs || lastSeen !== after.lastSeen) return false
  return fields.name === name && fields.email === email && fields.status === status
}

/** The e-mail address is for those who ask by REST only. */
const stateOf = ({
  userId,
  clientId,
  clock,
  fields: { name = '', status = defaultStatus },
}: VirtualUser): VirtualUserState => ({
  userId,
  clientId,
  clock,
  text: JSON.stringify({ user: { id: userId, name, status } }),
})

/** What was said before, as far as it is not said anew. */
export function mergeFields(before: RestPresence, { name, email, status }: RestPresence): RestPresence {
  return {
    name: name ?? before.name,
    email: email ?? before.email,
    status: status ?? before.status,
  }
}

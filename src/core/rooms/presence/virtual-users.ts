import { randomUUID } from 'node:crypto'
import type * as Y from 'yjs'
import type { Clock } from '../../base/clock.ts'
import { ApiError } from '../../base/errors.ts'
import { encodePosition } from '../../content/yjs/items.ts'
import { exhausted, limitDetails } from '../../quota/limits.ts'
import type { AwarenessText } from '../../update/awareness.ts'
import {
  awarenessTextOf,
  mergeFields,
  type PresenceCursor,
  type RestPresence,
  shownIdOf,
} from './rest-presence.ts'

/** The time at which changes are sent: at the end of the tick, or when the broadcast window ends. */
export type BroadcastTiming = 'tick' | 'window'

/** Maximum number of virtual users of one document. */
const virtualUsersMax = 500
/** Maximum number of virtual users of all documents of a process together. */
const virtualUsersTotalMax = 100_000
/** Seconds after which rejected callers should try again. By then, other virtual users may have expired. */
const retryAfterSeconds = 60
/**
 * Interval in milliseconds at which the awareness states of virtual users are renewed. Stock clients remove a
 * state that is not renewed for 30 s.
 */
const virtualUserRenewalMs = 15_000
/**
 * Time at which the awareness clocks of virtual users start. These clocks count the seconds since then, so
 * that the clocks after a restart are higher than those before it.
 */
const clockEpoch = Date.UTC(2026, 0)

/**
 * The client ids from `firstClientId` to `lastClientId` are reserved for virtual users. The probability that a
 * client of Yjs 13 chooses one of these ids is one in eight million; that of Yjs 14, which has ids of 53 bits,
 * is far smaller.
 */
const lastClientId = 2 ** 32 - 1
const firstClientId = lastClientId - virtualUsersMax + 1

/** Returns whether a client id is reserved for virtual users. Clients with sockets cannot use such an id. */
export const isVirtualClient = (clientId: number): boolean =>
  clientId >= firstClientId && clientId <= lastClientId

export interface VirtualUserState extends Pick<AwarenessText, 'clientId' | 'clock'> {
  readonly userId: string
  /** Returns the JSON of the state in an editor; null after the user has left. */
  readonly textIn: ((editorId: string) => string) | null
}

/** The number of virtual users of all documents, which all lists of a process update. */
export interface VirtualUserCount {
  count: number
}

export interface VirtualUser {
  readonly userId: string
  readonly clientId: number
  readonly clock: number
  readonly fields: RestPresence
  /** Time for which the user stays after the last REST call. Infinite for a writer. */
  readonly ttlMs: number
  /** Time of the last REST call, in epoch milliseconds. */
  readonly lastSeen: number
}

/** A program that writes into an editor, as other users see it. */
export interface NewWriter extends Pick<RestPresence, 'name' | 'kind' | 'data' | 'color'> {
  /** Id of the user who writes. A user can have several writers. */
  readonly userId: string
  readonly editorId: string
  readonly contentKey: string
  /** The position at which the writer inserts its next text. */
  readonly cursor: Y.RelativePosition
}

/** The caret of a writer. It is visible until `end`. */
export interface ShownWriter {
  /** Moves the caret. Clients see the last of several fast moves. */
  move(cursor: Y.RelativePosition): void
  end(): void
}

interface VirtualUserOptions {
  readonly clock: Clock
  readonly total: VirtualUserCount
  /**
   * Called with the awareness states that have changed.
   * @param timing `window` if only a writer has moved
   */
  readonly changed: (states: readonly VirtualUserState[], timing: BroadcastTiming) => void
  readonly joined: (virtualUser: VirtualUser) => void
  /** Called when a virtual user has ended, even if it ended because the user connected with a socket. */
  readonly left: (virtualUser: VirtualUser) => void
}

/**
 * The virtual users of one document. Each virtual user has a time limit, and a client id that no other client
 * of the document has.
 */
export class VirtualUserList {
  readonly #options: VirtualUserOptions
  readonly #byUser = new Map<string, VirtualUser>()
  readonly #clientIds = new Set<number>()
  /**
   * The client id that was assigned last. The first value is random, because clients may remember the client
   * ids of an earlier list.
   */
  #lastClientId = firstClientId + Math.floor(Math.random() * virtualUsersMax)
  /**
   * The highest clock of a removed virtual user. A new virtual user starts with a higher clock, because it
   * may get the client id of the removed one.
   */
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

  /**
   * Shows a writer. A user can have several writers, and can also be present with a socket or by REST. Nothing is
   * shown if the limits for virtual users are reached.
   */
  showWriter({ userId: writerOf, editorId, contentKey, cursor, ...shown }: NewWriter): ShownWriter {
    if (this.size >= virtualUsersMax || this.#options.total.count >= virtualUsersTotalMax)
      return { move: () => {}, end: () => {} }
    const cursorAt = (place: Y.RelativePosition): PresenceCursor => {
      const position = encodePosition(place)
      return { editorId, contentKey, position, positionEnd: position }
    }
    // Ids of users have no control characters.
    const id = `\u0001${randomUUID()}`
    this.set(id, { ...shown, writerOf, cursor: cursorAt(cursor) }, Number.POSITIVE_INFINITY)
    return {
      // REST may have deleted the user or the document meanwhile.
      move: (place) => {
        if (this.get(id) !== undefined) this.set(id, { cursor: cursorAt(place) })
      },
      end: () => this.remove([id]),
    }
  }

  /** Returns the virtual users that other users see under this id: the user, and the user's writers. */
  shownAs(userId: string): readonly VirtualUser[] {
    return [...this.all()].filter((each) => shownIdOf(each.userId, each.fields) === userId)
  }

  /**
   * Checks the limits for virtual users.
   * @param added number of new virtual users
   * @throws ApiError FAILED_PRECONDITION, RESOURCE_EXHAUSTED if the new users would exceed a limit
   */
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
        remedy: `delete some with /v2/presence/delete`,
        retryAfterSeconds,
      })
  }

  /**
   * Adds a virtual user, or changes one, whose time then starts again. Does not check the limits.
   * @param ttlMs absent: the user keeps its time
   */
  set(userId: string, fields: RestPresence, ttlMs?: number): void {
    const before = this.#byUser.get(userId)
    const now = this.#options.clock.now()
    if (this.size === 0) this.#renewedAt = now
    const virtualUser: VirtualUser = {
      userId,
      clientId: before?.clientId ?? this.#takeClientId(),
      clock: this.#clockAfter(before?.clock ?? this.#lastRemovedClock),
      fields: mergeFields(before?.fields ?? {}, fields),
      ttlMs: ttlMs ?? before?.ttlMs ?? 0,
      lastSeen: now,
    }
    this.#byUser.set(userId, virtualUser)
    if (before === undefined) this.#options.joined(virtualUser)
    const isMove = before !== undefined && virtualUser.fields.writerOf !== undefined
    this.#publish([stateOf(virtualUser)], isMove ? 'window' : 'tick')
  }

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
      changed.push({ userId, clientId: virtualUser.clientId, clock: virtualUser.clock, textIn: null })
    }
    if (changed.length > 0) this.#publish(changed)
  }

  #takeClientId(): number {
    do {
      this.#lastClientId = this.#lastClientId < lastClientId ? this.#lastClientId + 1 : firstClientId
    } while (this.#clientIds.has(this.#lastClientId))
    this.#clientIds.add(this.#lastClientId)
    this.#options.total.count += 1
    return this.#lastClientId
  }

  #clockAfter(last: number): number {
    return Math.max(last + 1, Math.floor((this.#options.clock.now() - clockEpoch) / 1000))
  }

  #publish(changed: readonly VirtualUserState[], timing: BroadcastTiming = 'tick'): void {
    this.#schedule()
    this.#options.changed(changed, timing)
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

const stateOf = ({ userId, clientId, clock, fields }: VirtualUser): VirtualUserState => ({
  userId,
  clientId,
  clock,
  textIn: (editorId) => awarenessTextOf(shownIdOf(userId, fields), fields, editorId),
})

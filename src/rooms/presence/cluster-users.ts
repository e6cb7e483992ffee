import type { Clock } from '../../clock.ts'
import { type ConnectedUser, lastRestState } from './presence-entry.ts'
import {
  afterArrival,
  applyRestCall,
  isDeletedByRest,
  isVirtualUser,
  type NodeUserRecord,
  type RestCall,
  type RestUserRecord,
} from './presence-records.ts'
import type { PresenceReplica } from './presence-replica.ts'
import type { RestPresence } from './virtual-users.ts'

/** A user of whom only REST says that they are there. */
export type ClusterVirtualUser = Pick<RestUserRecord, 'said' | 'ttlMs' | 'lastSeen'>

/** What all nodes together know of the users of one document. */
export class ClusterUsers {
  readonly #desk: PresenceReplica
  readonly #clock: Clock

  constructor(desk: PresenceReplica, clock: Clock) {
    this.#desk = desk
    this.#clock = clock
  }

  /** Users with a socket on another node. */
  elsewhere(): Iterable<string> {
    return this.#desk.heard.people()
  }

  isElsewhere(userId: string): boolean {
    return this.#desk.heard.person(userId).length > 0
  }

  /** What the other nodes say of a user with sockets there: what has been deleted meanwhile does not count. */
  people(userId: string): readonly NodeUserRecord[] {
    const rest = this.#desk.rest(userId)
    return this.#desk.heard.person(userId).flatMap((record) => {
      const editors = record.editors.filter(([, joined]) => rest === null || !isDeletedByRest(rest, joined))
      if (editors.length === 0) return []
      const isNewer = rest !== null && rest.at > record.saidAt && rest.at > firstOf(record)
      const { said, at: saidAt } = isNewer ? rest : { said: record.said, at: record.saidAt }
      return [{ ...record, editors, said, saidAt, lastSeen: this.#desk.lastSeen(record) }]
    })
  }

  /** What REST has said of somebody who comes here, and is somewhere else already. */
  saidElsewhere(userId: string): { said: RestPresence; saidAt: number } | null {
    const people = this.people(userId)
    return people.length === 0 ? null : lastRestState(people)
  }

  /** Somebody has come with a socket, and is no guest any more. */
  arrived(userId: string): void {
    this.#desk.personChanged(userId)
    const rest = this.#desk.rest(userId)
    if (rest !== null && isVirtualUser(rest, this.#clock.now())) this.#endGuest(rest)
  }

  /** @param before what was said of the user here */
  call(
    kind: RestCall['kind'],
    {
      userId,
      said,
      before,
      ttlMs,
    }: Pick<RestCall, 'userId' | 'said' | 'ttlMs'> & {
      before: RestPresence | undefined
    },
  ): void {
    const known = this.#desk.rest(userId)
    const saidBefore = before ?? this.saidElsewhere(userId)?.said ?? {}
    const [at, now] = [this.#stampAfter(known), this.#clock.now()]
    this.#desk.write(applyRestCall(known, saidBefore, { kind, userId, said, ttlMs, at, now }))
  }

  /** Does with the sockets of a user here what was said anywhere; false when that changes nothing. */
  settle(userId: string, connected: ConnectedUser): boolean {
    const rest = this.#desk.rest(userId)
    let isNews = false
    if (rest !== null) {
      isNews = hide(connected, rest)
      if (rest.at > connected.saidAt && rest.at > connected.since) isNews = say(connected, rest.said, rest.at)
    }
    const { said, saidAt } = lastRestState(this.#desk.heard.person(userId))
    return saidAt > connected.saidAt ? say(connected, said, saidAt) : isNews
  }

  /**
   * Somebody without a socket whom REST has named. Null: there is no such user any more; `unknown`: nothing was said.
   * Who has a socket is no guest, and will be none without it: of the node with the socket, of which others do not hear
   * when it was deleted, and of the one that was told of the guest, either may be the only one to know of both.
   * @param isHere with a socket
   */
  guest(userId: string, isHere: boolean): ClusterVirtualUser | null | 'unknown' {
    const rest = this.#desk.rest(userId)
    const isConnected = isHere || this.isElsewhere(userId)
    if (rest === null) return isConnected ? null : 'unknown'
    if (!isVirtualUser(rest, this.#clock.now())) return null
    if (!isConnected) return rest
    if (isHere || this.#desk.keepsRest(userId)) this.#endGuest(rest)
    return null
  }

  #endGuest(rest: RestUserRecord): void {
    this.#desk.write(afterArrival(rest, this.#stampAfter(rest), this.#clock.now()))
  }

  /** Later than what is known, also if that is of a node whose clock is too far ahead to be followed. */
  #stampAfter(known: RestUserRecord | null): number {
    return Math.max(this.#desk.stamps.next(), (known?.at ?? 0) + 1)
  }
}

const firstOf = ({ editors }: NodeUserRecord): number => Math.min(...editors.map(([, joined]) => joined))

function say(connected: ConnectedUser, said: RestPresence, saidAt: number): true {
  connected.said = said
  connected.saidAt = saidAt
  return true
}

/** Who was deleted stays away until something says that they were added afterwards. */
function hide({ sockets }: ConnectedUser, rest: RestUserRecord): boolean {
  let isNews = false
  for (const socket of sockets.values()) {
    const before = socket.shown
    if (isDeletedByRest(rest, socket.joined)) {
      socket.shown = 'deleted'
      socket.deletedAt = Math.max(socket.deletedAt, rest.deletedAt)
    } else if (rest.addedAt > socket.deletedAt) socket.shown = 'present'
    if (socket.shown !== before) isNews = true
  }
  return isNews
}

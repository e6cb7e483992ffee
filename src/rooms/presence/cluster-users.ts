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
export type ClusterVirtualUser = Pick<RestUserRecord, 'fields' | 'ttlMs' | 'lastSeen'>

/** What all nodes together know of the users of one document. */
export class ClusterUsers {
  readonly #replica: PresenceReplica
  readonly #clock: Clock

  constructor(replica: PresenceReplica, clock: Clock) {
    this.#replica = replica
    this.#clock = clock
  }

  /** Users with a socket on another node. */
  remoteUserIds(): Iterable<string> {
    return this.#replica.remote.userIds()
  }

  isRemote(userId: string): boolean {
    return this.#replica.remote.userRecords(userId).length > 0
  }

  /** What the other nodes say of a user with sockets there: what has been deleted meanwhile does not count. */
  userRecords(userId: string): readonly NodeUserRecord[] {
    const rest = this.#replica.restRecord(userId)
    return this.#replica.remote.userRecords(userId).flatMap((record) => {
      const editors = record.editors.filter(([, joined]) => rest === null || !isDeletedByRest(rest, joined))
      if (editors.length === 0) return []
      const isNewer = rest !== null && rest.at > record.fieldsAt && rest.at > firstJoined(record)
      const { fields, at: fieldsAt } = isNewer ? rest : { fields: record.fields, at: record.fieldsAt }
      return [{ ...record, editors, fields, fieldsAt, lastSeen: this.#replica.lastSeen(record) }]
    })
  }

  /** What REST has said of somebody who comes here, and is somewhere else already. */
  remoteFields(userId: string): { fields: RestPresence; fieldsAt: number } | null {
    const userRecords = this.userRecords(userId)
    return userRecords.length === 0 ? null : lastRestState(userRecords)
  }

  /** Somebody has come with a socket, and is no virtual user any more. */
  connected(userId: string): void {
    this.#replica.userChanged(userId)
    const rest = this.#replica.restRecord(userId)
    if (rest !== null && isVirtualUser(rest, this.#clock.now())) this.#endVirtualUser(rest)
  }

  /** @param before what was said of the user here */
  applyRest(
    kind: RestCall['kind'],
    {
      userId,
      fields,
      before,
      ttlMs,
    }: Pick<RestCall, 'userId' | 'fields' | 'ttlMs'> & {
      before: RestPresence | undefined
    },
  ): void {
    const known = this.#replica.restRecord(userId)
    const fieldsBefore = before ?? this.remoteFields(userId)?.fields ?? {}
    const [at, now] = [this.#stampAfter(known), this.#clock.now()]
    this.#replica.writeRest(applyRestCall(known, fieldsBefore, { kind, userId, fields, ttlMs, at, now }))
  }

  /** Does with the sockets of a user here what was said anywhere; false when that changes nothing. */
  reconcile(userId: string, connected: ConnectedUser): boolean {
    const rest = this.#replica.restRecord(userId)
    let hasChanged = false
    if (rest !== null) {
      hasChanged = applyDeletion(connected, rest)
      if (rest.at > connected.fieldsAt && rest.at > connected.since)
        hasChanged = setFields(connected, rest.fields, rest.at)
    }
    const { fields, fieldsAt } = lastRestState(this.#replica.remote.userRecords(userId))
    return fieldsAt > connected.fieldsAt ? setFields(connected, fields, fieldsAt) : hasChanged
  }

  /**
   * Somebody without a socket whom REST has named. Null: there is no such user any more; `unknown`: nothing was said.
   * Who has a socket is no virtual user, and will be none without it: of the node with the socket, of which others do not hear
   * when it was deleted, and of the one that was told of the virtual user, either may be the only one to know of both.
   * @param isHere with a socket
   */
  virtualUser(userId: string, isHere: boolean): ClusterVirtualUser | null | 'unknown' {
    const rest = this.#replica.restRecord(userId)
    const isConnected = isHere || this.isRemote(userId)
    if (rest === null) return isConnected ? null : 'unknown'
    if (!isVirtualUser(rest, this.#clock.now())) return null
    if (!isConnected) return rest
    if (isHere || this.#replica.hasOwnRest(userId)) this.#endVirtualUser(rest)
    return null
  }

  #endVirtualUser(rest: RestUserRecord): void {
    this.#replica.writeRest(afterArrival(rest, this.#stampAfter(rest), this.#clock.now()))
  }

  /** Later than what is known, also if that is of a node whose clock is too far ahead to be followed. */
  #stampAfter(known: RestUserRecord | null): number {
    return Math.max(this.#replica.logicalClock.next(), (known?.at ?? 0) + 1)
  }
}

const firstJoined = ({ editors }: NodeUserRecord): number => Math.min(...editors.map(([, joined]) => joined))

function setFields(connected: ConnectedUser, fields: RestPresence, fieldsAt: number): true {
  connected.fields = fields
  connected.fieldsAt = fieldsAt
  return true
}

/** Who was deleted stays away until something says that they were added afterwards. */
function applyDeletion({ sockets }: ConnectedUser, rest: RestUserRecord): boolean {
  let hasChanged = false
  for (const socket of sockets.values()) {
    const before = socket.shown
    if (isDeletedByRest(rest, socket.joined)) {
      socket.shown = 'deleted'
      socket.deletedAt = Math.max(socket.deletedAt, rest.deletedAt)
    } else if (rest.addedAt > socket.deletedAt) socket.shown = 'present'
    if (socket.shown !== before) hasChanged = true
  }
  return hasChanged
}

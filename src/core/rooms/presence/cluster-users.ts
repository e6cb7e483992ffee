import type { Clock } from '../../base/clock.ts'
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
import type { RestPresence } from './rest-presence.ts'

/** A virtual user: a user whom REST has added and who has no socket on any node. */
type ClusterVirtualUser = Pick<RestUserRecord, 'fields' | 'ttlMs' | 'lastSeen'>

/** Reads and changes the users of one document on all nodes, through the presence replica of this node. */
export class ClusterUsers {
  readonly #replica: PresenceReplica
  readonly #clock: Clock

  constructor(replica: PresenceReplica, clock: Clock) {
    this.#replica = replica
    this.#clock = clock
  }

  isRemote(userId: string): boolean {
    return this.#replica.remote.userRecords(userId).length > 0
  }

  /**
   * Returns the records of a user with sockets on other nodes: one for each of these nodes. The records leave
   * out the editors in which REST has deleted the user. If a later REST call has set other fields, the
   * records contain these fields.
   */
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

  /**
   * Returns the latest REST fields of a user with sockets on other nodes; null if the user has no such
   * sockets.
   */
  remoteFields(userId: string): { fields: RestPresence; fieldsAt: number } | null {
    const userRecords = this.userRecords(userId)
    return userRecords.length === 0 ? null : lastRestState(userRecords)
  }

  /**
   * Must be called when a user has connected on this node. Ends the virtual user with the same id, if there
   * is one.
   */
  connected(userId: string): void {
    this.#replica.userChanged(userId)
    const rest = this.#replica.restRecord(userId)
    if (rest !== null && isVirtualUser(rest, this.#clock.now())) this.#endVirtualUser(rest)
  }

  /**
   * Records a REST call that adds, changes or deletes a user.
   * @param before the fields of the user on this node before the call
   */
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

  /**
   * Applies the REST calls that all nodes have received to the sockets of a user on this node. Returns
   * whether anything has changed.
   */
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
   * Returns the virtual user with this id. Returns null if there is none, and `unknown` if no REST call for
   * this user is known. Ends a virtual user whose user has a socket.
   *
   * A user with a socket is not a virtual user, and does not become one when the socket closes. It is
   * possible that only one node knows both the socket and the REST record: either the node with the socket,
   * or the node with the record. Therefore each of these nodes ends the virtual user.
   * @param isHere true if the user has a socket on this node
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

  /**
   * Returns a timestamp that is later than the known record, even if the record has a timestamp from a node
   * whose clock is far ahead.
   */
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

/**
 * Hides the sockets of a user that connected before REST last deleted the user. A hidden socket stays hidden
 * until REST adds the user again. Returns whether anything has changed.
 */
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

import type { Visitor } from '../../events/visit-tracker.ts'
import type { Member } from '../room/member.ts'
import type { NodeUserRecord } from './presence-records.ts'
import { defaultStatus, mergeFields, type RestPresence, type VirtualUser } from './virtual-users.ts'

/** A user on a document. */
export interface PresenceEntry {
  readonly userId: string
  /** '' if unknown, as for the email address. */
  readonly name: string
  readonly email: string
  readonly status: string
  /** `rest`: the user has no socket, and a backend has added the user. */
  readonly source: 'socket' | 'rest'
  /** Ids of the open editors, sorted; empty without a socket. */
  readonly editorIds: readonly string[]
  /** Time of the last message of a socket, or of the last REST call for a virtual user, in epoch milliseconds. */
  readonly lastSeen: number
}

/** One connection of a user. */
export interface UserSocket {
  readonly editorId: string
  /** Stamp. */
  readonly joined: number
  /** `deleted`: by REST, until a REST add or a new connection of the user. */
  shown: 'present' | 'deleted'
  /** Timestamp of the deletion. */
  deletedAt: number
  lastSeen: number
  /** The status in the state of the client. */
  status: string | undefined
}

/** A user with sockets here. */
export interface ConnectedUser<Socket extends UserSocket = UserSocket> {
  readonly sockets: Map<Member, Socket>
  fields: RestPresence
  /** Timestamps of the last REST call, or 0, and of the first connection. */
  fieldsAt: number
  readonly since: number
}

/**
 * Returns the user as a visitor; null if REST has deleted all sockets. It stops at the first visible socket,
 * because a user may have very many.
 */
export function visitorInSockets({ sockets, fields }: ConnectedUser): Visitor | null {
  for (const [{ user }, { shown }] of sockets) {
    if (shown !== 'present') continue
    return visitorOf(
      { userId: user.id, fields: mergeFields({ name: user.name, email: user.email }, fields) },
      'socket',
    )
  }
  return null
}

export const isPresent = (connected: ConnectedUser): boolean => visitorInSockets(connected) !== null

export function visitorOf(
  { userId, fields: { name, email } }: Pick<VirtualUser, 'userId' | 'fields'>,
  source: Visitor['source'] = 'rest',
): Visitor {
  const user = { userId, ...(name && { name }), ...(email && { email }) }
  return { user, source }
}

export function virtualUserEntry({ userId, fields, lastSeen }: VirtualUser): PresenceEntry {
  const { name = '', email = '', status = defaultStatus } = fields
  return { userId, name, email, status, source: 'rest', editorIds: [], lastSeen }
}

/**
 * Returns the record of a user with sockets here. The socket with the latest message provides name, email and
 * status. Null if REST has deleted all sockets.
 */
export function socketUserOf({ sockets, fields, fieldsAt }: ConnectedUser): NodeUserRecord | null {
  const editors = new Map<string, number>()
  let latest: readonly [Member, UserSocket] | null = null
  for (const [member, socket] of sockets) {
    if (socket.shown !== 'present') continue
    editors.set(socket.editorId, Math.max(editors.get(socket.editorId) ?? 0, socket.joined))
    if (latest === null || socket.lastSeen > latest[1].lastSeen) latest = [member, socket]
  }
  if (latest === null) return null
  const [{ user }, { lastSeen, status = null }] = latest
  const { id: userId, name, email } = user
  return { kind: 'user', userId, name, email, status, editors: [...editors], fields, fieldsAt, lastSeen }
}

/** Returns the entry of a user from the records of all nodes with sockets of the user; null without records. */
export function entryOf(records: readonly NodeUserRecord[]): PresenceEntry | null {
  const [latest] = records.toSorted((a, b) => b.lastSeen - a.lastSeen)
  if (latest === undefined) return null
  const { userId, lastSeen, status: own } = latest
  const {
    name = latest.name,
    email = latest.email,
    status = own ?? defaultStatus,
  } = lastRestState(records).fields
  const editorIds = [...new Set(records.flatMap(({ editors }) => editors.map(([id]) => id)))].sort()
  return { userId, name, email, status, source: 'socket', editorIds, lastSeen }
}

/** Returns the fields of the last REST call on a user in these records. */
export function lastRestState(records: readonly Pick<NodeUserRecord, 'fields' | 'fieldsAt'>[]): {
  readonly fields: RestPresence
  readonly fieldsAt: number
} {
  let last: { fields: RestPresence; fieldsAt: number } = { fields: {}, fieldsAt: -1 }
  for (const { fields, fieldsAt } of records) if (fieldsAt > last.fieldsAt) last = { fields, fieldsAt }
  return last
}

import type { Visitor } from '../../events/visit-tracker.ts'
import type { Member } from '../room/member.ts'
import type { NodeUserRecord } from './presence-records.ts'
import { defaultStatus, mergeFields, type RestPresence, type VirtualUser } from './virtual-users.ts'

/** Somebody who is on a document. */
export interface PresenceEntry {
  readonly userId: string
  /** '' when unknown, as the e-mail address. */
  readonly name: string
  readonly email: string
  readonly status: string
  /** `rest`: nobody has seen them but the backend that says so. */
  readonly source: 'socket' | 'rest'
  /** The editors that they have open, in order; none without a socket. */
  readonly editorIds: readonly string[]
  /** Epoch milliseconds: of the last sign of life from a socket, or by REST where there is none. */
  readonly lastSeen: number
}

/** One connection of a user. */
export interface UserSocket {
  readonly editorId: string
  /** Stamp. */
  readonly joined: number
  /** `deleted`: by REST; it stays away until the user comes back with another. */
  shown: 'present' | 'deleted'
  /** Stamp of that. */
  deletedAt: number
  lastSeen: number
  /** What the client says of its user. */
  status: string | undefined
}

/** A user with sockets here. */
export interface ConnectedUser<Socket extends UserSocket = UserSocket> {
  readonly sockets: Map<Member, Socket>
  fields: RestPresence
  /** Stamps of the last REST call, or 0, and of the first connection. */
  fieldsAt: number
  readonly since: number
}

/** Not by their number: a user may have very many. */
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

/** Of several sockets the one heard of last says who the user is. Null when all have been deleted. */
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

/** Somebody as the nodes say that have sockets of theirs; null without any. */
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

/** What REST has said last of a user, as far as nodes with sockets of theirs have heard of it. */
export function lastRestState(records: readonly Pick<NodeUserRecord, 'fields' | 'fieldsAt'>[]): {
  readonly fields: RestPresence
  readonly fieldsAt: number
} {
  let last: { fields: RestPresence; fieldsAt: number } = { fields: {}, fieldsAt: -1 }
  for (const { fields, fieldsAt } of records) if (fieldsAt > last.fieldsAt) last = { fields, fieldsAt }
  return last
}

import { mergeFields, type RestPresence } from './virtual-users.ts'

/** The awareness state of a client, published by its node. */
export interface ClientRecord {
  readonly kind: 'client'
  readonly editorId: string
  readonly clientId: number
  readonly clock: number
  /** JSON with the identity of the token. */
  readonly text: string
  readonly userId: string
  /** Timestamp at which the member took the client id. */
  readonly since: number
}

/** A user with sockets on a node. Sockets that REST has deleted are left out. */
export interface NodeUserRecord {
  readonly kind: 'user'
  readonly userId: string
  readonly name: string
  readonly email: string
  /** The status in the state of the client with the latest message. */
  readonly status: string | null
  /** Open editors, with the timestamp of the last connection. */
  readonly editors: readonly (readonly [editorId: string, joined: number])[]
  readonly fields: RestPresence
  /** Timestamp of `fields`; 0: none were set. */
  readonly fieldsAt: number
  /** Epoch milliseconds. */
  readonly lastSeen: number
}

/** The result of the REST calls on a user. Times are timestamps of the logical clock; 0: no such call. */
export interface RestUserRecord {
  readonly kind: 'rest'
  readonly userId: string
  readonly at: number
  readonly fields: RestPresence
  /** How long the user is shown without a socket after `lastSeen`; 0: not at all. */
  readonly ttlMs: number
  /** Epoch milliseconds. */
  readonly lastSeen: number
  readonly deletedAt: number
  readonly addedAt: number
  /** When a virtual user with this id connected. */
  readonly arrivedAt: number
  /** Published until this time, in epoch milliseconds. After it, no node shows the user because of an older record. */
  readonly keptUntil: number
}

/** How long a REST call on a user with a socket is published. The node with the socket applies it within this time. */
export const repeatForMs = 60_000

export type PresenceRecord = ClientRecord | NodeUserRecord | RestUserRecord

/** Returns the name of a record. The kind comes first, so that no id can produce the name of another record. */
export function recordName(record: PresenceRecord): string {
  if (record.kind === 'user') return userRecordName(record.userId)
  if (record.kind === 'rest') return restName(record.userId)
  return clientName(record.editorId, record.clientId)
}

export const userRecordName = (userId: string): string => `p${userId}`
export const restName = (userId: string): string => `r${userId}`
export const clientName = (editorId: string, clientId: number): string => `c${clientId}:${editorId}`

export type RecordName =
  | { readonly kind: 'client'; readonly editorId: string; readonly clientId: number }
  | { readonly kind: 'user' | 'rest'; readonly userId: string }

/** Parses a name of `recordName`. */
export function parseRecordName(name: string): RecordName {
  const id = name.slice(1)
  if (name.startsWith('p')) return { kind: 'user', userId: id }
  if (name.startsWith('r')) return { kind: 'rest', userId: id }
  const colon = id.indexOf(':')
  return { kind: 'client', clientId: Number(id.slice(0, colon)), editorId: id.slice(colon + 1) }
}

/** A REST call on one user. `ttlMs` is 0 if the user has a socket. */
export interface RestCall {
  readonly kind: 'add' | 'update' | 'delete'
  readonly userId: string
  readonly fields: RestPresence
  readonly ttlMs: number
  readonly at: number
  readonly now: number
}

/**
 * Returns the record after a call. It keeps the earlier timestamps, so that the result is the same in any order of
 * arrival.
 * @param fields the fields of the user before the call, if known
 */
export function applyRestCall(
  before: RestUserRecord | null,
  fields: RestPresence,
  call: RestCall,
): RestUserRecord {
  const { kind, userId, ttlMs, at, now } = call
  const isDeleted = kind === 'delete'
  return {
    kind: 'rest',
    userId,
    at,
    fields: isDeleted ? {} : mergeFields(fields, call.fields),
    ttlMs: isDeleted ? 0 : ttlMs,
    lastSeen: now,
    deletedAt: isDeleted ? at : (before?.deletedAt ?? 0),
    addedAt: kind === 'add' ? at : (before?.addedAt ?? 0),
    arrivedAt: before?.arrivedAt ?? 0,
    keptUntil: Math.max(before?.keptUntil ?? 0, now + Math.max(ttlMs, repeatForMs)),
  }
}

/** Returns the record of a virtual user after the user has connected. */
export const afterArrival = (virtualUser: RestUserRecord, at: number, now: number): RestUserRecord => ({
  ...virtualUser,
  at,
  ttlMs: 0,
  lastSeen: now,
  arrivedAt: at,
  keptUntil: Math.max(virtualUser.keptUntil, now + repeatForMs),
})

/** Returns the later record, with the latest timestamps of both. */
export function mergeRestRecords(one: RestUserRecord, two: RestUserRecord): RestUserRecord {
  const later = isLater(two, one) ? two : one
  const latest = (field: MergedField): number => Math.max(one[field], two[field])
  if (mergedFields.every((field) => later[field] === latest(field))) return later
  return {
    ...later,
    deletedAt: latest('deletedAt'),
    addedAt: latest('addedAt'),
    arrivedAt: latest('arrivedAt'),
    keptUntil: latest('keptUntil'),
  }
}

const mergedFields = ['deletedAt', 'addedAt', 'arrivedAt', 'keptUntil'] as const
type MergedField = (typeof mergedFields)[number]

/** Records with the same timestamp are ordered by their content, so that all nodes choose the same one. */
const isLater = (one: RestUserRecord, two: RestUserRecord): boolean =>
  one.at === two.at ? contentOf(one) > contentOf(two) : one.at > two.at

const contentOf = ({ fields, ttlMs, lastSeen }: RestUserRecord): string =>
  JSON.stringify([ttlMs, lastSeen, fields])

/**
 * Returns whether REST has deleted a socket and has not added its user again. @param joined timestamp of the
 * connection
 */
export const isDeletedByRest = ({ deletedAt, addedAt }: RestUserRecord, joined: number): boolean =>
  deletedAt > addedAt && joined < deletedAt

/**
 * Returns whether the record is a user without a socket. Only an add creates one. An update by a node that has not
 * received the deletion, or the connection, does not.
 */
export const isVirtualUser = (
  { addedAt, deletedAt, arrivedAt, lastSeen, ttlMs }: RestUserRecord,
  now: number,
): boolean => addedAt > Math.max(deletedAt, arrivedAt) && lastSeen + ttlMs > now

/** The claim of a node on a client id: the user, and the time of the connection. */
export type ClientClaim = Pick<ClientRecord, 'userId' | 'since'>

/**
 * Returns the owner of a client id that several nodes claim. All nodes choose the same: the first user with this
 * id, and the last connection of that user.
 */
export function clientIdOwner<C extends ClientClaim>(claims: readonly C[]): C | null {
  let first: C | null = null
  for (const claim of claims) if (first === null || isBefore(claim, first)) first = claim
  let winner = first
  for (const claim of claims)
    if (winner !== null && claim.userId === winner.userId && claim.since > winner.since) winner = claim
  return winner
}

const isBefore = (one: ClientClaim, two: ClientClaim): boolean =>
  one.since < two.since || (one.since === two.since && one.userId < two.userId)

import * as s from '../../base/schema.ts'
import { mergeFields, type RestPresence, restPresenceSchema } from './rest-presence.ts'

/** The awareness state of a client, as the node to which the client is connected publishes it. */
export interface ClientRecord {
  readonly kind: 'client'
  readonly editorId: string
  readonly clientId: number
  readonly clock: number
  /** JSON of the state, with the identity from the token. */
  readonly text: string
  readonly userId: string
  /** Timestamp of the logical clock at which the member claimed the client id. */
  readonly since: number
}

/** A user with sockets on one node. Sockets that REST has hidden are not included. */
export interface NodeUserRecord {
  readonly kind: 'user'
  readonly userId: string
  readonly name: string
  readonly email: string
  /** The status in the state of the client that sent the latest message. */
  readonly status: string | null
  /**
   * Ids of the editors that the user has open on the node, each with the timestamp of the last connection.
   */
  readonly editors: readonly (readonly [editorId: string, joined: number])[]
  readonly fields: RestPresence
  /** Timestamp of `fields`; 0 if REST has set no fields. */
  readonly fieldsAt: number
  /** Time of the last message of the user's sockets on the node, in epoch milliseconds. */
  readonly lastSeen: number
}

/**
 * The result of all REST calls for one user. `at`, `deletedAt`, `addedAt` and `arrivedAt` are timestamps of
 * the logical clock: the times of the last change, of the last deletion, of the last addition, and of the
 * last connection that ended the virtual user. 0 means that there was none.
 */
export interface RestUserRecord {
  readonly kind: 'rest'
  readonly userId: string
  readonly at: number
  readonly fields: RestPresence
  /**
   * Milliseconds after `lastSeen` during which a user without a socket is shown. 0: such a user is not shown.
   */
  readonly ttlMs: number
  /** Time of the last REST call, or of the connection that ended the virtual user, in epoch milliseconds. */
  readonly lastSeen: number
  readonly deletedAt: number
  readonly addedAt: number
  /** Timestamp at which the virtual user ended because a user with the same id connected. */
  readonly arrivedAt: number
  /**
   * Time until which the record is published, in epoch milliseconds. After this time, no node has an older
   * record that would show the user again.
   */
  readonly keptUntil: number
}

/**
 * Milliseconds for which the record of a REST call is published at least. Within this time, the node that has
 * a socket of the user applies the call.
 */
export const repeatForMs = 60_000

export type PresenceRecord = ClientRecord | NodeUserRecord | RestUserRecord

/** Schema of a client id or clock. Clients would fail on other numbers. */
const safeUint = s.integer(0)

/** Schema of a JSON text. Clients receive the text unchanged, and would fail if they could not parse it. */
const jsonText = s.checked(s.string, (value) => {
  try {
    JSON.parse(value)
    return true
  } catch {
    return false
  }
})

export const presenceRecordSchema: s.SchemaOf<PresenceRecord> = s.variant('kind', [
  s.object({
    kind: s.literal('client'),
    editorId: s.string,
    clientId: safeUint,
    clock: safeUint,
    text: jsonText,
    userId: s.string,
    since: s.number,
  }),
  s.object({
    kind: s.literal('user'),
    userId: s.string,
    name: s.string,
    email: s.string,
    status: s.orNull(s.string),
    editors: s.array(s.tuple([s.string, s.number])),
    fields: restPresenceSchema,
    fieldsAt: s.number,
    lastSeen: s.number,
  }),
  s.object({
    kind: s.literal('rest'),
    userId: s.string,
    at: s.number,
    fields: restPresenceSchema,
    ttlMs: s.number,
    lastSeen: s.number,
    deletedAt: s.number,
    addedAt: s.number,
    arrivedAt: s.number,
    keptUntil: s.number,
  }),
])

/**
 * Returns the name under which a record is published. The name starts with a letter for the kind, so that no
 * id can produce the name of a record of another kind.
 */
export function recordName(record: PresenceRecord): string {
  if (record.kind === 'user') return userRecordName(record.userId)
  if (record.kind === 'rest') return restName(record.userId)
  return clientName(record.editorId, record.clientId)
}

export const userRecordName = (userId: string): string => `p${userId}`
const restName = (userId: string): string => `r${userId}`
export const clientName = (editorId: string, clientId: number): string => `c${clientId}:${editorId}`

type RecordName =
  | { readonly kind: 'client'; readonly editorId: string; readonly clientId: number }
  | { readonly kind: 'user' | 'rest'; readonly userId: string }

/** Parses a name that `recordName` returned. */
export function parseRecordName(name: string): RecordName {
  const id = name.slice(1)
  if (name.startsWith('p')) return { kind: 'user', userId: id }
  if (name.startsWith('r')) return { kind: 'rest', userId: id }
  const colon = id.indexOf(':')
  return { kind: 'client', clientId: Number(id.slice(0, colon)), editorId: id.slice(colon + 1) }
}

/**
 * A REST call for one user. `ttlMs` is 0 if the user has a socket. `at` is a timestamp of the logical clock,
 * `now` is in epoch milliseconds.
 */
export interface RestCall {
  readonly kind: 'add' | 'update' | 'delete'
  readonly userId: string
  readonly fields: RestPresence
  readonly ttlMs: number
  readonly at: number
  readonly now: number
}

/**
 * Returns the record of a user after a REST call. The new record keeps the earlier timestamps of other kinds
 * of calls, so that the result does not depend on the order in which calls arrive.
 * @param fields fields of the user before the call, if they are known
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

/** Returns the record of a virtual user after the virtual user has ended because its user has connected. */
export const afterArrival = (virtualUser: RestUserRecord, at: number, now: number): RestUserRecord => ({
  ...virtualUser,
  at,
  ttlMs: 0,
  lastSeen: now,
  arrivedAt: at,
  keptUntil: Math.max(virtualUser.keptUntil, now + repeatForMs),
})

/**
 * Merges two records of the same user: returns the newer record with the latest timestamps of both records.
 */
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

/**
 * Returns whether `one` is newer than `two`. Records with the same timestamp are ordered by their content, so
 * that all nodes choose the same record.
 */
const isLater = (one: RestUserRecord, two: RestUserRecord): boolean =>
  one.at === two.at ? contentOf(one) > contentOf(two) : one.at > two.at

const contentOf = ({ fields, ttlMs, lastSeen }: RestUserRecord): string =>
  JSON.stringify([ttlMs, lastSeen, fields])

/**
 * Returns whether a socket is hidden: REST has deleted the user after the connection of the socket, and has
 * not added the user again.
 * @param joined timestamp of the connection of the socket
 */
export const isDeletedByRest = ({ deletedAt, addedAt }: RestUserRecord, joined: number): boolean =>
  deletedAt > addedAt && joined < deletedAt

/**
 * Returns whether the record shows a virtual user at the time `now`. Only an addition by REST creates a
 * virtual user. An update does not, because the node that receives it may not know of a deletion or a
 * connection of the user.
 */
export const isVirtualUser = (
  { addedAt, deletedAt, arrivedAt, lastSeen, ttlMs }: RestUserRecord,
  now: number,
): boolean => addedAt > Math.max(deletedAt, arrivedAt) && lastSeen + ttlMs > now

/** The claim of a node on a client id: the user, and the timestamp at which the user claimed the id. */
export type ClientClaim = Pick<ClientRecord, 'userId' | 'since'>

/**
 * Returns the claim that wins if several nodes claim the same client id; null if there are no claims. The
 * first user who has claimed the id wins, with the last claim of this user. In this way, all nodes choose the
 * same claim.
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

import { mergeFields, type RestPresence } from './virtual-users.ts'

/** A client that shows something in an editor, as its node shows it. */
export interface ClientRecord {
  readonly kind: 'client'
  readonly editorId: string
  readonly clientId: number
  readonly clock: number
  /** JSON, with the identity of the user. */
  readonly text: string
  readonly userId: string
  /** Stamp: when the client id was taken there. */
  readonly since: number
}

/** A user with sockets on a node, none of those that were deleted counted. */
export interface NodeUserRecord {
  readonly kind: 'user'
  readonly userId: string
  readonly name: string
  readonly email: string
  /** What the client heard of last says. */
  readonly status: string | null
  /** Editors that are open there, with the stamp of the last coming. */
  readonly editors: readonly (readonly [editorId: string, joined: number])[]
  readonly fields: RestPresence
  /** Stamp of `fields`; 0 when nothing was. */
  readonly fieldsAt: number
  /** Epoch milliseconds. */
  readonly lastSeen: number
}

/** What REST has said of a user; times are stamps, 0 where it has not been said. */
export interface RestUserRecord {
  readonly kind: 'rest'
  readonly userId: string
  readonly at: number
  readonly fields: RestPresence
  /** Shown without a socket from `lastSeen` for so long; 0: not at all. */
  readonly ttlMs: number
  /** Epoch milliseconds. */
  readonly lastSeen: number
  readonly deletedAt: number
  readonly addedAt: number
  /** When somebody without a socket was found to have one. */
  readonly arrivedAt: number
  /** Repeated until then, in epoch milliseconds: who has not heard of it may show the user no longer. */
  readonly keptUntil: number
}

/** How long what REST says of somebody with a socket is repeated: by then the node of the socket has it. */
export const repeatForMs = 60_000

export type PresenceRecord = ClientRecord | NodeUserRecord | RestUserRecord

/** The name under which a record stands: nothing in an id can make it another one's. */
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

/** Reads what `recordName` has written. */
export function parseRecordName(name: string): RecordName {
  const id = name.slice(1)
  if (name.startsWith('p')) return { kind: 'user', userId: id }
  if (name.startsWith('r')) return { kind: 'rest', userId: id }
  const colon = id.indexOf(':')
  return { kind: 'client', clientId: Number(id.slice(0, colon)), editorId: id.slice(colon + 1) }
}

/** What a call says of a user; `ttlMs` 0 where the user has a socket. */
export interface RestCall {
  readonly kind: 'add' | 'update' | 'delete'
  readonly userId: string
  readonly fields: RestPresence
  readonly ttlMs: number
  readonly at: number
  readonly now: number
}

/**
 * What is known after a call: nothing that was known before is forgotten, so that it comes to the same in whatever order
 * nodes hear of it. @param said of the user before it, whoever knows that
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

/** What is known once a virtual user has been found to have a socket. */
export const afterArrival = (virtualUser: RestUserRecord, at: number, now: number): RestUserRecord => ({
  ...virtualUser,
  at,
  ttlMs: 0,
  lastSeen: now,
  arrivedAt: at,
  keptUntil: Math.max(virtualUser.keptUntil, now + repeatForMs),
})

/** Of two the later one; what only the other one knows to have happened stays. */
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

/** Of the same time either will do, if it is the same one everywhere. */
const isLater = (one: RestUserRecord, two: RestUserRecord): boolean =>
  one.at === two.at ? contentOf(one) > contentOf(two) : one.at > two.at

const contentOf = ({ fields, ttlMs, lastSeen }: RestUserRecord): string =>
  JSON.stringify([ttlMs, lastSeen, fields])

/** Has a socket that came then been deleted, and not been added again? @param joined its stamp */
export const isDeletedByRest = ({ deletedAt, addedAt }: RestUserRecord, joined: number): boolean =>
  deletedAt > addedAt && joined < deletedAt

/**
 * Is this a user without a socket? Only an addition makes one: what is updated by a node that has not heard of the
 * deletion, or of the socket, is none.
 */
export const isVirtualUser = (
  { addedAt, deletedAt, arrivedAt, lastSeen, ttlMs }: RestUserRecord,
  now: number,
): boolean => addedAt > Math.max(deletedAt, arrivedAt) && lastSeen + ttlMs > now

/** A client id that several nodes show, and by which user since when. */
export type ClientClaim = Pick<ClientRecord, 'userId' | 'since'>

/**
 * Whose a client id is that several claim, the same on every node: it belongs to the user who had it first; of several
 * connections of that user to the last one.
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

import type { Visitor } from '../../events/visit-tracker.ts'
import type { Member, MemberUser } from '../updates/change.ts'
import {
  defaultStatus,
  mergeFields,
  type PresenceCursor,
  type PresenceKind,
  type RestPresence,
  shownIdOf,
} from './rest-presence.ts'
import type { VirtualUser } from './virtual-users.ts'

/** A user on a document, in the form that REST returns. */
export interface PresenceEntry {
  readonly userId: string
  /** Name of the user; '' if it is unknown. An unknown `email` is also ''. */
  readonly name: string
  readonly email: string
  readonly status: string
  readonly kind: PresenceKind
  /** The data that REST has set; absent if it has set none. */
  readonly data?: Readonly<Record<string, unknown>>
  /** Members of the caller that have no meaning for the server; absent if there are none. */
  readonly others?: Readonly<Record<string, unknown>>
  /** The cursor that REST has set for a user without a socket; absent if there is none. */
  readonly cursor?: PresenceCursor
  /** `rest`: a virtual user, whom a backend has added and who has no socket. */
  readonly source: 'socket' | 'rest'
  /** Ids of the open editors, sorted; empty if the user has no socket. */
  readonly editorIds: readonly string[]
  /**
   * Time of the last message of the user's sockets, in epoch milliseconds. For a virtual user: time of the
   * last REST call.
   */
  readonly lastSeen: number
}

/** One connection of a user. */
export interface UserSocket {
  readonly editorId: string
  /** `deleted`: REST has deleted the user, so this socket is hidden until REST adds the user again. */
  shown: 'present' | 'deleted'
  lastSeen: number
  /** The status in the state of the client. */
  status: string | undefined
}

/** A user with sockets. */
export interface ConnectedUser<Socket extends UserSocket = UserSocket> {
  readonly sockets: Map<Member, Socket>
  /** The fields that REST has set for the user, also before the user connected. */
  fields: RestPresence
}

/**
 * Returns the visitor for a connected user; null if REST has hidden all sockets of the user. The search stops
 * at the first visible socket, because a user may have very many sockets.
 */
export function visitorInSockets({ sockets, fields }: ConnectedUser): Visitor | null {
  for (const [{ user }, { shown }] of sockets) {
    if (shown !== 'present') continue
    return visitorOf(
      {
        userId: user.id,
        fields: mergeFields({ name: user.name, email: user.email }, withKind(fields, user)),
      },
      'socket',
    )
  }
  return null
}

/** Returns the fields with the kind that the token of a member states. */
const withKind = (fields: RestPresence, { kind }: MemberUser): RestPresence =>
  kind === undefined ? fields : { ...fields, kind }

export const isPresent = (connected: ConnectedUser): boolean => visitorInSockets(connected) !== null

export function visitorOf(
  { userId, fields }: Pick<VirtualUser, 'userId' | 'fields'>,
  source: Visitor['source'] = 'rest',
): Visitor {
  const { name, email, kind = 'user' } = fields
  const user = { userId: shownIdOf(userId, fields), ...(name && { name }), ...(email && { email }) }
  return { user, kind, source }
}

export function virtualUserEntry({ userId: id, fields, lastSeen }: VirtualUser): PresenceEntry {
  const userId = shownIdOf(id, fields)
  const { name = '', email = '', status = defaultStatus, cursor } = fields
  const shown = { ...detailsOf(fields), ...(cursor && { cursor }) }
  return { userId, name, email, status, ...shown, source: 'rest', editorIds: [], lastSeen }
}

/** Returns the entry of a user who is also present as a writer: the writer shows the kind and the cursor. */
export const joinEntries = (entry: PresenceEntry, { kind, cursor }: PresenceEntry): PresenceEntry => ({
  ...entry,
  kind,
  ...(cursor !== undefined && entry.cursor === undefined && { cursor }),
})

const detailsOf = ({
  kind = 'user',
  data,
  others,
}: RestPresence): Pick<PresenceEntry, 'kind' | 'data' | 'others'> => ({
  kind,
  ...(data !== undefined && { data }),
  ...(others !== undefined && { others }),
})

/**
 * Returns the entry of a connected user; null if REST has hidden all sockets of the user. Name, email and
 * status are from the socket with the latest message, unless REST has set them.
 */
export function connectedEntry({ sockets, fields: given }: ConnectedUser): PresenceEntry | null {
  const editorIds = new Set<string>()
  let latest: readonly [Member, UserSocket] | null = null
  for (const [member, socket] of sockets) {
    if (socket.shown !== 'present') continue
    editorIds.add(socket.editorId)
    if (latest === null || socket.lastSeen > latest[1].lastSeen) latest = [member, socket]
  }
  if (latest === null) return null
  const [{ user }, { lastSeen, status: own = defaultStatus }] = latest
  const { name = user.name, email = user.email, status = own } = given
  return {
    userId: user.id,
    name,
    email,
    status,
    ...detailsOf(withKind(given, user)),
    source: 'socket',
    editorIds: [...editorIds].sort(),
    lastSeen,
  }
}

import type { Clock } from '../../base/clock.ts'
import { memoized } from '../../base/maps.ts'
import * as s from '../../base/schema.ts'
import { shortened } from '../../base/text.ts'
import type { ListPage, PageRange } from '../../directory/store/list-page.ts'
import { type AccessRole, accessRoles } from '../../directory/store/records.ts'
import type { DocumentAddress, Tenant } from '../../model/address.ts'
import { addressSchemas } from '../../model/address-schemas.ts'
import { type Close, closeCodes } from '../../model/close.ts'
import { TimeOrderedIds } from '../../model/time-ordered-ids.ts'
import { limitNames } from '../../quota/limits.ts'
import { tenantName } from '../../store/key-encoding.ts'
import type { NodeRequests } from '../../store/node-requests.ts'
import type { MemberUser } from '../updates/change.ts'

/** How the messages of a client arrive: on a websocket, or in HTTP requests. */
export const transportNames = ['websocket', 'http'] as const
export type TransportName = (typeof transportNames)[number]

/** A client that is connected to an editor. */
export interface Connection {
  readonly address: DocumentAddress
  readonly user: MemberUser
  readonly clientAddress: string
  /** Name of the wire protocol of the connection. */
  readonly protocolName: string
  readonly transport: TransportName
  /** Null if the user no longer has a role; the connection is then about to be closed. */
  readonly role: AccessRole | null
  /** False once the server or the client has closed the connection. */
  readonly isOpen: boolean
  end(reason: Close): void
}

/**
 * Maximum number of connections in one page. It is low enough to keep the reply of a node below the size
 * limit of a message.
 */
export const connectionsPageMax = 100
const nameLengthMax = 200

const listSchema = s.object(
  {
    tenant: addressSchemas.tenant,
    /** A listed connection matches all filters that are present. */
    filter: s.object({}, { organizationId: s.string, documentId: s.string, userId: s.string }),
    limit: s.number,
  },
  { after: s.string },
)
type ListCall = s.TypeOf<typeof listSchema>
type ConnectionFilter = ListCall['filter']

const entrySchema = s.object({
  connectionId: s.string,
  organizationId: s.string,
  documentId: s.string,
  editorId: s.string,
  userId: s.string,
  name: s.string,
  accessRole: s.choice(accessRoles),
  protocol: s.string,
  transport: s.choice(transportNames),
  clientAddress: s.string,
  /** Time of the connection, in epoch milliseconds. */
  connectedAt: s.number,
  /** The node to which the client is connected. */
  node: s.string,
})
const entriesSchema = s.array(entrySchema)

/** A connection as `list` returns it. */
export type ConnectionEntry = s.TypeOf<typeof entrySchema>

const closeSchema = s.object({
  tenant: addressSchemas.tenant,
  connectionIds: s.array(s.string),
  reason: s.object({
    code: s.choice(Object.values(closeCodes)),
    reason: s.string,
    limit: s.orNull(s.choice(limitNames)),
  }),
})
type CloseCall = s.TypeOf<typeof closeSchema>

interface KnownConnection {
  readonly connection: Connection
  readonly connectedAt: number
}

/**
 * Lists and closes the connections of an API key on all nodes. The results do not include nodes that do not
 * reply in time: such a node has died, or the request or the reply was lost.
 */
export class OpenConnections {
  /** Sends the requests to list and close connections to the other nodes. */
  readonly #calls: NodeRequests
  readonly #clock: Clock
  /** Name of this node. */
  readonly #self: string
  /** The connections of this node, by API key, oldest first. */
  readonly #tenants = new Map<string, Map<string, KnownConnection>>()
  readonly #ids = new TimeOrderedIds()

  constructor(calls: NodeRequests, clock: Clock, self: string) {
    this.#calls = calls
    this.#clock = clock
    this.#self = self
    calls.answer('connections.list', listSchema, (call) => this.#listHere(call))
    calls.answer('connections.close', closeSchema, (call) => this.#closeHere(call))
  }

  /** Registers a connection. Returns a function that removes the connection. */
  enter(connection: Connection): () => void {
    const key = tenantName(connection.address)
    const connections = memoized(this.#tenants, key, () => new Map<string, KnownConnection>())
    const { id, at } = this.#ids.next(this.#clock.now())
    connections.set(id, { connection, connectedAt: at })
    return () => {
      connections.delete(id)
      if (connections.size === 0 && this.#tenants.get(key) === connections) this.#tenants.delete(key)
    }
  }

  /** Lists connections of an API key, newest first. */
  async list(
    { workspaceId, apiKey }: Tenant,
    filter: ConnectionFilter,
    { after, limit }: PageRange,
  ): Promise<ListPage<ConnectionEntry>> {
    const range = { ...(after !== undefined && { after }), limit: limit + 1 }
    const call: ListCall = { tenant: { workspaceId, apiKey }, filter, ...range }
    const here = this.#listHere(call)
    const there = await this.#calls.ask('connections.list', call, entriesSchema)
    const found = [here, ...there.values()]
      .flat()
      .toSorted((a, b) => (a.connectionId < b.connectionId ? 1 : -1))
    const items = found.slice(0, limit)
    return { items, next: found.length > limit ? (items.at(-1)?.connectionId ?? null) : null }
  }

  /** Closes connections of an API key. Returns the number of closed connections. */
  async close(
    { workspaceId, apiKey }: Tenant,
    connectionIds: readonly string[],
    reason: Close,
  ): Promise<number> {
    const call: CloseCall = { tenant: { workspaceId, apiKey }, connectionIds, reason }
    const here = this.#closeHere(call)
    const there = await this.#calls.ask('connections.close', call, s.number)
    return [...there.values()].reduce((sum, closed) => sum + closed, here)
  }

  #listHere({ tenant, filter, after, limit }: ListCall): readonly ConnectionEntry[] {
    const found: ConnectionEntry[] = []
    for (const [id, known] of [...(this.#tenants.get(tenantName(tenant)) ?? [])].reverse()) {
      if (found.length === limit) break
      if (after !== undefined && id >= after) continue
      const { role, isOpen, address, user } = known.connection
      if (role === null || !isOpen || !fits(address, user, filter)) continue
      found.push(entryOf(id, known, role, this.#self))
    }
    return found
  }

  #closeHere({ tenant, connectionIds, reason }: CloseCall): number {
    const connections = this.#tenants.get(tenantName(tenant))
    let closed = 0
    for (const id of new Set(connectionIds)) {
      const known = connections?.get(id)
      if (known?.connection.isOpen !== true) continue
      known.connection.end(reason)
      closed += 1
    }
    return closed
  }
}

const fits = (
  address: DocumentAddress,
  user: MemberUser,
  { organizationId, documentId, userId }: ConnectionFilter,
): boolean =>
  (organizationId === undefined || address.organizationId === organizationId) &&
  (documentId === undefined || address.documentId === documentId) &&
  (userId === undefined || user.id === userId)

function entryOf(
  connectionId: string,
  { connection: { address, user, protocolName, transport, clientAddress }, connectedAt }: KnownConnection,
  accessRole: AccessRole,
  node: string,
): ConnectionEntry {
  const { organizationId, documentId, editorId } = address
  return {
    connectionId,
    organizationId,
    documentId,
    editorId,
    userId: user.id,
    name: shortened(user.name, nameLengthMax),
    accessRole,
    protocol: protocolName,
    transport,
    clientAddress,
    connectedAt,
    node,
  }
}

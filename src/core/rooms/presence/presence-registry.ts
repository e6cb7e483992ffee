import type { Clock } from '../../base/clock.ts'
import * as s from '../../base/schema.ts'
import type { VisitListener } from '../../events/visit-tracker.ts'
import { type DocumentScope, documentPrefix } from '../../model/address.ts'
import { addressSchemas } from '../../model/address-schemas.ts'
import type { Engine, Key } from '../../store/engine.ts'
import { keyName } from '../../store/key-encoding.ts'
import { NodeRequests } from '../../store/node-requests.ts'
import { DocumentPresence } from './document-presence.ts'
import type { PresenceEntry } from './presence-entry.ts'
import { presenceCursorSchema, presenceKinds } from './rest-presence.ts'
import type { VirtualUserCount } from './virtual-users.ts'

/** A document, and the entry of one user on it. */
export interface DocumentPresenceEntry {
  readonly document: DocumentScope
  readonly entry: PresenceEntry
}

const userQuerySchema = s.object({
  /** The documents of a tenant in one organization. If `organizationId` is null: in all organizations. */
  scope: s.object({
    workspaceId: s.string,
    apiKey: s.string,
    organizationId: s.orNull(s.string),
  }),
  userId: s.string,
})
type UserQuery = s.TypeOf<typeof userQuerySchema>
type PresenceScope = UserQuery['scope']

/** Paths of the documents from which a node has removed a user. */
const erasedSchema = s.array(s.string)

const entriesSchema = s.array(
  s.object({
    document: addressSchemas.scope,
    entry: s.object(
      {
        userId: s.string,
        name: s.string,
        email: s.string,
        status: s.string,
        kind: s.choice(presenceKinds),
        source: s.choice(['socket', 'rest']),
        editorIds: s.array(s.string),
        lastSeen: s.number,
      },
      {
        data: s.map(s.unknown),
        others: s.map(s.unknown),
        cursor: presenceCursorSchema,
      },
    ),
  }),
)

/**
 * The presence of all documents that are used on this node. In a cluster, the node that owns a document has its
 * whole presence. The registry does not check whether a document exists.
 */
export class PresenceRegistry {
  /** Sends requests to the other nodes. */
  readonly requests: NodeRequests
  readonly #clock: Clock
  readonly #documents = new Map<string, DocumentPresence>()
  readonly #virtualUsers: VirtualUserCount = { count: 0 }
  readonly #visits: VisitListener

  /** @param visits receives joins and leaves */
  constructor({ bus, cluster }: Pick<Engine, 'bus' | 'cluster'>, clock: Clock, visits: VisitListener) {
    this.requests = new NodeRequests(bus, cluster, clock)
    this.#clock = clock
    this.#visits = visits
    this.requests.answer('presence.of', userQuerySchema, (call) => this.#ofUserHere(call))
    this.requests.answer('presence.erase', userQuerySchema, (call) => this.#eraseUserHere(call))
  }

  /**
   * Returns the presence of a document, and creates it if necessary. A room must add itself as an observer
   * immediately afterwards, because an empty presence may be deleted.
   */
  presenceOf(document: DocumentScope): DocumentPresence {
    const key = keyOf(document)
    const known = this.#documents.get(key)
    if (known !== undefined) return known
    const { workspaceId, apiKey, organizationId, documentId } = document
    const scope = { workspaceId, apiKey, organizationId, documentId }
    const presence = new DocumentPresence(scope, this.#clock, this.#virtualUsers, this.#visits, () =>
      this.#deleteEmpty(key, presence),
    )
    this.#documents.set(key, presence)
    return presence
  }

  /** Runs `work` with the presence of a document, also if it has no users. */
  use<T>(document: DocumentScope, work: (presence: DocumentPresence) => T): T {
    const presence = this.presenceOf(document)
    try {
      return work(presence)
    } finally {
      this.#deleteEmpty(keyOf(document), presence)
    }
  }

  /** Returns the documents on which a user is present on any node, in arbitrary order. */
  async ofUser(scope: PresenceScope, userId: string): Promise<readonly DocumentPresenceEntry[]> {
    const call: UserQuery = { scope, userId }
    const answers = await this.requests.ask('presence.of', call, entriesSchema)
    const found = [...[...answers.values()].flat(), ...this.#ofUserHere(call)]
    // A document that has just moved may be in the answers of two nodes.
    return [...new Map(found.map((each) => [keyOf(each.document), each])).values()]
  }

  /**
   * Removes a user from all documents in the scope, as `DocumentPresence.delete` does, on all nodes. Returns
   * the number of documents from which the user was removed.
   */
  async eraseUser(scope: PresenceScope, userId: string): Promise<number> {
    const call: UserQuery = { scope, userId }
    const answers = await this.requests.ask('presence.erase', call, erasedSchema)
    return new Set([...this.#eraseUserHere(call), ...[...answers.values()].flat()]).size
  }

  #ofUserHere({ scope, userId }: UserQuery): readonly DocumentPresenceEntry[] {
    return this.#documentsIn(scope).flatMap((presence) => {
      const entry = presence.find(userId)
      return entry === null ? [] : [{ document: presence.document, entry }]
    })
  }

  /**
   * Removes a user from the documents of this node. Returns the keys of the documents on which the user was
   * present.
   */
  #eraseUserHere({ scope, userId }: UserQuery): readonly string[] {
    return this.#documentsIn(scope).flatMap((presence) =>
      presence.delete([userId]) > 0 ? [keyOf(presence.document)] : [],
    )
  }

  #documentsIn({ workspaceId, apiKey, organizationId }: PresenceScope): readonly DocumentPresence[] {
    const start = keyName([workspaceId, apiKey, ...(organizationId === null ? [] : [organizationId])])
    return [...this.#documents].flatMap(([key, presence]) => (key.startsWith(start) ? [presence] : []))
  }

  /**
   * Removes the virtual users of documents that were deleted, or that another node owns from now on. Users with a
   * socket leave when their room closes.
   * @param isGone whether this is so for the document with a key
   */
  endVirtualUsers(isGone: (document: Key) => boolean): void {
    for (const presence of this.#documents.values()) {
      const { document } = presence
      if (isGone(documentPrefix(document, document.documentId))) presence.clearVirtualUsers()
    }
  }

  close(): void {
    this.requests.close()
    this.endVirtualUsers(() => true)
  }

  #deleteEmpty(key: string, presence: DocumentPresence): void {
    if (presence.isEmpty && this.#documents.get(key) === presence) this.#documents.delete(key)
  }
}

const keyOf = (document: DocumentScope): string => keyName(documentPrefix(document, document.documentId))

import type { Clock } from '../../base/clock.ts'
import * as s from '../../base/schema.ts'
import type { VisitListener } from '../../events/visit-tracker.ts'
import { type DocumentScope, documentPrefix, type Tenant } from '../../model/address.ts'
import { addressSchemas } from '../../model/address-schemas.ts'
import type { Engine, Key } from '../../store/engine.ts'
import { keyName } from '../../store/key-encoding.ts'
import type { NodeRequests } from '../../store/node-requests.ts'
import { DocumentPresence, type PresenceInput } from './document-presence.ts'
import type { PresenceEntry } from './presence-entry.ts'
import { PresenceSync } from './presence-sync.ts'
import { presenceCursorSchema, presenceKinds } from './rest-presence.ts'
import type { NewWriter, ShownWriter } from './shown-writer.ts'
import type { VirtualUserCount } from './virtual-users.ts'

/** A document, and the entry of one user on it. */
export interface DocumentPresenceEntry {
  readonly document: DocumentScope
  readonly entry: PresenceEntry
}

/** The documents of a tenant in one organization. If `organizationId` is null: in all organizations. */
interface PresenceScope extends Tenant {
  readonly organizationId: string | null
}

interface UserQuery {
  readonly scope: PresenceScope
  readonly userId: string
}

const userQuerySchema = s.object({
  scope: s.object({
    workspaceId: s.string,
    apiKey: s.string,
    organizationId: s.orNull(s.string),
  }),
  userId: s.string,
})
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
        source: s.choice(['socket', 'rest']),
        editorIds: s.array(s.string),
        lastSeen: s.number,
      },
      {
        // A node of an earlier version does not send the kind.
        kind: s.choice(presenceKinds),
        data: s.map(s.unknown),
        cursor: presenceCursorSchema,
      },
    ),
  }),
)

/**
 * The presence of all documents that are used on this node. In a cluster, the presence includes the users on
 * other nodes, and changes are published to these nodes. The registry does not check whether a document
 * exists.
 */
export class PresenceRegistry {
  readonly #clock: Clock
  readonly #documents = new Map<string, DocumentPresence>()
  readonly #virtualUsers: VirtualUserCount = { count: 0 }
  readonly #visits: VisitListener
  readonly #sync: PresenceSync

  /**
   * @param visits receives joins and leaves
   * @param sync exchanges presence with the other nodes
   */
  constructor(clock: Clock, visits: VisitListener, sync: PresenceSync) {
    this.#clock = clock
    this.#visits = visits
    this.#sync = sync
    sync.requests.answer('presence.of', 'any', userQuerySchema, (call) => this.#ofUserHere(call))
    sync.requests.answer('presence.erase', 'ordered', userQuerySchema, (call) => this.#eraseUserHere(call))
  }

  /** Sends requests to the other nodes. */
  get requests(): NodeRequests {
    return this.#sync.requests
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
    const presence = new DocumentPresence(
      scope,
      this.#clock,
      this.#virtualUsers,
      this.#visits,
      this.#sync,
      () => this.#deleteEmpty(key, presence),
    )
    this.#documents.set(key, presence)
    return presence
  }

  /** Checks the limits, as `DocumentPresence.checkCapacity` does. */
  async checkCapacity(document: DocumentScope, users: readonly PresenceInput[]): Promise<void> {
    await this.#whenSynced(document, 'state', (presence) => presence.checkCapacity(users))
  }

  /**
   * Adds users, as `DocumentPresence.add` does. Resolves when the other nodes have the changes, or after a
   * timeout.
   */
  async add(document: DocumentScope, users: readonly PresenceInput[], ttlMs: number): Promise<void> {
    await this.#whenSynced(document, 'changes', (presence) => presence.add(users, ttlMs))
  }

  /** Changes users, as `DocumentPresence.update` does. Resolves at the same time as `add`. */
  async update(document: DocumentScope, users: readonly PresenceInput[]): Promise<number> {
    return this.#whenSynced(document, 'changes', (presence) => presence.update(users))
  }

  /** Removes users, as `DocumentPresence.delete` does. Resolves at the same time as `add`. */
  async delete(document: DocumentScope, userIds: readonly string[]): Promise<number> {
    return this.#whenSynced(document, 'changes', (presence) => presence.delete(userIds))
  }

  /**
   * Shows a writer, as `DocumentPresence.showWriter` does. If this node stops, the other nodes remove the writer after
   * at most `writerTtlMs`.
   */
  showWriter(document: DocumentScope, writer: NewWriter): ShownWriter {
    const presence = this.presenceOf(document)
    try {
      return presence.showWriter(writer)
    } finally {
      this.#deleteEmpty(keyOf(document), presence)
    }
  }

  /** Returns all users, as `DocumentPresence.entries` does. */
  async entries(document: DocumentScope): Promise<readonly PresenceEntry[]> {
    return this.#whenSynced(document, 'state', (presence) => presence.entries())
  }

  /** Returns the documents on which a user is present on any node, in arbitrary order. */
  async ofUser(scope: PresenceScope, userId: string): Promise<readonly DocumentPresenceEntry[]> {
    const call: UserQuery = { scope, userId }
    const here = this.#ofUserHere(call)
    const all = new Map(here.map((entry) => [keyOf(entry.document), entry]))
    for (const answer of (await this.#sync.requests.ask('presence.of', call, entriesSchema)).values())
      for (const { document, entry } of answer)
        if (!all.has(keyOf(document)))
          all.set(keyOf(document), { document, entry: { ...entry, kind: entry.kind ?? 'user' } })
    return [...all.values()]
  }

  /**
   * Removes a user from all documents in the scope, as `DocumentPresence.delete` does, on all nodes. Returns
   * the number of documents from which the user was removed.
   */
  async eraseUser(scope: PresenceScope, userId: string): Promise<number> {
    const call: UserQuery = { scope, userId }
    const answers = await this.#sync.requests.ask('presence.erase', call, erasedSchema)
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

  /**
   * Calls `work` when this node has the states of the other nodes, and returns its result.
   * @param need `changes`: also waits until the other nodes have received the changes that `work` has made
   */
  async #whenSynced<T>(
    document: DocumentScope,
    need: 'state' | 'changes',
    work: (presence: DocumentPresence) => T,
  ): Promise<T> {
    const presence = this.presenceOf(document)
    try {
      await presence.replica.sync('state')
      const result = work(presence)
      if (need === 'changes') await presence.replica.sync('changes')
      return result
    } finally {
      this.#deleteEmpty(keyOf(document), presence)
    }
  }

  #documentsIn({ workspaceId, apiKey, organizationId }: PresenceScope): readonly DocumentPresence[] {
    const start = keyName([workspaceId, apiKey, ...(organizationId === null ? [] : [organizationId])])
    return [...this.#documents].flatMap(([key, presence]) => (key.startsWith(start) ? [presence] : []))
  }

  /**
   * Removes the virtual users of the deleted documents, whose keys start with `prefix`. Users with a socket
   * leave when their room closes.
   */
  endRemoved(prefix: Key): void {
    const start = keyName(prefix)
    for (const [key, presence] of this.#documents) if (key.startsWith(start)) presence.clearVirtualUsers()
  }

  close(): void {
    this.#sync.close()
    for (const presence of this.#documents.values()) presence.clearVirtualUsers()
  }

  #deleteEmpty(key: string, presence: DocumentPresence): void {
    if (!presence.isEmpty || this.#documents.get(key) !== presence) return
    this.#documents.delete(key)
    this.#sync.remove(presence.replica)
  }
}

/** Creates the presence of a process. @param visits receives joins and leaves */
export const createPresence = (
  { bus, cluster }: Pick<Engine, 'bus' | 'cluster'>,
  clock: Clock,
  visits: VisitListener,
): PresenceRegistry => new PresenceRegistry(clock, visits, new PresenceSync(bus, cluster, clock))

const keyOf = (document: DocumentScope): string => keyName(documentPrefix(document, document.documentId))

import type { Clock } from '../../clock.ts'
import type { Engine, Key } from '../../engine/engine.ts'
import { keyName } from '../../engine/key-encoding.ts'
import type { VisitListener } from '../../events/visit-tracker.ts'
import { type DocumentScope, documentPrefix, type Tenant } from '../../model/address.ts'
import type { NodeRequests } from '../replication/node-requests.ts'
import { DocumentPresence, type PresenceInput } from './document-presence.ts'
import type { PresenceEntry } from './presence-entry.ts'
import { PresenceSync } from './presence-sync.ts'
import type { VirtualUserCount } from './virtual-users.ts'

/** Somebody on a document. */
export interface DocumentPresenceEntry {
  readonly document: DocumentScope
  readonly entry: PresenceEntry
}

/** Documents of a tenant: of one organization, or with null of all. */
export interface PresenceScope extends Tenant {
  readonly organizationId: string | null
}

interface UserQuery {
  readonly scope: PresenceScope
  readonly userId: string
}

/**
 * The presence of the documents of this process, of each that somebody is on. Where there are other nodes, who is
 * on them is shown, too, and what is said here reaches them. Whether a document exists is not asked here.
 */
export class PresenceRegistry {
  readonly #clock: Clock
  readonly #documents = new Map<string, DocumentPresence>()
  readonly #virtualUsers: VirtualUserCount = { count: 0 }
  readonly #visits: VisitListener
  readonly #sync: PresenceSync

  /**
   * @param visits is told who comes and goes
   * @param sync the exchange with the other nodes
   */
  constructor(clock: Clock, visits: VisitListener, sync: PresenceSync) {
    this.#clock = clock
    this.#visits = visits
    this.#sync = sync
    sync.requests.answer('presence.of', 'any', (call) => this.#ofUserHere(call as UserQuery))
    sync.requests.answer('presence.erase', 'ordered', (call) => this.#eraseUserHere(call as UserQuery))
  }

  /** To the other nodes. */
  get requests(): NodeRequests {
    return this.#sync.requests
  }

  /** The presence of a document, for a room that enters it at once. */
  presenceOf(document: DocumentScope): DocumentPresence {
    const key = keyOf(document)
    const known = this.#documents.get(key)
    if (known !== undefined) return known
    const { workspaceId, apiKey, organizationId, documentId } = document
    const scope = { workspaceId, apiKey, organizationId, documentId }
    const presence = new DocumentPresence({
      document: scope,
      clock: this.#clock,
      total: this.#virtualUsers,
      visits: this.#visits,
      emptied: () => this.#deleteEmpty(key, presence),
      replica: (owner) => this.#sync.add(scope, owner),
    })
    this.#documents.set(key, presence)
    return presence
  }

  /** As `DocumentPresence.checkRoomFor`. */
  async checkCapacity(document: DocumentScope, users: readonly PresenceInput[]): Promise<void> {
    await this.#whenSynced(document, 'state', (presence) => presence.checkCapacity(users))
  }

  /** As `DocumentPresence.add`; resolves when the other nodes know of it, or have had time to. */
  async add(document: DocumentScope, users: readonly PresenceInput[], ttlMs: number): Promise<void> {
    await this.#whenSynced(document, 'changes', (presence) => presence.add(users, ttlMs))
  }

  /** As `DocumentPresence.update`; likewise. */
  async update(document: DocumentScope, users: readonly PresenceInput[]): Promise<number> {
    return this.#whenSynced(document, 'changes', (presence) => presence.update(users))
  }

  /** As `DocumentPresence.delete`; likewise. */
  async delete(document: DocumentScope, userIds: readonly string[]): Promise<number> {
    return this.#whenSynced(document, 'changes', (presence) => presence.delete(userIds))
  }

  /** As `DocumentPresence.entries`. */
  async entries(document: DocumentScope): Promise<readonly PresenceEntry[]> {
    return this.#whenSynced(document, 'state', (presence) => presence.entries())
  }

  /** Where a user is, in no order. */
  async ofUser(scope: PresenceScope, userId: string): Promise<readonly DocumentPresenceEntry[]> {
    const call: UserQuery = { scope, userId }
    const here = this.#ofUserHere(call)
    const all = new Map(here.map((entry) => [keyOf(entry.document), entry]))
    for (const answer of (await this.#sync.requests.ask('presence.of', call)).values())
      for (const entry of answer as readonly DocumentPresenceEntry[])
        if (!all.has(keyOf(entry.document))) all.set(keyOf(entry.document), entry)
    return [...all.values()]
  }

  /** Takes a user away from every document; returns from how many. See `DocumentPresence.delete`. */
  async eraseUser(scope: PresenceScope, userId: string): Promise<number> {
    const call: UserQuery = { scope, userId }
    const answers = await this.#sync.requests.ask('presence.erase', call)
    const there = [...answers.values()] as (readonly string[])[]
    return new Set([...this.#eraseUserHere(call), ...there.flat()]).size
  }

  #ofUserHere({ scope, userId }: UserQuery): readonly DocumentPresenceEntry[] {
    return this.#documentsIn(scope).flatMap((presence) => {
      const entry = presence.find(userId)
      return entry === null ? [] : [{ document: presence.document, entry }]
    })
  }

  /** Returns the names of the documents. */
  #eraseUserHere({ scope, userId }: UserQuery): readonly string[] {
    return this.#documentsIn(scope).flatMap((presence) =>
      presence.delete([userId]) > 0 ? [keyOf(presence.document)] : [],
    )
  }

  /** @param need `changes`: the others shall have heard of what `work` has done */
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

  /** Documents whose keys start so have been removed. Who is there with a socket leaves with the room. */
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

/** @param visits is told who comes and goes */
export const createPresence = (
  { bus, cluster }: Pick<Engine, 'bus' | 'cluster'>,
  clock: Clock,
  visits: VisitListener,
): PresenceRegistry => new PresenceRegistry(clock, visits, new PresenceSync({ bus, cluster, clock }))

const keyOf = (document: DocumentScope): string => keyName(documentPrefix(document, document.documentId))

import type { Clock } from '../clock.ts'
import type { Key } from '../engine/engine.ts'
import { keyName } from '../engine/keys.ts'
import type { VisitNotes } from '../events/visits.ts'
import { type DocumentScope, documentPrefix, type Tenant } from '../model/address.ts'
import type { GuestCount } from './guests.ts'
import { PresenceBoard, type PresenceEntry, type PresenceInput } from './presence-board.ts'

/** Somebody on a document. */
export interface PresenceOn {
  readonly document: DocumentScope
  readonly entry: PresenceEntry
}

/** Documents of a tenant: of one organization, or with null of all. */
export interface PresencePlace extends Tenant {
  readonly organizationId: string | null
}

/** The presence boards of this process: one for each document that somebody is on. Whether it exists is not asked here. */
export class Presence {
  readonly #clock: Clock
  readonly #boards = new Map<string, PresenceBoard>()
  readonly #guests: GuestCount = { count: 0 }
  readonly #visits: VisitNotes

  /** @param visits is told who comes and goes */
  constructor(clock: Clock, visits: VisitNotes) {
    this.#clock = clock
    this.#visits = visits
  }

  /** The board of a document, for a room that enters it at once. */
  boardOf(document: DocumentScope): PresenceBoard {
    const key = keyOf(document)
    const known = this.#boards.get(key)
    if (known !== undefined) return known
    const { workspaceId, apiKey, organizationId, documentId } = document
    const board = new PresenceBoard({
      document: { workspaceId, apiKey, organizationId, documentId },
      clock: this.#clock,
      total: this.#guests,
      visits: this.#visits,
      emptied: () => this.#forgetEmpty(key, board),
    })
    this.#boards.set(key, board)
    return board
  }

  /** As `PresenceBoard.add`. */
  add(document: DocumentScope, users: readonly PresenceInput[], ttlMs: number): void {
    const board = this.boardOf(document)
    try {
      board.add(users, ttlMs)
    } finally {
      this.#forgetEmpty(keyOf(document), board)
    }
  }

  /** As `PresenceBoard.update`. */
  update(document: DocumentScope, users: readonly PresenceInput[]): number {
    return this.#boards.get(keyOf(document))?.update(users) ?? 0
  }

  /** As `PresenceBoard.delete`. */
  delete(document: DocumentScope, userIds: readonly string[]): number {
    return this.#boards.get(keyOf(document))?.delete(userIds) ?? 0
  }

  /** As `PresenceBoard.entries`. */
  entries(document: DocumentScope): readonly PresenceEntry[] {
    return this.#boards.get(keyOf(document))?.entries() ?? []
  }

  /** Where a user is, in no order. */
  ofUser(place: PresencePlace, userId: string): readonly PresenceOn[] {
    return this.#in(place).flatMap((board) => {
      const entry = board.find(userId)
      return entry === null ? [] : [{ document: board.document, entry }]
    })
  }

  /** Takes a user away from every document; returns from how many. See `PresenceBoard.delete`. */
  eraseUser(place: PresencePlace, userId: string): number {
    return this.#in(place).reduce((sum, board) => sum + board.delete([userId]), 0)
  }

  #in({ workspaceId, apiKey, organizationId }: PresencePlace): readonly PresenceBoard[] {
    const start = keyName([workspaceId, apiKey, ...(organizationId === null ? [] : [organizationId])])
    return [...this.#boards].flatMap(([key, board]) => (key.startsWith(start) ? [board] : []))
  }

  /** Documents whose keys start so have been removed. Who is there with a socket leaves with the room. */
  endRemoved(prefix: Key): void {
    const start = keyName(prefix)
    for (const [key, board] of this.#boards) if (key.startsWith(start)) board.clearGuests()
  }

  close(): void {
    for (const board of this.#boards.values()) board.clearGuests()
  }

  #forgetEmpty(key: string, board: PresenceBoard): void {
    if (board.empty && this.#boards.get(key) === board) this.#boards.delete(key)
  }
}

const keyOf = (document: DocumentScope): string => keyName(documentPrefix(document, document.documentId))

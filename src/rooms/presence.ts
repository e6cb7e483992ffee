import type { Clock } from '../clock.ts'
import type { Key } from '../engine/engine.ts'
import { keyName } from '../engine/keys.ts'
import { documentPrefix, type OrganizationAddress, type Tenant } from '../model/address.ts'
import type { GuestCount } from './guests.ts'
import { PresenceBoard, type PresenceEntry, type PresenceInput } from './presence-board.ts'

/** A document, whatever its editors. */
export interface PresenceScope extends OrganizationAddress {
  readonly documentId: string
}

/** Somebody on a document. */
export interface PresenceOn {
  readonly document: PresenceScope
  readonly entry: PresenceEntry
}

/** Documents of a tenant: of one organization, or with null of all. */
export interface PresencePlace extends Tenant {
  readonly organizationId: string | null
}

interface KnownBoard {
  readonly document: PresenceScope
  readonly board: PresenceBoard
}

/** The presence boards of this process: one for each document that somebody is on. Whether it exists is not asked here. */
export class Presence {
  readonly #clock: Clock
  readonly #boards = new Map<string, KnownBoard>()
  readonly #guests: GuestCount = { count: 0 }

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The board of a document, for a room that enters it at once. */
  boardOf(document: PresenceScope): PresenceBoard {
    const key = keyOf(document)
    const known = this.#boards.get(key)
    if (known !== undefined) return known.board
    const board = new PresenceBoard(this.#clock, this.#guests, () => this.#forgetEmpty(key, board))
    const { workspaceId, apiKey, organizationId, documentId } = document
    this.#boards.set(key, { document: { workspaceId, apiKey, organizationId, documentId }, board })
    return board
  }

  /** As `PresenceBoard.add`. */
  add(document: PresenceScope, users: readonly PresenceInput[], ttlMs: number): void {
    const board = this.boardOf(document)
    try {
      board.add(users, ttlMs)
    } finally {
      this.#forgetEmpty(keyOf(document), board)
    }
  }

  /** As `PresenceBoard.update`. */
  update(document: PresenceScope, users: readonly PresenceInput[]): number {
    return this.#boards.get(keyOf(document))?.board.update(users) ?? 0
  }

  /** As `PresenceBoard.delete`. */
  delete(document: PresenceScope, userIds: readonly string[]): number {
    return this.#boards.get(keyOf(document))?.board.delete(userIds) ?? 0
  }

  /** As `PresenceBoard.entries`. */
  entries(document: PresenceScope): readonly PresenceEntry[] {
    return this.#boards.get(keyOf(document))?.board.entries() ?? []
  }

  /** Where a user is, in no order. */
  ofUser(place: PresencePlace, userId: string): readonly PresenceOn[] {
    return this.#in(place).flatMap(({ document, board }) => {
      const entry = board.find(userId)
      return entry === null ? [] : [{ document, entry }]
    })
  }

  /** Takes a user away from every document; returns from how many. See `PresenceBoard.delete`. */
  eraseUser(place: PresencePlace, userId: string): number {
    return this.#in(place).reduce((sum, { board }) => sum + board.delete([userId]), 0)
  }

  #in({ workspaceId, apiKey, organizationId }: PresencePlace): readonly KnownBoard[] {
    const start = keyName([workspaceId, apiKey, ...(organizationId === null ? [] : [organizationId])])
    return [...this.#boards].flatMap(([key, known]) => (key.startsWith(start) ? [known] : []))
  }

  /** Documents whose keys start so have been removed. Who is there with a socket leaves with the room. */
  endRemoved(prefix: Key): void {
    const start = keyName(prefix)
    for (const [key, { board }] of this.#boards) if (key.startsWith(start)) board.clearGuests()
  }

  close(): void {
    for (const { board } of this.#boards.values()) board.clearGuests()
  }

  #forgetEmpty(key: string, board: PresenceBoard): void {
    if (board.empty && this.#boards.get(key)?.board === board) this.#boards.delete(key)
  }
}

const keyOf = (document: PresenceScope): string => keyName(documentPrefix(document, document.documentId))

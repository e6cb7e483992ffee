import type { Clock } from '../clock.ts'
import type { Key } from '../engine/engine.ts'
import { keyName } from '../engine/keys.ts'
import { documentPrefix, type OrganizationAddress } from '../model/address.ts'
import type { GuestCount } from './guests.ts'
import { PresenceBoard, type PresenceEntry, type PresenceInput } from './presence-board.ts'

/** A document, whatever its editors. */
export interface PresenceScope extends OrganizationAddress {
  readonly documentId: string
}

/** The presence boards of this process: one for each document that somebody is on. Whether it exists is not asked here. */
export class Presence {
  readonly #clock: Clock
  readonly #boards = new Map<string, PresenceBoard>()
  readonly #guests: GuestCount = { count: 0 }

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The board of a document, for a room that enters it at once. */
  boardOf(document: PresenceScope): PresenceBoard {
    const key = keyOf(document)
    const known = this.#boards.get(key)
    if (known !== undefined) return known
    const board = new PresenceBoard(this.#clock, this.#guests, () => this.#forgetEmpty(key, board))
    this.#boards.set(key, board)
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
    return this.#boards.get(keyOf(document))?.update(users) ?? 0
  }

  /** As `PresenceBoard.delete`. */
  delete(document: PresenceScope, userIds: readonly string[]): number {
    return this.#boards.get(keyOf(document))?.delete(userIds) ?? 0
  }

  /** As `PresenceBoard.entries`. */
  entries(document: PresenceScope): readonly PresenceEntry[] {
    return this.#boards.get(keyOf(document))?.entries() ?? []
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

const keyOf = (document: PresenceScope): string => keyName(documentPrefix(document, document.documentId))

import {
  Awareness,
  applyAwarenessUpdate,
  encodeAwarenessUpdate,
  removeAwarenessStates,
} from 'y-protocols/awareness'
import * as Y from 'yjs'
import type { VisitListener } from '../../../../src/core/events/visit-tracker.ts'
import { RoomAwareness } from '../../../../src/core/rooms/awareness/room-awareness.ts'
import type { PresenceRegistry } from '../../../../src/core/rooms/presence/presence-registry.ts'
import type { Member } from '../../../../src/core/rooms/updates/change.ts'
import { readAwareness } from '../../../../src/core/update/awareness.ts'
import { presenceAlone } from '../../../support/data/rooms.ts'
import type { HeldClock } from '../../../support/time/clock.ts'

export const document = { workspaceId: 'ws', apiKey: 'key', organizationId: 'acme', documentId: 'doc' }
export const windowMs = 40
/** Rounds in which every message in flight arrives. More rounds mean an endless exchange. */
const roundsMax = 50
/** Stock clients check every 3 s whether 15 s have passed, and have renewed their states by this time. */
export const renewedMs = 18_000

export const query = Uint8Array.of(3)
const asItIs = (bytes: Uint8Array): Uint8Array => bytes

/** A server with one room. */
export class Server {
  readonly clock: HeldClock
  readonly presence: PresenceRegistry
  readonly members = new Set<Member>()
  readonly board: RoomAwareness

  constructor(clock: HeldClock, visits?: VisitListener) {
    this.clock = clock
    this.presence = presenceAlone(clock, visits)
    this.board = new RoomAwareness({
      members: this.members,
      presence: this.presence.presenceOf(document),
      editorId: 'main',
      clock,
      windowMs,
      hasContent: () => true,
      refused: () => {},
    })
  }

  end(): void {
    this.board.close()
    this.presence.close()
  }
}

interface Link {
  readonly server: Server
  readonly member: Member
  readonly up: Uint8Array[]
  readonly down: Uint8Array[]
}

/** A stock client, whose messages arrive when the test delivers them. */
export class Client {
  readonly awareness: Awareness
  readonly userId: string
  /** Messages received since the connection or the last read. */
  readonly heard: Uint8Array[] = []
  /** The state that the user has chosen. */
  own: Readonly<Record<string, unknown>> = {}
  readonly #answersRemoval: boolean
  #link: Link | null = null
  readonly #halfOpen: Link[] = []

  constructor(clientId: number, answersRemoval = true, userId = `user-${clientId}`) {
    this.userId = userId
    this.#answersRemoval = answersRemoval
    const doc = new Y.Doc()
    doc.clientID = clientId
    this.awareness = new Awareness(doc)
    this.awareness.on(
      'update',
      (changes: Record<'added' | 'updated' | 'removed', number[]>, origin: unknown) => {
        if (origin === 'server' && !this.#answersRemoval) return
        this.#say([...changes.added, ...changes.updated, ...changes.removed])
      },
    )
    this.show('cursor', 0)
  }

  get isConnected(): boolean {
    return this.#link !== null
  }

  get isQuiet(): boolean {
    return this.#link === null || this.#link.up.length + this.#link.down.length === 0
  }

  show(field: string, value: unknown): void {
    this.own = { ...this.own, [field]: value }
    this.awareness.setLocalStateField(field, value)
  }

  renew(): void {
    this.awareness.setLocalState(this.awareness.getLocalState())
  }

  come(server: Server): void {
    if (this.#link !== null) this.lose()
    const link: Link = { server, member: this.#member(), up: [], down: [] }
    this.#link = link
    server.members.add(link.member)
    server.board.join(link.member)
    link.down.push(...server.board.all())
    this.#say([this.awareness.clientID])
  }

  /** Loses the connection without the notice of the server. */
  lose(): void {
    if (this.#link === null) return
    this.#halfOpen.push(this.#link)
    this.#link = null
    const others = [...this.awareness.getStates().keys()].filter((id) => id !== this.awareness.clientID)
    removeAwarenessStates(this.awareness, others, 'lost')
  }

  notice(): void {
    for (const { server, member } of this.#halfOpen.splice(0)) {
      server.members.delete(member)
      server.board.leave(member)
    }
  }

  /** Sends its own state again. */
  repeat(): void {
    this.#say([this.awareness.clientID])
  }

  deliverUp(): void {
    const link = this.#link
    const said = link?.up.shift()
    if (link === null || said === undefined) return
    const { member, server } = link
    const entries = readAwareness(said, (clientId) => server.board.concerns(member, clientId))
    server.board.receive(member, entries)
  }

  deliverDown(): void {
    const told = this.#link?.down.shift()
    if (told === undefined) return
    this.heard.push(told)
    if (told === query) this.#say([...this.awareness.getStates().keys()])
    else applyAwarenessUpdate(this.awareness, told, 'server')
  }

  #say(clientIds: readonly number[]): void {
    this.#link?.up.push(encodeAwarenessUpdate(this.awareness, [...clientIds]))
  }

  #member(): Member {
    const member: Member = {
      encoder: {
        update: asItIs,
        awareness: asItIs,
        awarenessQuery: query,
        answersRemoval: this.#answersRemoval,
      },
      user: { id: this.userId, name: this.userId, email: '' },
      deliver: () => {},
      deliverAwareness: (frame, own) => {
        if (this.#link?.member === member && !own) this.#link.down.push(frame)
      },
      requestMissing: () => {},
      end: () => {},
    }
    return member
  }
}

/** Ends lost connections, and delivers messages until none is left. */
export function settle(clock: HeldClock, clients: readonly Client[]): void {
  for (const client of clients) client.notice()
  for (let round = 0; round < roundsMax; round++) {
    for (const client of clients) for (let count = 0; count < 100; count++) client.deliverUp()
    clock.advance(windowMs)
    for (const client of clients) for (let count = 0; count < 100; count++) client.deliverDown()
    if (clients.every(({ isQuiet }) => isQuiet) && round > 2) return
  }
  throw new Error('messages go to and fro for ever')
}

export const end = (server: Server, clients: readonly Client[]): void => {
  for (const { awareness } of clients) awareness.destroy()
  server.end()
}

/** The states that a client has of connected clients, without the additions of the server. */
export const seenBy = ({ awareness }: Client): string =>
  JSON.stringify([...awareness.getStates()].map(([id, { cursor, note }]) => [id, { cursor, note }]).sort())

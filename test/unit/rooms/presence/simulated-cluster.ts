import {
  Awareness,
  applyAwarenessUpdate,
  encodeAwarenessUpdate,
  removeAwarenessStates,
} from 'y-protocols/awareness'
import * as Y from 'yjs'
import type { VisitListener } from '../../../../src/core/events/visit-tracker.ts'
import { RoomAwareness } from '../../../../src/core/rooms/awareness/room-awareness.ts'
import { PresenceRegistry } from '../../../../src/core/rooms/presence/presence-registry.ts'
import type { Member } from '../../../../src/core/rooms/updates/member.ts'
import type { Engine } from '../../../../src/core/store/engine.ts'
import { readAwareness } from '../../../../src/core/update/awareness.ts'
import { noVisits } from '../../../support/data/rooms.ts'
import { type SharedNode, sharedNodes, type Weather } from '../../../support/servers/simulated-network.ts'
import { HeldClock } from '../../../support/time/clock.ts'

export const document = { workspaceId: 'ws', apiKey: 'key', organizationId: 'acme', documentId: 'doc' }
const windowMs = 40

interface Room {
  readonly board: RoomAwareness
  readonly members: Set<Member>
}

interface WorldOptions {
  /** Listener for arrivals and departures at a node. */
  readonly visits?: (node: SharedNode, clock: HeldClock) => VisitListener
  readonly store?: Engine
}

/** Nodes with a network between them, whose time passes when the test advances it. */
export class World {
  readonly clock: HeldClock
  readonly nodes: readonly WorldNode[]

  private constructor(clock: HeldClock, nodes: readonly WorldNode[]) {
    this.clock = clock
    this.nodes = nodes
  }

  static async of(
    count: number,
    weather: Weather,
    { visits = () => noVisits, store }: WorldOptions = {},
  ): Promise<World> {
    const clock = new HeldClock()
    const shared = await sharedNodes(count, { clock, weather, ...(store && { store }) })
    return new World(
      clock,
      shared.map((node) => new WorldNode(node, clock, visits(node, clock))),
    )
  }

  node(index: number): WorldNode {
    return this.nodes[index] as WorldNode
  }

  /** Advances the time, and delivers messages in flight. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 20) {
      this.clock.advance(Math.min(left, 20))
      await turn()
    }
    await turn()
  }

  async end(): Promise<void> {
    for (const node of this.nodes) node.presence.close()
    for (const { shared } of this.nodes) await shared.engine.close()
  }
}

/** Runs the microtasks that create messages. */
const turn = async (): Promise<void> => {
  for (let task = 0; task < 12; task++) await Promise.resolve()
}

/** One node: its presence, and the room of the one editor while it has clients. */
export class WorldNode {
  readonly shared: SharedNode
  readonly presence: PresenceRegistry
  readonly #clock: HeldClock
  #room: Room | null = null

  constructor(shared: SharedNode, clock: HeldClock, visits: VisitListener) {
    this.shared = shared
    this.#clock = clock
    this.presence = new PresenceRegistry(shared.engine, clock, visits)
  }

  /** The users listed at this node, in order. */
  listed(): readonly string[] {
    return this.presence
      .presenceOf(document)
      .entries()
      .map(({ userId, source }) => `${userId} ${source}`)
      .sort()
  }

  enter(member: Member): Room {
    this.#room ??= this.#open()
    this.#room.members.add(member)
    this.#room.board.join(member)
    return this.#room
  }

  leave(member: Member): void {
    if (this.#room === null) return
    this.#room.members.delete(member)
    this.#room.board.leave(member)
    if (this.#room.members.size > 0) return
    this.#room.board.close()
    this.#room = null
  }

  #open(): Room {
    const members = new Set<Member>()
    const presence = this.presence.presenceOf(document)
    const parts = {
      members,
      presence,
      editorId: 'main',
      clock: this.#clock,
      windowMs,
      hasContent: () => true,
      refused: () => {},
    }
    return { board: new RoomAwareness(parts), members }
  }
}

const query = Uint8Array.of(3)
const asItIs = (bytes: Uint8Array): Uint8Array => bytes

/** A page with a stock client that moves between nodes. */
export class Page {
  readonly userId: string
  readonly awareness: Awareness
  readonly #leaving: (() => void)[] = []
  #send: ((bytes: Uint8Array) => void) | null = null

  constructor(userId: string, clientId: number) {
    this.userId = userId
    const doc = new Y.Doc()
    doc.clientID = clientId
    this.awareness = new Awareness(doc)
    this.awareness.setLocalState({ cursor: 0 })
    this.awareness.on('update', (changes: Record<'added' | 'updated' | 'removed', number[]>) => {
      const clientIds = [...changes.added, ...changes.updated, ...changes.removed]
      this.#send?.(encodeAwarenessUpdate(this.awareness, clientIds))
    })
  }

  get isConnected(): boolean {
    return this.#send !== null
  }

  /** The server notices the end of an earlier connection later. */
  connect(node: WorldNode): void {
    const isNew = (): boolean => this.#send === send
    const member: Member = {
      encoder: { update: asItIs, awareness: asItIs, awarenessQuery: query, answersRemoval: true },
      user: { id: this.userId, name: this.userId, email: '' },
      deliver: () => {},
      deliverAwareness: (frame, own) => {
        if (isNew() && !own) queueMicrotask(() => isNew() && this.#hear(frame))
      },
      requestMissing: () => {},
      end: () => {},
    }
    this.#forgetOthers()
    const { board } = node.enter(member)
    const send = (bytes: Uint8Array): void =>
      board.receive(
        member,
        readAwareness(bytes, (clientId) => board.concerns(member, clientId)),
      )
    this.#send = send
    this.#leaving.push(() => node.leave(member))
    send(encodeAwarenessUpdate(this.awareness, [this.awareness.clientID]))
    for (const bytes of board.all()) applyAwarenessUpdate(this.awareness, bytes, 'test')
  }

  /** Ends all connections but the last at the server. */
  endOld(): void {
    for (const leave of this.#leaving.splice(0, this.#leaving.length - (this.isConnected ? 1 : 0))) leave()
  }

  disconnect(): void {
    this.#send = null
    this.endOld()
    this.#forgetOthers()
  }

  show(cursor: number): void {
    this.awareness.setLocalStateField('cursor', cursor)
  }

  destroy(): void {
    this.awareness.destroy()
  }

  #hear(frame: Uint8Array): void {
    if (frame !== query) return applyAwarenessUpdate(this.awareness, frame, 'test')
    const all = [...this.awareness.getStates().keys()]
    this.#send?.(encodeAwarenessUpdate(this.awareness, all))
  }

  #forgetOthers(): void {
    const others = [...this.awareness.getStates().keys()].filter((id) => id !== this.awareness.clientID)
    removeAwarenessStates(this.awareness, others, 'test')
  }
}

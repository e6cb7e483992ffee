import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { Awareness, applyAwarenessUpdate, encodeAwarenessUpdate } from 'y-protocols/awareness'
import * as Y from 'yjs'
import { RoomAwareness } from '../../../../src/core/rooms/awareness/room-awareness.ts'
import type { DocumentPresence } from '../../../../src/core/rooms/presence/document-presence.ts'
import type { Member } from '../../../../src/core/rooms/updates/change.ts'
import { readAwareness } from '../../../../src/core/update/awareness.ts'
import { presenceAlone } from '../../../support/data/rooms.ts'
import { HeldClock } from '../../../support/time/clock.ts'
import { times } from '../../../support/time/full-run.ts'

const document = { workspaceId: 'ws', apiKey: 'key', organizationId: 'acme', documentId: 'doc' }
const windowMs = 40
/** Rounds in which every message in flight arrives. More rounds mean an endless exchange. */
const roundsMax = 50

const query = Uint8Array.of(3)
const asItIs = (bytes: Uint8Array): Uint8Array => bytes

/** Rooms of one document with y-protocols clients, whose messages arrive when the test delivers them. */
class World {
  readonly clock = new HeldClock()
  readonly presence = presenceAlone(this.clock)
  readonly clients: Client[]
  readonly #rooms = new Map<string, { board: RoomAwareness; members: Set<Member> }>()

  constructor(who: readonly (readonly [userId: string, editorId: string])[]) {
    this.clients = who.map(([userId, editorId], index) => new Client(userId, index + 1, this.#room(editorId)))
  }

  /** Delivers messages until none is left. */
  settle(): void {
    for (let round = 0; round < roundsMax; round++) {
      for (const client of this.clients) while (client.up.length > 0) client.deliverUp()
      this.clock.advance(windowMs)
      for (const client of this.clients) while (client.down.length > 0) client.deliverDown()
      if (this.clients.every(({ up }) => up.length === 0)) return
    }
    throw new Error('messages go to and fro for ever')
  }

  end(): void {
    for (const { awareness } of this.clients) awareness.destroy()
    for (const { board } of this.#rooms.values()) board.close()
    this.presence.close()
  }

  #room(editorId: string) {
    const members = new Set<Member>()
    const parts = {
      members,
      presence: this.presence.presenceOf(document),
      editorId,
      clock: this.clock,
      windowMs,
      hasContent: () => true,
      refused: () => {},
    }
    const room = this.#rooms.get(editorId) ?? { board: new RoomAwareness(parts), members }
    this.#rooms.set(editorId, room)
    return room
  }
}

class Client {
  readonly userId: string
  readonly awareness: Awareness
  readonly up: Uint8Array[] = []
  readonly down: Uint8Array[] = []
  readonly #deliverUp: (bytes: Uint8Array) => void
  cursor = 0

  constructor(userId: string, clientId: number, room: { board: RoomAwareness; members: Set<Member> }) {
    this.userId = userId
    const doc = new Y.Doc()
    doc.clientID = clientId
    this.awareness = new Awareness(doc)
    // y-websocket sends a message for each change of any origin.
    this.awareness.on('update', (changes: Record<'added' | 'updated' | 'removed', number[]>) => {
      const clientIds = [...changes.added, ...changes.updated, ...changes.removed]
      this.up.push(encodeAwarenessUpdate(this.awareness, clientIds))
    })
    const member: Member = {
      encoder: { update: asItIs, awareness: asItIs, awarenessQuery: query, answersRemoval: true },
      user: { id: userId, name: userId, email: '' },
      deliver: () => {},
      deliverAwareness: (frame, own) => void (own || this.down.push(frame)),
      requestMissing: () => {},
      end: () => {},
    }
    this.#deliverUp = (bytes) => room.board.receive(member, readAwareness(bytes))
    room.members.add(member)
    room.board.join(member)
    this.move(0)
  }

  move(cursor: number): void {
    this.cursor = cursor
    this.awareness.setLocalStateField('cursor', cursor)
  }

  deliverUp(): void {
    const message = this.up.shift()
    if (message !== undefined) this.#deliverUp(message)
  }

  deliverDown(): void {
    const message = this.down.shift()
    if (message === query)
      this.up.push(encodeAwarenessUpdate(this.awareness, [...this.awareness.getStates().keys()]))
    else if (message !== undefined) applyAwarenessUpdate(this.awareness, message, 'test')
  }
}

type Step =
  | { readonly kind: 'move' | 'up' | 'down'; readonly client: number }
  | { readonly kind: 'status' | 'name' | 'delete' | 'add'; readonly user: 'ada' | 'bob' | 'guest' }
  | { readonly kind: 'time' }

const client = fc.nat({ max: 2 })
const user = fc.constantFrom<'ada' | 'bob' | 'guest'>('ada', 'bob', 'guest')
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constantFrom<'move' | 'up' | 'down'>('move', 'up', 'down'), client }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom<'status' | 'name'>('status', 'name'), user }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom<'delete' | 'add'>('delete', 'add'), user }) },
  { weight: 2, arbitrary: fc.constant<Step>({ kind: 'time' }) },
)

/** Crossings that random steps seldom produce. */
const examples: [Step[]][] = [
  // A move has a clock that the server has used for another change meanwhile.
  [
    [
      { kind: 'up', client: 1 },
      { kind: 'name', user: 'bob' },
      { kind: 'time' },
      { kind: 'down', client: 0 },
      { kind: 'move', client: 1 },
    ],
  ],
  // A client that receives its own removal answers with a state that the server has created.
  [
    [
      { kind: 'status', user: 'bob' },
      { kind: 'move', client: 1 },
      { kind: 'up', client: 1 },
      { kind: 'status', user: 'bob' },
      { kind: 'time' },
      { kind: 'delete', user: 'bob' },
      { kind: 'time' },
      { kind: 'add', user: 'bob' },
    ],
  ],
  // A client that receives its own removal increments its clock to that of the next message.
  [
    [
      { kind: 'up', client: 1 },
      { kind: 'delete', user: 'bob' },
      { kind: 'time' },
      { kind: 'add', user: 'bob' },
    ],
  ],
]

/** The latest values of REST by user, and whether the user is present. */
class Model {
  readonly said = new Map<string, { readonly name?: string; readonly status?: string }>()
  readonly here = new Set(['ada', 'bob'])
  count = 0

  take(world: World, each: Step): void {
    if (each.kind === 'time') world.clock.advance(windowMs)
    else if ('client' in each) this.#act(world.clients[each.client] as Client, each.kind)
    else this.#say(world.presence.presenceOf(document), each.kind, each.user)
  }

  #act(client: Client, kind: 'move' | 'up' | 'down'): void {
    if (kind === 'up') client.deliverUp()
    else if (kind === 'down') client.deliverDown()
    else client.move(++this.count)
  }

  #say(board: DocumentPresence, kind: 'status' | 'name' | 'delete' | 'add', userId: string): void {
    const text = `${kind} ${++this.count}`
    if (kind === 'delete') {
      expect(board.delete([userId])).toBe(this.here.has(userId) ? 1 : 0)
      this.here.delete(userId)
      this.said.delete(userId)
      return
    }
    const said = kind === 'name' ? { name: text } : { status: text }
    if (kind === 'add') board.add([{ userId, ...said }], 3_599_000)
    else expect(board.update([{ userId, ...said }])).toBe(this.here.has(userId) ? 1 : 0)
    if (kind === 'add') this.here.add(userId)
    if (this.here.has(userId)) this.said.set(userId, { ...this.said.get(userId), ...said })
  }
}

it('[PRES-10] after cursor moves, status changes and deletions in any order, all clients have the last state', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40, size: 'medium' }), (steps) => {
      const world = new World([
        ['ada', 'main'],
        ['bob', 'main'],
        ['ada', 'side'],
      ])
      const model = new Model()
      for (const each of steps) model.take(world, each)
      world.settle()
      const mates = [[0, 1], [0, 1], [2]].map((indexes) =>
        indexes.map((index) => world.clients[index] as Client),
      )
      for (const [index, { awareness }] of world.clients.entries()) {
        const states = awareness.getStates()
        for (const mate of mates[index] ?? []) {
          const seen = states.get(mate.awareness.clientID) as { cursor: number; user?: object } | undefined
          const here = model.here.has(mate.userId)
          if (here) expect(seen?.cursor).toBe(mate.cursor)
          else if (mate.awareness !== awareness) expect(seen).toBeUndefined()
          const { name, status } = model.said.get(mate.userId) ?? {}
          if (status !== undefined) expect(seen?.user).toMatchObject({ id: mate.userId, status })
          if (name !== undefined && mate.awareness !== awareness) expect(seen?.user).toMatchObject({ name })
        }
        const guests = [...states.values()].filter((state) => state.user?.id === 'guest')
        expect(guests).toHaveLength(model.here.has('guest') ? 1 : 0)
        expect(guests[0]?.user ?? {}).toMatchObject(model.said.get('guest') ?? {})
      }
      expect(
        new Set(
          world.presence
            .presenceOf(document)
            .entries()
            .map(({ userId }) => userId),
        ),
      ).toEqual(model.here)
      world.end()
    }),
    { numRuns: times(400, 4_000), examples },
  )
})

it('[PRES-11] keeps nothing in memory for a document that has no rooms and no users', () => {
  const clock = new HeldClock()
  const presence = presenceAlone(clock)
  const board = presence.presenceOf(document)
  presence.use(document, (present) => present.add([{ userId: 'ann' }], 2_000))
  expect(presence.presenceOf(document)).toBe(board)
  clock.advance(2_000)
  expect(presence.presenceOf(document)).not.toBe(board)
})

it('[CP-5] removes the virtual users of a document that another node owns, and no others', () => {
  const clock = new HeldClock()
  const presence = presenceAlone(clock)
  const other = { ...document, documentId: 'other' }
  for (const each of [document, other])
    presence.use(each, (present) => present.add([{ userId: 'ann' }], 60_000))
  presence.endVirtualUsers((key) => key.at(-1) === 'doc')
  expect([document, other].map((each) => presence.use(each, (present) => present.entries().length))).toEqual([
    0, 1,
  ])
  presence.close()
  expect(clock.pending).toBe(0)
})

import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { readAwareness } from '../../../../src/update/awareness.ts'
import { HeldClock } from '../../../support/time/clock.ts'
import {
  Client,
  document,
  end,
  laterMs,
  query,
  renewedMs,
  Server,
  seenBy,
  settle,
  windowMs,
} from '../stock-clients.ts'

type Action = 'show' | 'note' | 'up' | 'down' | 'come' | 'lose' | 'notice'
type Step =
  | { readonly kind: Action; readonly client: number }
  | { readonly kind: 'time'; readonly ms: number }
  | { readonly kind: 'restart' }

const client = fc.nat({ max: 2 })
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constantFrom('show', 'note', 'up', 'up', 'down', 'down', 'come', 'lose', 'notice'),
      client,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('time' as const),
      ms: fc.constantFrom(windowMs, renewedMs, laterMs),
    }),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: 'restart' }) },
)

const stepsOf = (client: number, ...kinds: readonly Action[]): Step[] =>
  kinds.map((kind) => ({ kind, client }))

/** Who is back moves on, is lost, and only then hears what others have been told of it. */
const movedOn = [0, 2].map((client) => stepsOf(client, 'up', 'come', 'notice', 'come', 'show', 'up', 'come'))

/** Who is back is lost before it is seen. */
const lostAgain = [0, 2].map((client): Step[] => [
  ...stepsOf(client, 'up', 'lose', 'notice'),
  { kind: 'time', ms: windowMs },
  ...stepsOf(client, 'come', 'up', 'come', 'up', 'down', 'down', 'down', 'up', 'up', 'up'),
])

/** Who is back moves on while it is told what is shown of it, and then shows something else. */
const overwritten: Step[] = [
  ...stepsOf(1, 'up', 'come', 'notice', 'come', 'up', 'down', 'note'),
  { kind: 'time', ms: windowMs },
  ...stepsOf(1, 'down', 'show'),
]

/** Who has gone before a restart comes when the others have been back for long, who remember when it went. */
const longAway: Step[] = [
  ...stepsOf(2, 'up', 'lose', 'notice'),
  { kind: 'time', ms: windowMs },
  ...stepsOf(0, 'down', 'down'),
  { kind: 'restart' },
  ...stepsOf(0, 'come'),
  { kind: 'time', ms: renewedMs },
]

it('[AWA-16] whoever comes and goes, and however messages cross, all see what all show last, without a renewal', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40, size: 'medium' }), (steps) => {
      const clock = new HeldClock()
      let server = new Server(clock)
      const clients = [new Client(1), new Client(2), new Client(3, false)]
      for (const each of clients) each.come(server)
      const open = (): void => {
        server.end()
        server = new Server(clock)
      }
      const pass = (ms: number): void => {
        clock.advance(ms)
        if (ms === windowMs) return
        // Connected or not.
        const renewals = ms === laterMs ? 2 : 1
        for (const each of clients) for (let count = 0; count < renewals; count++) each.renew()
        // A room that nobody is in is closed, and opened by who comes.
        if (server.members.size === 0) open()
      }
      const restart = (): void => {
        for (const each of clients) {
          each.lose()
          each.notice()
        }
        open()
      }
      for (const [number, each] of steps.entries()) {
        if (each.kind === 'time') pass(each.ms)
        else if (each.kind === 'restart') restart()
        else act(clients[each.client] as Client, each.kind, number, server)
      }
      for (const each of clients) if (!each.isConnected) each.come(server)
      settle(clock, clients)
      const all = JSON.stringify(clients.map(({ awareness, own }) => [awareness.clientID, own]))
      for (const each of clients) expect(seenBy(each)).toBe(all)
      end(server, clients)
    }),
    {
      numRuns: process.env.WEFT_TEST_ALL === '1' ? 5_000 : 150,
      examples: [...movedOn, ...lostAgain, overwritten, longAway].map((steps) => [steps]),
    },
  )
})

function act(who: Client, kind: Action, number: number, server: Server): void {
  if (kind === 'show') who.show('cursor', number)
  else if (kind === 'note') who.show('note', number)
  else if (kind === 'up') who.deliverUp()
  else if (kind === 'down') who.deliverDown()
  else if (kind === 'come') who.come(server)
  else if (kind === 'lose') who.lose()
  else who.notice()
}

/** Clients in a room that has been open for long, who have all been told of each other a moment ago. */
function room(count: number, tellsBack = true) {
  const clock = new HeldClock()
  const server = new Server(clock)
  const clients = Array.from({ length: count }, (_, index) => new Client(index + 1, tellsBack))
  for (const each of clients) each.come(server)
  settle(clock, clients)
  clock.advance(laterMs)
  for (const each of clients) each.show('cursor', 1)
  settle(clock, clients)
  for (const each of clients) each.heard.length = 0
  return { clock, server, clients }
}

const statesIn = (frames: readonly Uint8Array[]) =>
  frames.filter((frame) => frame !== query).flatMap((frame) => readAwareness(frame))

it.each([true, false])(
  '[AWA-18] who is back costs each of the others a question and an answer, which only who asked hears (tells back: %s)',
  (tellsBack) => {
    const { clock, server, clients } = room(100, tellsBack)
    const [back, ...others] = clients as [Client, ...Client[]]
    back.lose()
    back.come(server)
    settle(clock, clients)
    expect(JSON.parse(seenBy(back))).toHaveLength(100)
    for (const { heard, awareness } of others) {
      const told = statesIn(heard)
      expect(told.filter(({ clientId }) => clientId === awareness.clientID)).toHaveLength(1)
      // That who is back has gone, and is there again.
      expect(told.filter(({ clientId }) => clientId !== awareness.clientID).length).toBeLessThanOrEqual(3)
    }
    end(server, clients)
  },
)

it('[AWA-16] who comes back sees users without a socket', () => {
  const { clock, server, clients } = room(2)
  server.presence.boardOf(document).add([{ userId: 'guest' }], 3_599_000)
  settle(clock, clients)
  const [back] = clients as [Client]
  const seesGuest = (): boolean =>
    [...back.awareness.getStates().values()].some(({ user }) => user?.id === 'guest')
  expect(seesGuest()).toBe(true)
  back.lose()
  expect(seesGuest()).toBe(false)
  back.come(server)
  settle(clock, clients)
  expect(seesGuest()).toBe(true)
  end(server, clients)
})

it('[AWA-18] who comes for the first time has nobody asked', () => {
  const { clock, server, clients } = room(10)
  const newcomer = new Client(11)
  newcomer.come(server)
  settle(clock, [...clients, newcomer])
  for (const { heard } of clients) expect(statesIn(heard).map(({ clientId }) => clientId)).toEqual([11])
  end(server, [...clients, newcomer])
})

it.each([
  { why: 'all that is seen has to be told back', tellsBack: false, idleMs: 0 },
  { why: 'all were told long ago', tellsBack: true, idleMs: 6_000 },
])('[AWA-18] where $why, so many are asked in a window that it is 1,000 states', ({ tellsBack, idleMs }) => {
  const { clock, server, clients } = room(150, tellsBack)
  clock.advance(idleMs)
  const [back, ...others] = clients as [Client, ...Client[]]
  back.lose()
  back.notice()
  back.come(server)
  const isAsked = ({ heard, awareness }: Client): boolean =>
    statesIn(heard).some(({ clientId, state }) => clientId === awareness.clientID && state === null)
  const asked = (): number => others.filter(isAsked).length
  for (let window = 1; window <= 5; window++) {
    for (const each of clients) for (let count = 0; count < 10; count++) each.deliverUp()
    clock.advance(windowMs)
    for (const each of clients) for (let count = 0; count < 10; count++) each.deliverDown()
    expect(asked()).toBeLessThanOrEqual(7 * window)
  }
  expect(asked()).toBeGreaterThan(0)
  settle(clock, clients)
  expect(JSON.parse(seenBy(back))).toHaveLength(150)
  end(server, clients)
})

it('[AWA-22] who is back under a clock at which others heard that it has gone is seen, and keeps what it moved on to', () => {
  const { clock, server, clients } = room(3)
  const [back, ...others] = clients as [Client, ...Client[]]
  back.lose()
  back.notice()
  settle(clock, others)
  back.come(server)
  for (let count = 0; count < 10; count++) back.deliverUp()
  back.show('note', 'moved on')
  clock.advance(windowMs)
  for (let count = 0; count < 10; count++) back.deliverDown()
  back.show('cursor', 2)
  settle(clock, clients)
  expect(back.own).toEqual({ cursor: 2, note: 'moved on' })
  for (const each of clients)
    expect(each.awareness.getStates().get(1)).toMatchObject({ cursor: 2, note: 'moved on' })
  // Others were shown nothing that it had moved on from.
  for (const { heard } of others)
    expect(statesIn(heard).flatMap(({ clientId, state }) => (clientId === 1 ? [state?.note] : []))).toEqual([
      undefined,
      'moved on',
    ])
  end(server, clients)
})

it('[AWA-22] who is back is asked once, under a clock later than others can have heard, however often it is too early', () => {
  const { clock, server, clients } = room(2)
  const [back, other] = clients as [Client, Client]
  const { clock: before } = back.awareness.meta.get(1) as { clock: number }
  back.lose()
  back.notice()
  settle(clock, [other])
  const { clock: told } = other.awareness.meta.get(1) as { clock: number }
  expect(told).toBe(before + 1)
  back.come(server)
  back.heard.length = 0
  for (let count = 0; count < 100; count++) back.say()
  for (let count = 0; count < 200; count++) back.deliverUp()
  for (let count = 0; count < 200; count++) back.deliverDown()
  const asked = statesIn(back.heard).filter(({ clientId, state }) => clientId === 1 && state === null)
  expect(asked).toEqual([expect.objectContaining({ clock: told + 16 })])
  settle(clock, clients)
  expect(other.awareness.getStates().get(1)).toMatchObject({ cursor: 1 })
  end(server, clients)
})

it('[AWA-19] who is asked keeps what it shows, whatever it does meanwhile, and is believed from then on', () => {
  const { clock, server, clients } = room(2)
  const [asked, back] = clients as [Client, Client]
  back.lose()
  back.notice()
  back.come(server)
  settle(clock, [back])
  asked.show('cursor', 2)
  const shown = asked.awareness.getLocalState()
  for (let count = 0; count < 10; count++) asked.deliverDown()
  expect(statesIn(asked.heard)).toContainEqual(expect.objectContaining({ clientId: 1, state: null }))
  expect(asked.awareness.getLocalState()).toBe(shown)
  expect(back.awareness.getStates().has(1)).toBe(false)
  settle(clock, clients)
  expect(back.awareness.getStates().get(1)?.cursor).toBe(2)
  for (const cursor of [3, 4]) {
    asked.show('cursor', cursor)
    settle(clock, clients)
    expect(back.awareness.getStates().get(1)?.cursor).toBe(cursor)
  }
  asked.lose()
  settle(clock, clients)
  expect(back.awareness.getStates().has(1)).toBe(false)
  end(server, clients)
})

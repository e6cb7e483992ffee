import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { readAwareness } from '../../../../src/core/update/awareness.ts'
import { HeldClock } from '../../../support/time/clock.ts'
import { Client, document, end, query, renewedMs, Server, seenBy, settle, windowMs } from './stock-clients.ts'

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
      ms: fc.constantFrom(windowMs, renewedMs),
    }),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: 'restart' }) },
)

const stepsOf = (client: number, ...kinds: readonly Action[]): Step[] =>
  kinds.map((kind) => ({ kind, client }))

/** A client that returns changes its state and loses its connection before it receives its own removal. */
const movedOn = [0, 2].map((client) => stepsOf(client, 'up', 'come', 'notice', 'come', 'show', 'up', 'come'))

/** A client that returns loses its connection before it is seen. */
const lostAgain = [0, 2].map((client): Step[] => [
  ...stepsOf(client, 'up', 'lose', 'notice'),
  { kind: 'time', ms: windowMs },
  ...stepsOf(client, 'come', 'up', 'come', 'up', 'down', 'down', 'down', 'up', 'up', 'up'),
])

/** A client that returns changes its state while it receives its own removal, and then again. */
const overwritten: Step[] = [
  ...stepsOf(1, 'up', 'come', 'notice', 'come', 'up', 'down', 'note'),
  { kind: 'time', ms: windowMs },
  ...stepsOf(1, 'down', 'show'),
]

/** A client that left before a restart connects when the others have returned and renewed their states. */
const longAway: Step[] = [
  ...stepsOf(2, 'up', 'lose', 'notice'),
  { kind: 'time', ms: windowMs },
  ...stepsOf(0, 'down', 'down'),
  { kind: 'restart' },
  ...stepsOf(0, 'come'),
  { kind: 'time', ms: renewedMs },
]

it('[AWA-23] when clients connect, leave and send in any order, shows every client all states within one renewal interval', () => {
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
        // Runs for connected and disconnected clients.
        for (const each of clients) each.renew()
        // A room without members closes, and the next client opens it.
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
      clock.advance(renewedMs)
      for (const each of clients) each.renew()
      settle(clock, clients)
      const all = JSON.stringify(clients.map(({ awareness, own }) => [awareness.clientID, own]))
      for (const each of clients) expect(seenBy(each)).toBe(all)
      end(server, clients)
    }),
    {
      numRuns: process.env.WEFT_TEST_LONG === '1' ? 5_000 : 150,
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

/** Clients in a room that have received each other's states. */
function room(count: number, answersRemoval = true) {
  const clock = new HeldClock()
  const server = new Server(clock)
  const clients = Array.from({ length: count }, (_, index) => new Client(index + 1, answersRemoval))
  for (const each of clients) each.come(server)
  settle(clock, clients)
  for (const each of clients) each.show('cursor', 1)
  settle(clock, clients)
  for (const each of clients) each.heard.length = 0
  return { clock, server, clients }
}

const statesIn = (frames: readonly Uint8Array[]) =>
  frames.filter((frame) => frame !== query).flatMap((frame) => readAwareness(frame))

it('[AWA-23] shows virtual users to a returning client', () => {
  const { clock, server, clients } = room(2)
  server.presence.presenceOf(document).add([{ userId: 'guest' }], 3_599_000)
  settle(clock, clients)
  const [back] = clients as [Client]
  const seesGuest = (): boolean =>
    [...back.awareness.getStates().values()].some(({ user }) => user?.id === 'guest')
  expect(seesGuest()).toBe(true)
  back.lose()
  expect(seesGuest()).toBe(false)
  back.come(server)
  clock.advance(renewedMs)
  settle(clock, clients)
  expect(seesGuest()).toBe(true)
  end(server, clients)
})

it.each([true, false])(
  '[AWA-24] when a client returns with an unchanged clock, shows the client and its changes immediately (client answers its removal: %s)',
  (answersRemoval) => {
    const { clock, server, clients } = room(3, answersRemoval)
    const [back, ...others] = clients as [Client, ...Client[]]
    back.lose()
    back.notice()
    settle(clock, others)
    back.come(server)
    for (let count = 0; count < 10; count++) back.deliverUp()
    back.show('note', 'changed')
    clock.advance(windowMs)
    for (let count = 0; count < 10; count++) back.deliverDown()
    back.show('cursor', 2)
    settle(clock, clients)
    expect(back.own).toEqual({ cursor: 2, note: 'changed' })
    for (const each of others)
      expect(each.awareness.getStates().get(1)).toMatchObject({ cursor: 2, note: 'changed' })
    // Other clients do not receive the state that the client has changed meanwhile.
    for (const { heard } of others)
      expect(
        statesIn(heard).flatMap(({ clientId, state }) => (clientId === 1 && state ? [state.note] : [])),
      ).not.toContain(undefined)
    end(server, clients)
  },
)

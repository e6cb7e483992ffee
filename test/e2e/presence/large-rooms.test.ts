import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { closeCodes } from '../../../src/core/model/close.ts'
import type { PresenceEntry } from '../../../src/core/rooms/presence/presence-entry.ts'
import {
  type Editor,
  eventually,
  type ProviderVersion,
  RawClient,
  syncedEditor,
} from '../../support/clients/clients.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { itLong } from '../../support/time/full-run.ts'

/** Number of clients that connect at the same time. */
const atOnce = 100
/**
 * Stock clients renew their state at this interval, and drop a state after twice this time without renewal.
 */
const renewalMs = 15_000
/** All clients run in the process of the server, which takes longer on a busy machine. */
const patienceMs = 60_000
const versions: readonly ProviderVersion[] = [1, 2, 3]

let server: TestServer
let tokens: readonly string[]
let documents = 0

beforeAll(async () => {
  server = await startTestServer()
  const users = Array.from({ length: 50 }, (_, index) => `user-${index}`)
  tokens = await Promise.all(users.map((userId) => server.token(userId)))
})

afterAll(() => server.stop())

const newPath = (): string => `acme/crowd-${++documents}/main`

async function connect(path: string, number: number): Promise<RawClient> {
  const token = tokens[number % tokens.length] as string
  const client = await RawClient.connect(`${server.wsUrl}/sync/${path}?token=${token}`)
  client.sendAwareness(number + 1, 1, { cursor: number })
  return client
}

/** Adds clients to `clients` up to `count`. */
async function fill(clients: RawClient[], path: string, count: number): Promise<void> {
  while (clients.length < count) {
    const more = Array.from({ length: Math.min(atOnce, count - clients.length) }, (_, index) => index)
    clients.push(...(await Promise.all(more.map((index) => connect(path, clients.length + index)))))
  }
}

/** Renews the states of many clients as stock clients do, until the returned function is called. */
function renewStates(clients: readonly RawClient[]): () => void {
  let clock = 1
  const timer = setInterval(() => {
    clock += 1
    for (const [number, client] of clients.entries()) {
      client.sendAwareness(number + 1, clock, { cursor: number })
      client.received.length = 0
    }
  }, renewalMs)
  return () => clearInterval(timer)
}

const watchers = async (path: string): Promise<readonly Editor[]> => {
  const token = await server.token('watcher')
  return Promise.all(versions.map((version) => syncedEditor(server.wsUrl, path, token, { version })))
}

/** Client ids up to `count` that an editor knows. */
const seenBy = ({ provider, doc }: Editor, count: number): number[] =>
  [...provider.awareness.getStates().keys()].filter((id) => id <= count && id !== doc.clientID)

itLong(
  '[AWA-11] shows all 1,200 clients to a new client, and closes no client that sends received states back',
  async () => {
    const path = newPath()
    const early = await watchers(path)
    const closes: number[] = []
    const watchCloses = ({ provider }: Editor): void =>
      void provider.on('connection-close', (event) => closes.push(event?.code ?? 0))
    for (const editor of early) watchCloses(editor)
    const clients: RawClient[] = []
    const stopRenewing = renewStates(clients)
    await fill(clients, path, 1_200)
    const late = await watchers(path)
    for (const editor of late) watchCloses(editor)
    for (const editor of [...early, ...late])
      await eventually(
        () => seenBy(editor, 1_200).length === 1_200,
        () => [seenBy(editor, 1_200).length, closes],
        patienceMs,
      )
    // Stock clients send received states back. When the move arrives, the earlier messages of the client have
    // arrived.
    for (const editor of late) editor.provider.awareness.setLocalStateField('cursor', 'moved')
    for (const editor of early)
      await eventually(
        () =>
          [...editor.provider.awareness.getStates().values()].filter((s) => s.cursor === 'moved').length ===
          3,
        () => closes,
        patienceMs,
      )
    expect(closes).toEqual([])
    stopRenewing()
    for (const client of clients) client.end()
    for (const editor of [...early, ...late])
      await eventually(
        () => seenBy(editor, 1_200).length === 0,
        () => closes,
        patienceMs,
      )
    expect(closes).not.toContain(closeCodes.badRequest)
    for (const editor of [...early, ...late]) editor.close()
  },
)

/** Rounds in which a user connects and disconnects, and how. */
interface Visit {
  readonly from: number
  readonly stay: number
  readonly end: 'closed' | 'cut' | 'farewell' | 'returning'
}

const visit: fc.Arbitrary<Visit> = fc.record({
  from: fc.nat({ max: 9 }),
  stay: fc.integer({ min: 1, max: 6 }),
  end: fc.constantFrom('closed', 'cut', 'farewell', 'returning'),
})

async function leave(client: RawClient, number: number, { end }: Visit): Promise<void> {
  if (end === 'farewell') client.sendAwareness(number + 1, 2, null)
  if (end === 'cut') client.end()
  else client.socket.close()
  await client.closed
}

/** Connects and disconnects the users in rounds; within a round, all at once. */
async function carryOut(path: string, visits: readonly Visit[]): Promise<void> {
  const there = new Map<number, RawClient>()
  const come = async (number: number): Promise<void> => void there.set(number, await connect(path, number))
  const go = async (number: number, how: Visit): Promise<void> =>
    leave(there.get(number) as RawClient, number, how)
  for (let round = 0; round <= 17; round++) {
    await Promise.all(
      visits.map(async (each, number) => {
        const last = each.from + each.stay
        if (round === each.from) await come(number)
        if (round === last) await go(number, each)
        if (each.end !== 'returning') return
        if (round === last) await come(number)
        if (round === last + 1) await go(number, each)
      }),
    )
  }
}

it('[PRES-17] leaves presence and awareness empty after 500 clients have connected and left in any order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(visit, { minLength: 500, maxLength: 500 }), async (visits) => {
      const path = newPath()
      const [organizationId, documentId] = path.split('/')
      // REST knows a document from its first edit.
      const content = { editorId: 'other', type: 'text', data: 'x' }
      dataOf(await server.post('/v2/crdt/add', { organizationId, documentId, ...content }))
      const present = async (): Promise<readonly string[]> => {
        const answer = await server.post('/v2/presence/get', { organizationId, documentId })
        return (dataOf(answer) as readonly PresenceEntry[]).map(({ userId }) => userId)
      }
      const editors = await watchers(path)
      const most = { seen: 0 }
      for (const editor of editors)
        editor.provider.awareness.on('change', () => {
          most.seen = Math.max(most.seen, seenBy(editor, 500).length)
        })
      await carryOut(path, visits)
      for (const editor of editors)
        await eventually(
          () => seenBy(editor, 500).length === 0,
          () => seenBy(editor, 500),
        )
      expect(most.seen).toBeGreaterThan(100)
      await eventually(async () => (await present()).join() === 'watcher', present)
      for (const editor of editors) editor.close()
      await eventually(async () => (await present()).length === 0, present)
      const late = await RawClient.connect(`${server.wsUrl}/sync/${path}?token=${tokens[0]}`)
      await late.roundTrip()
      expect(late.awareness().filter(({ state }) => state !== null)).toEqual([])
      late.end()
    }),
    { numRuns: process.env.WEFT_TEST_LONG === '1' ? 10 : 1, endOnFailure: true },
  )
})

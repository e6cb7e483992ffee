import * as fc from 'fast-check'
import { expect, vi } from 'vitest'
import { document, Page, World } from './simulated-cluster.ts'

const nodeCount = 3
const renewalMs = 15_000
/**
 * Separated nodes may disagree on the order of changes, by as many ms as they have sent messages in one ms.
 */
const surelyLaterMs = 1_000
export type Step =
  | { readonly kind: 'connect'; readonly page: number; readonly node: number }
  | { readonly kind: 'disconnect' | 'endOld' | 'show'; readonly page: number }
  | { readonly kind: 'add' | 'update' | 'delete'; readonly user: string; readonly node: number }
  | { readonly kind: 'cut' | 'mend'; readonly node: number; readonly page?: never }
  | { readonly kind: 'pass'; readonly ms: number }

export interface History {
  readonly steps: readonly Step[]
  /** The arrival times of the copies of each message in turn; no copies: the message is lost. */
  readonly weather: readonly (readonly number[])[]
  /** Seed of the random choices of the nodes. */
  readonly chance: number
}

const page = fc.nat({ max: 3 })
const node = fc.nat({ max: nodeCount - 1 })
const user = fc.constantFrom('ada', 'bob', 'guest')

export const coming: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('connect' as const), page, node }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom('disconnect', 'endOld', 'show'),
      page,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('cut', 'mend'), node }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(1, 40, 200, 6_000) }),
  },
)

export const saying: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('add', 'update', 'delete'),
  user,
  node,
})

export const historyOf = (step: fc.Arbitrary<Step>): fc.Arbitrary<History> =>
  fc.record({
    steps: fc.array(step, { maxLength: 40, size: 'medium' }),
    weather: fc.array(fc.array(fc.constantFrom(0, 1, 30, 90, 700), { maxLength: 2 }), {
      minLength: 1,
      maxLength: 30,
    }),
    chance: fc.nat(),
  })

/** Nodes, and pages that move between them. */
export interface Run {
  readonly world: World
  readonly pages: readonly Page[]
  /**
   * Users of REST calls: the time of the last call, and whether a node that knew them received a deletion
   * afterwards.
   */
  readonly named: Map<string, { readonly at: number; readonly isDeleted: boolean }>
}

/** Runs a history, and lets the cluster settle. `check` verifies the result. */
export async function after(
  { steps, weather, chance }: History,
  check: (run: Run) => Promise<void>,
): Promise<void> {
  const drawn = vi.spyOn(Math, 'random').mockImplementation(numbersFrom(chance))
  let messages = 0
  let isCalm = false
  const world = await World.of(nodeCount, () =>
    isCalm ? [0] : (weather[messages++ % weather.length] ?? [0]),
  )
  const pages = ['ada', 'bob', 'ada', 'eve'].map((userId, index) => new Page(userId, index + 1))
  const run: Run = { world, pages, named: new Map() }
  try {
    for (const each of steps) await take(run, each)
    isCalm = true
    await calmDown(run)
    await check(run)
  } finally {
    for (const each of pages) each.destroy()
    await world.end()
    drawn.mockRestore()
  }
}

async function take(run: Run, step: Step): Promise<void> {
  const { world, pages } = run
  if (step.kind === 'pass') return world.pass(step.ms)
  if ('user' in step) return say(run, step)
  if (step.page === undefined) return world.node(step.node).shared[step.kind]()
  const actor = pages[step.page] as Page
  if (step.kind === 'connect') actor.connect(world.node(step.node))
  else if (step.kind === 'show') actor.show(Number(actor.cursor) + 1)
  else actor[step.kind]()
}

async function say({ world, named }: Run, { kind, user: userId, node: at }: Extract<Step, { user: string }>) {
  const { presence } = world.node(at)
  if (kind === 'add') {
    named.set(userId, { at: world.clock.now(), isDeleted: false })
    await world.during(presence.add(document, [{ userId }], 3_599_000))
  } else if (kind === 'delete') {
    const before = named.get(userId)
    const entries = await world.during(presence.entries(document))
    const isKnown = entries.some((each) => each.userId === userId && each.source === 'rest')
    await world.during(presence.delete(document, [userId]))
    if (isKnown && before !== undefined && before.at + surelyLaterMs <= world.clock.now())
      named.set(userId, { ...before, isDeleted: true })
  } else await world.during(presence.update(document, [{ userId, status: 'busy' }]))
}

/** Ends half-open connections, and renews the states of stock clients once. */
async function calmDown({ world, pages }: Run): Promise<void> {
  for (const each of world.nodes) each.shared.mend()
  for (const each of pages) each.endOld()
  await world.pass(renewalMs)
  for (const each of pages) each.renew()
  await world.pass(1_000)
}

/** For histories without REST: checks that all nodes and pages list and show exactly the connected users. */
export async function expectExactly({ world, pages }: Run): Promise<void> {
  const connected = pages.filter(({ isConnected }) => isConnected)
  const here = [...new Set(connected.map(({ userId }) => `${userId} socket`))].sort()
  const clients = connected
    .map((each) => `${each.userId} ${each.awareness.clientID} ${String(each.cursor)}`)
    .sort()
  for (const each of world.nodes) {
    await world.during(each.presence.entries(document))
    expect(each.listed()).toEqual(here)
    expect(each.shown() ?? clients).toEqual(clients)
  }
  for (const each of connected) {
    const others = [...each.awareness.getStates()].map(([id, { cursor }]) => `${id} ${String(cursor)}`)
    expect(others.sort()).toEqual(clients.map((client) => client.slice(client.indexOf(' ') + 1)).sort())
  }
}

/** Pseudo-random numbers from 0 to 1 (mulberry32). */
function numbersFrom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

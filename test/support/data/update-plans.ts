import type { Random } from './random-doc.ts'
import {
  type Block,
  block,
  contents,
  type Deletions,
  type Id,
  id,
  item,
  type KnownContent,
  list,
  type Place,
  updateOf,
} from './update-builder.ts'

const positions = ['first', 'last', 'previous', 'rising', 'falling', 'scattered'] as const
const contentNames = ['text', 'embed', 'values', 'format', 'type', 'deleted'] as const
const parents = ['root', 'roots', 'list', 'text'] as const
const keys = ['none', 'one', 'many'] as const
const deletions = ['none', 'all', 'each', 'alternate', 'overlapping'] as const
const orders = ['rising', 'falling', 'bothEnds', 'scattered'] as const

/**
 * Describes the item next to which another item is placed. `of` is the index of its writer. `at` determines
 * its position from the number of the placed item and the number of items.
 */
interface Neighbor {
  readonly of: number
  readonly at: (typeof positions)[number]
}

/**
 * Describes items that a plan writes. `client`: n items with one client id. `clients`: n items with n client
 * ids. `run`: one item with n characters or values.
 */
export interface Writer {
  readonly as: 'client' | 'clients' | 'run'
  readonly content: (typeof contentNames)[number]
  readonly parent: (typeof parents)[number]
  readonly key: (typeof keys)[number]
  readonly left: Neighbor | null
  readonly right: Neighbor | null
  readonly deleted: (typeof deletions)[number]
  /** Order of the deleted ranges. */
  readonly order: (typeof orders)[number]
}

/** Description of a shape of updates. A search changes it to find expensive shapes. */
export interface UpdatePlan {
  readonly writers: readonly Writer[]
  /** Whether all writers are in one update, or each writer and its deletions are in separate updates. */
  readonly sent: 'together' | 'apart'
}

/** Types into which writers can write. Client 1 creates a Y.Array and a Y.Text in the root `m`. */
const base = block(1, [
  item({ parent: 'm', key: 'list' }, contents.type(0)),
  item({ parent: 'm', key: 'text' }, contents.type(2)),
])

/**
 * Returns a client id of a writer. Each writer has enough ids for n clients. A later writer has lower ids.
 */
const clientOf = (writer: number, n: number): number => (9 - writer) * 200_000 + n

function clockAt(at: Neighbor['at'], i: number, n: number, own: number | null): number | null {
  const end = own ?? n
  if (end === 0) return null
  switch (at) {
    case 'first':
      return 0
    case 'last':
    case 'previous':
      return end - 1
    case 'rising':
      return Math.min(i, end - 1)
    case 'falling':
      return Math.max(0, Math.min(end - 1, n - 1 - i))
    default:
      return (i * 7_919) % end
  }
}

function neighborOf(
  { writers }: UpdatePlan,
  self: number,
  neighbor: Neighbor | null,
  i: number,
  n: number,
): Id | undefined {
  const writer = writers[neighbor?.of ?? -1]
  if (neighbor === null || writer === undefined || neighbor.of > self) return undefined
  const isOwn = neighbor.of === self
  if (isOwn && writer.as === 'run') return undefined
  const clock = clockAt(neighbor.at, i, n, isOwn ? i : null)
  if (clock === null) return undefined
  const first = clientOf(neighbor.of, 0)
  return writer.as === 'clients' ? id(first + clock, 0) : id(first, clock)
}

function contentOf(name: Writer['content'], i: number): KnownContent {
  switch (name) {
    case 'text':
      return contents.text('a')
    case 'values':
      return contents.values(1)
    case 'format':
      return contents.format(i % 3 === 0 ? 'b' : `k${i % 50}`, i % 2 === 0 ? true : null)
    case 'type':
      return contents.type(1)
    case 'deleted':
      return contents.deleted(1)
    default:
      return contents.embed
  }
}

function placeOf(plan: UpdatePlan, self: number, i: number, n: number): Place {
  const writer = plan.writers[self] as Writer
  const left = neighborOf(plan, self, writer.left, i, n)
  const right = neighborOf(plan, self, writer.right, i, n)
  const key = writer.key === 'none' ? {} : { key: writer.key === 'one' ? 'k' : `k${i}` }
  const nested = { list: id(1, 0), text: id(1, 1) }
  const parent = writer.parent === 'root' ? 't' : writer.parent === 'roots' ? `r${i}` : nested[writer.parent]
  return { parent, ...key, ...(left && { left }), ...(right && { right }) }
}

function blocksOf(plan: UpdatePlan, self: number, n: number): readonly Block[] {
  const writer = plan.writers[self] as Writer
  const client = clientOf(self, 0)
  if (writer.as === 'run') {
    const content = writer.content === 'values' ? contents.values(n) : contents.text('x'.repeat(n))
    return [block(client, [item(placeOf(plan, self, 0, n), content)])]
  }
  const items = list(n, (i) => item(placeOf(plan, self, i, n), contentOf(writer.content, i)))
  if (writer.as === 'client') return [block(client, items)]
  return items.map((each, i) => block(client + i, [each])).reverse()
}

/** Returns the values in another order. */
function ordered<T>(values: readonly T[], order: Writer['order']): T[] {
  const last = values.length - 1
  return list(values.length, (i) => {
    const at = {
      rising: i,
      falling: last - i,
      bothEnds: i % 2 === 0 ? i / 2 : last - (i - 1) / 2,
      scattered: (i * 7_919) % values.length,
    }
    return values[at[order]] as T
  })
}

const rangesOf = (writer: Writer, n: number): Deletions[number][1] =>
  ordered(sortedRanges(writer.deleted, n), writer.order)

function sortedRanges(deleted: Writer['deleted'], n: number): Deletions[number][1] {
  switch (deleted) {
    case 'none':
      return []
    case 'all':
      return [[0, n]]
    case 'each':
      return list(n, (i) => [i, 1] as const)
    case 'alternate':
      return list(Math.floor(n / 2), (i) => [2 * i, 1] as const)
    default:
      return list(n, () => [0, n] as const)
  }
}

function deletionsOf(writer: Writer, self: number, n: number): Deletions {
  if (writer.deleted === 'none') return []
  const client = clientOf(self, 0)
  if (writer.as !== 'clients') return [[client, rangesOf(writer, n)]]
  return list(n, (i) => [client + i, [[0, 1]]] as const)
}

/** Returns the updates of a plan, with n items for each writer. */
export function updatesOf(plan: UpdatePlan, n: number): readonly Uint8Array[] {
  const written = plan.writers.map((writer, self) => ({
    blocks: blocksOf(plan, self, n),
    deleted: deletionsOf(writer, self, n),
  }))
  if (plan.sent === 'together')
    return [
      updateOf(
        [...written.flatMap(({ blocks }) => blocks), base],
        written.flatMap(({ deleted }) => deleted),
      ),
    ]
  return [
    updateOf([base]),
    ...written.map(({ blocks }) => updateOf(blocks)),
    ...written.flatMap(({ deleted }) => (deleted.length === 0 ? [] : [updateOf([], deleted)])),
  ]
}

const neighbor = (random: Random): Neighbor | null =>
  random.below(3) === 0 ? null : { of: random.below(3), at: random.pick(positions) }

const randomWriter = (random: Random): Writer => ({
  as: random.pick(['client', 'client', 'clients', 'run']),
  content: random.pick(contentNames),
  parent: random.pick(parents),
  key: random.pick(['none', 'none', 'none', ...keys]),
  left: neighbor(random),
  right: neighbor(random),
  deleted: random.pick(['none', 'none', ...deletions]),
  order: random.pick(orders),
})

export const randomPlan = (random: Random): UpdatePlan => ({
  writers: list(1 + random.below(3), () => randomWriter(random)),
  sent: random.pick(['together', 'apart']),
})

/** Returns the plan with one part changed at random. A writer may be replaced with one of `other`. */
export function mutatePlan(plan: UpdatePlan, other: UpdatePlan, random: Random): UpdatePlan {
  const at = random.below(plan.writers.length)
  const change = (part: Partial<Writer>): UpdatePlan => ({
    ...plan,
    writers: plan.writers.map((writer, index) => (index === at ? { ...writer, ...part } : writer)),
  })
  switch (random.below(10)) {
    case 0:
      return { ...plan, sent: plan.sent === 'apart' ? 'together' : 'apart' }
    case 1:
      return { ...plan, writers: [...plan.writers, randomWriter(random)].slice(-3) }
    case 2:
      return change(other.writers[0] ?? {})
    case 3:
      return change({ as: random.pick(['client', 'clients', 'run']) })
    case 4:
      return change({ content: random.pick(contentNames) })
    case 5:
      return change({ parent: random.pick(parents), key: random.pick(keys) })
    case 6:
      return change({ deleted: random.pick(deletions), order: random.pick(orders) })
    case 7:
      return change({ left: neighbor(random) })
    default:
      return change({ right: neighbor(random) })
  }
}

const plain = {
  parent: 'root',
  key: 'none',
  left: null,
  right: null,
  deleted: 'none',
  order: 'rising',
} as const

/** Deletions and splits of content in every order. Applying such a plan must take n·log n. */
export const orderedPlans: readonly UpdatePlan[] = (['together', 'apart'] as const).flatMap((sent) =>
  (['text', 'values'] as const).flatMap((content) => {
    const run: Writer = { ...plain, as: 'run', content }
    const own: Writer = { ...run, as: 'client', left: { of: 0, at: 'previous' } }
    return [
      ...orders.map((order) => ({ sent, writers: [{ ...run, deleted: 'alternate' as const, order }] })),
      ...positions.map((at) => ({ sent, writers: [run, { ...own, left: { of: 0, at } }] })),
      { sent, writers: [{ ...own, deleted: 'overlapping' as const }] },
    ]
  }),
)

/** Returns plans that are simpler than the given plan in one respect. */
export function simplerPlans(plan: UpdatePlan): readonly UpdatePlan[] {
  const { writers } = plan
  const fewer =
    writers.length < 2 ? [] : writers.map((_, at) => writers.filter((_each, index) => index !== at))
  const plainer = writers.flatMap((writer, at) =>
    Object.entries(plain)
      .filter(([name, value]) => writer[name as keyof typeof plain] !== value)
      .map(([name, value]) =>
        writers.map((each, index) => (index === at ? { ...each, [name]: value } : each)),
      ),
  )
  return [...fewer, ...plainer].map((less) => ({ ...plan, writers: less }))
}

import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { after, coming, expectExactly, historyOf, type Run, saying } from './reference-model.ts'
import { document } from './simulated-cluster.ts'

const testsAll = process.env.WEFT_TEST_LONG === '1'
const [runs, testMs] = testsAll ? [300, 600_000] : [50, 60_000]
const options = { numRuns: runs }

it(
  '[CP-22] after any connections, disconnections, separations of nodes and lost messages, lists and shows exactly the present users at all nodes',
  async () => {
    await fc.assert(
      fc.asyncProperty(historyOf(coming), (history) => after(history, expectExactly)),
      options,
    )
  },
  testMs,
)

/**
 * Checks that no absent user is listed and that all nodes agree. It is uncertain which of several sockets of
 * a user a node knows last.
 */
async function expectAgreement({ world, pages, named }: Run): Promise<void> {
  const possible = new Set(
    [...named].flatMap(([userId, { isDeleted }]) => (isDeleted ? [] : `${userId} rest`)),
  )
  for (const { isConnected, userId } of pages) if (isConnected) possible.add(`${userId} socket`)
  const lists: (readonly string[])[] = []
  for (const each of world.nodes) {
    const entries = await world.during(each.presence.entries(document))
    expect(each.listed().filter((user) => !possible.has(user))).toEqual([])
    lists.push(
      entries
        .map(({ userId, source, status }) => `${userId} ${source === 'rest' ? status : 'socket'}`)
        .sort(),
    )
  }
  for (const list of lists) expect(list).toEqual(lists[0])
  const shown = world.nodes.map((each) => each.shown()).filter((each) => each !== null)
  for (const each of shown) expect(each).toEqual(shown[0])
}

it(
  '[CP-23] lists no absent virtual user at any node, and all nodes list the same users',
  async () => {
    const step = fc.oneof({ weight: 3, arbitrary: coming }, { weight: 1, arbitrary: saying })
    await fc.assert(
      fc.asyncProperty(historyOf(step), (history) => after(history, expectAgreement)),
      options,
    )
  },
  testMs,
)

import { expect, it, onTestFinished } from 'vitest'
import * as Y from 'yjs'
import { writerTtlMs } from '../../../../src/core/rooms/presence/shown-writer.ts'
import { document, Page, World } from './simulated-cluster.ts'

const positionAt = (clock: number): Y.RelativePosition =>
  new Y.RelativePosition(null, null, Y.createID(7, clock))

/** Returns the carets of other users that a page shows: the user id, the kind, and the item of the position. */
const caretsOn = ({ awareness }: Page): readonly string[] =>
  [...awareness.getStates().values()]
    .flatMap(({ user, cursor }) =>
      cursor?.head === undefined ? [] : [`${user.id} ${user.kind} ${cursor.head.item.clock}`],
    )
    .sort()

/** Starts nodes with a page at each. */
async function started(count: number) {
  const visits: string[] = []
  const world = await World.of(count, () => [0], {
    visits: (node) => {
      const note = (text: string): void => {
        if (node === world.node(0).shared) visits.push(text)
      }
      return {
        joined: (_, { user, kind }) => note(`${user.userId} ${kind} joined`),
        left: (_, { user }) => note(`${user.userId} left`),
      }
    },
  })
  const pages = world.nodes.map((node, index) => {
    const page = new Page(`reader-${index}`, index + 1)
    page.connect(node)
    return page
  })
  onTestFinished(async () => {
    for (const page of pages) page.destroy()
    await world.end()
  })
  await world.pass(1_000)
  visits.splice(0)
  const show = (node: number, clock: number, editorId = 'main') =>
    world.node(node).presence.showWriter(document, {
      userId: 'bot',
      name: 'Bot',
      kind: 'agent',
      editorId,
      contentKey: 'content',
      cursor: positionAt(clock),
    })
  const listed = (node: number): readonly string[] =>
    world
      .node(node)
      .listed()
      .filter((entry) => entry.startsWith('bot'))
  const expectCarets = async (expected: readonly string[]): Promise<void> => {
    await world.pass(200)
    for (const page of pages) expect(caretsOn(page)).toEqual(expected)
  }
  return { world, pages, visits, show, listed, expectCarets }
}

it('[PRES-37] shows one caret for each writer of a user at every node, moves it, and removes it at the end', async () => {
  const { world, show, listed, expectCarets, visits } = await started(2)
  const [one, two] = [show(0, 3), show(1, 7)]
  await expectCarets(['bot agent 3', 'bot agent 7'])
  for (const node of [0, 1]) expect(listed(node)).toEqual(['bot rest'])
  one.move(positionAt(5))
  await expectCarets(['bot agent 5', 'bot agent 7'])
  two.end()
  two.move(positionAt(0))
  two.end()
  await expectCarets(['bot agent 5'])
  one.end()
  await expectCarets([])
  for (const node of [0, 1]) expect(listed(node)).toEqual([])
  expect(visits).toEqual(['bot agent joined', 'bot left'])
  await world.pass(2 * writerTtlMs)
  await expectCarets([])
})

it('[PRES-37] keeps the caret of a writer that pauses, and removes it soon after the loss of its node', async () => {
  const { world, show, listed, expectCarets } = await started(2)
  show(1, 3)
  await expectCarets(['bot agent 3'])
  await world.pass(10 * writerTtlMs)
  await expectCarets(['bot agent 3'])
  world.node(1).shared.cut()
  await world.pass(writerTtlMs)
  expect(listed(0)).toEqual([])
})

it('[PRES-37] draws the caret of a writer in its editor only, and lists its user once with other ways of being present', async () => {
  const { world, pages, show, listed, expectCarets, visits } = await started(1)
  const { presence } = world.node(0)
  const elsewhere = show(0, 3, 'second')
  await expectCarets([])
  expect(listed(0)).toEqual(['bot rest'])
  elsewhere.end()
  await presence.add(document, [{ userId: 'bot', name: 'Bot', kind: 'agent' }], 600_000)
  const here = show(0, 4)
  await expectCarets(['bot agent 4'])
  expect(listed(0)).toEqual(['bot rest'])
  expect(await presence.update(document, [{ userId: 'bot', status: 'busy' }])).toBe(1)
  const [entry] = (await presence.entries(document)).filter(({ userId }) => userId === 'bot')
  expect(entry).toMatchObject({
    status: 'busy',
    kind: 'agent',
    cursor: { editorId: 'main', contentKey: 'content' },
  })
  here.end()
  await expectCarets([])
  expect(listed(0)).toEqual(['bot rest'])
  const last = show(0, 5)
  const socket = new Page('bot', 9)
  socket.connect(world.node(0))
  expect(listed(0)).toEqual(['bot socket'])
  await world.pass(200)
  expect(caretsOn(pages[0] as Page)).toEqual(['bot agent 5'])
  socket.disconnect()
  expect(listed(0)).toEqual(['bot rest'])
  expect(visits).toEqual(['bot agent joined', 'bot left', 'bot agent joined'])
  await presence.delete(document, ['bot'])
  last.move(positionAt(6))
  await expectCarets([])
  last.end()
  expect(listed(0)).toEqual([])
  expect(visits.slice(3)).toEqual(['bot left'])
  socket.destroy()
})

it('[PRES-37] sends the moves of a writer at most once per broadcast window', async () => {
  const { world, pages, show } = await started(1)
  const writer = show(0, 0)
  await world.pass(200)
  let updates = 0
  ;(pages[0] as Page).awareness.on('change', () => {
    updates += 1
  })
  for (let clock = 1; clock <= 40; clock += 1) {
    writer.move(positionAt(clock))
    world.clock.advance(5)
    await Promise.resolve()
  }
  await world.pass(100)
  expect(caretsOn(pages[0] as Page)).toEqual(['bot agent 40'])
  expect(updates).toBeGreaterThan(1)
  expect(updates).toBeLessThanOrEqual(6)
})

it('[PRES-37] shows no further writer if the document has the maximum of virtual users', async () => {
  const { world, show, expectCarets } = await started(1)
  const users = Array.from({ length: 500 }, (_, index) => ({ userId: `user-${index}` }))
  await world.node(0).presence.add(document, users, 600_000)
  const writer = show(0, 1)
  writer.move(positionAt(2))
  await expectCarets([])
  writer.end()
})

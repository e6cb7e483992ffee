import { expect, it, onTestFinished } from 'vitest'
import * as Y from 'yjs'
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

/** Starts a server with a page of a reader. */
async function started() {
  const visits: string[] = []
  const world = await World.of(1, () => [0], {
    visits: () => ({
      joined: (_, { user, kind }) => visits.push(`${user.userId} ${kind} joined`),
      left: (_, { user }) => visits.push(`${user.userId} left`),
    }),
  })
  const server = world.node(0)
  const { presence } = server
  const reader = new Page('reader', 1)
  reader.connect(server)
  onTestFinished(async () => {
    reader.destroy()
    await world.end()
  })
  await world.pass(1_000)
  visits.splice(0)
  const show = (clock: number, editorId = 'main') =>
    presence.use(document, (shown) =>
      shown.showWriter({
        userId: 'bot',
        name: 'Bot',
        kind: 'agent',
        editorId,
        contentKey: 'content',
        cursor: positionAt(clock),
      }),
    )
  const listed = (): readonly string[] => server.listed().filter((entry) => entry.startsWith('bot'))
  const expectCarets = async (expected: readonly string[]): Promise<void> => {
    await world.pass(200)
    expect(caretsOn(reader)).toEqual(expected)
  }
  return { world, server, presence, reader, visits, show, listed, expectCarets }
}

it('[PRES-37] shows one caret for each writer of a user, moves it, and removes it at the end', async () => {
  const { show, listed, expectCarets, visits } = await started()
  const [one, two] = [show(3), show(7)]
  await expectCarets(['bot agent 3', 'bot agent 7'])
  expect(listed()).toEqual(['bot rest'])
  one.move(positionAt(5))
  await expectCarets(['bot agent 5', 'bot agent 7'])
  two.end()
  two.move(positionAt(0))
  two.end()
  await expectCarets(['bot agent 5'])
  one.end()
  await expectCarets([])
  expect(listed()).toEqual([])
  expect(visits).toEqual(['bot agent joined', 'bot left'])
})

it('[PRES-37] keeps the caret of a writer that pauses', async () => {
  const { world, show, expectCarets } = await started()
  show(3)
  await world.pass(60_000)
  await expectCarets(['bot agent 3'])
})

it('[PRES-37] draws the caret of a writer in its editor only, and lists its user once with other ways of being present', async () => {
  const { world, server, presence, reader, show, listed, expectCarets, visits } = await started()
  const elsewhere = show(3, 'second')
  await expectCarets([])
  expect(listed()).toEqual(['bot rest'])
  elsewhere.end()
  const onDocument = presence.presenceOf(document)
  onDocument.add([{ userId: 'bot', name: 'Bot', kind: 'agent' }], 600_000)
  const here = show(4)
  await expectCarets(['bot agent 4'])
  expect(listed()).toEqual(['bot rest'])
  expect(onDocument.update([{ userId: 'bot', status: 'busy' }])).toBe(1)
  const [entry] = onDocument.entries().filter(({ userId }) => userId === 'bot')
  expect(entry).toMatchObject({
    status: 'busy',
    kind: 'agent',
    cursor: { editorId: 'main', contentKey: 'content' },
  })
  here.end()
  await expectCarets([])
  expect(listed()).toEqual(['bot rest'])
  const last = show(5)
  const socket = new Page('bot', 9)
  socket.connect(server)
  expect(listed()).toEqual(['bot socket'])
  await world.pass(200)
  expect(caretsOn(reader)).toEqual(['bot agent 5'])
  socket.disconnect()
  expect(listed()).toEqual(['bot rest'])
  expect(visits).toEqual(['bot agent joined', 'bot left', 'bot agent joined'])
  presence.use(document, (present) => present.delete(['bot']))
  last.move(positionAt(6))
  await expectCarets([])
  last.end()
  expect(listed()).toEqual([])
  expect(visits.slice(3)).toEqual(['bot left'])
  socket.destroy()
})

it('[PRES-37] sends the moves of a writer at most once per broadcast window', async () => {
  const { world, reader, show } = await started()
  const writer = show(0)
  await world.pass(200)
  let updates = 0
  reader.awareness.on('change', () => {
    updates += 1
  })
  for (let clock = 1; clock <= 40; clock += 1) {
    writer.move(positionAt(clock))
    world.clock.advance(5)
    await Promise.resolve()
  }
  await world.pass(100)
  expect(caretsOn(reader)).toEqual(['bot agent 40'])
  expect(updates).toBeGreaterThan(1)
  expect(updates).toBeLessThanOrEqual(6)
})

it('[PRES-37] shows no further writer if the document has the maximum of virtual users', async () => {
  const { presence, show, expectCarets } = await started()
  const users = Array.from({ length: 500 }, (_, index) => ({ userId: `user-${index}` }))
  presence.use(document, (present) => present.add(users, 600_000))
  const writer = show(1)
  writer.move(positionAt(2))
  await expectCarets([])
  writer.end()
})

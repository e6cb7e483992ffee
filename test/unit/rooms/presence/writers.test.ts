import { expect, it, onTestFinished } from 'vitest'
import * as Y from 'yjs'
import { HeldClock } from '../../../support/time/clock.ts'
import { Client, document, end, Server, settle } from '../awareness/stock-clients.ts'

const positionAt = (clock: number): Y.RelativePosition =>
  new Y.RelativePosition(null, null, Y.createID(7, clock))

/** Returns the carets of other users that a client shows: the user id, the kind, and the item of the position. */
const caretsOn = ({ awareness }: Client): readonly string[] =>
  [...awareness.getStates().values()]
    .flatMap(({ user, cursor }) =>
      cursor?.head === undefined ? [] : [`${user.id} ${user.kind} ${cursor.head.item.clock}`],
    )
    .sort()

/** Starts a server with the client of a reader. */
function started() {
  const visits: string[] = []
  const clock = new HeldClock()
  const server = new Server(clock, {
    joined: (_, { user, kind }) => visits.push(`${user.userId} ${kind} joined`),
    left: (_, { user }) => visits.push(`${user.userId} left`),
  })
  const { presence } = server
  const reader = new Client(1, true, 'reader')
  reader.come(server)
  onTestFinished(() => end(server, [reader]))
  settle(clock, [reader])
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
  const listed = (): readonly string[] => {
    const entries = presence.presenceOf(document).entries()
    return entries.filter(({ userId }) => userId === 'bot').map(({ userId, source }) => `${userId} ${source}`)
  }
  const expectCarets = (expected: readonly string[]): void => {
    settle(clock, [reader])
    expect(caretsOn(reader)).toEqual(expected)
  }
  return { clock, server, presence, reader, visits, show, listed, expectCarets }
}

it('[PRES-37] shows one caret for each writer of a user, moves it, and removes it at the end', () => {
  const { show, listed, expectCarets, visits } = started()
  const [one, two] = [show(3), show(7)]
  expectCarets(['bot agent 3', 'bot agent 7'])
  expect(listed()).toEqual(['bot rest'])
  one.move(positionAt(5))
  expectCarets(['bot agent 5', 'bot agent 7'])
  two.end()
  two.move(positionAt(0))
  two.end()
  expectCarets(['bot agent 5'])
  one.end()
  expectCarets([])
  expect(listed()).toEqual([])
  expect(visits).toEqual(['bot agent joined', 'bot left'])
})

it('[PRES-37] keeps the caret of a writer that pauses', () => {
  const { clock, show, expectCarets } = started()
  show(3)
  clock.advance(60_000)
  expectCarets(['bot agent 3'])
})

it('[PRES-37] draws the caret of a writer in its editor only, and lists its user once with other ways of being present', () => {
  const { server, presence, show, listed, expectCarets, visits } = started()
  const elsewhere = show(3, 'second')
  expectCarets([])
  expect(listed()).toEqual(['bot rest'])
  elsewhere.end()
  const onDocument = presence.presenceOf(document)
  onDocument.add([{ userId: 'bot', name: 'Bot', kind: 'agent' }], 600_000)
  const here = show(4)
  expectCarets(['bot agent 4'])
  expect(listed()).toEqual(['bot rest'])
  expect(onDocument.update([{ userId: 'bot', status: 'busy' }])).toBe(1)
  const [entry] = onDocument.entries().filter(({ userId }) => userId === 'bot')
  expect(entry).toMatchObject({
    status: 'busy',
    kind: 'agent',
    cursor: { editorId: 'main', contentKey: 'content' },
  })
  here.end()
  expectCarets([])
  expect(listed()).toEqual(['bot rest'])
  const last = show(5)
  const socket = new Client(9, true, 'bot')
  socket.come(server)
  expect(listed()).toEqual(['bot socket'])
  expectCarets(['bot agent 5'])
  socket.lose()
  socket.notice()
  expect(listed()).toEqual(['bot rest'])
  expect(visits).toEqual(['bot agent joined', 'bot left', 'bot agent joined'])
  presence.use(document, (present) => present.delete(['bot']))
  last.move(positionAt(6))
  expectCarets([])
  last.end()
  expect(listed()).toEqual([])
  expect(visits.slice(3)).toEqual(['bot left'])
  socket.awareness.destroy()
})

it('[PRES-37] sends the moves of a writer at most once per broadcast window', () => {
  const { clock, reader, show } = started()
  const writer = show(0)
  settle(clock, [reader])
  let updates = 0
  reader.awareness.on('change', () => {
    updates += 1
  })
  for (let at = 1; at <= 40; at += 1) {
    writer.move(positionAt(at))
    clock.advance(5)
    reader.deliverDown()
  }
  settle(clock, [reader])
  expect(caretsOn(reader)).toEqual(['bot agent 40'])
  expect(updates).toBeGreaterThan(1)
  expect(updates).toBeLessThanOrEqual(6)
})

it('[PRES-37] shows no further writer if the document has the maximum of virtual users', () => {
  const { presence, show, expectCarets } = started()
  const users = Array.from({ length: 500 }, (_, index) => ({ userId: `user-${index}` }))
  presence.use(document, (present) => present.add(users, 600_000))
  const writer = show(1)
  writer.move(positionAt(2))
  expectCarets([])
  writer.end()
})

import { setTimeout as sleep } from 'node:timers/promises'
import type { Running } from '../contender.ts'
import { enterAll, join } from '../entering.ts'
import { type Scale, type Scenario, type TypingFigure, typingFigures } from '../scenario.ts'
import { atRate, expectExact, KeystrokeTracker, measureTyping, Typist, trackUpdates } from '../typist.ts'

/** Rooms whose typists receive each other's keystrokes. */
interface TypedRooms {
  readonly rooms: number
  readonly typists: number
  /** Number of keystrokes per second of all typists together. */
  readonly perSecond: number
}

/** Opens a socket for each typist of each room. */
async function enterRooms(server: Running, { rooms, typists: perRoom }: TypedRooms) {
  const documentOf = (index: number): string => `room-${index % rooms}`
  const sockets = await enterAll(rooms * perRoom, (index) => join(server, documentOf(index)))
  const typists = sockets.map((socket, index) => new Typist(socket, server, documentOf(index)))
  const watches = sockets.map((socket, index) => {
    const others = typists.filter((_, other) => other % rooms === index % rooms && other !== index)
    const watch = new KeystrokeTracker(others, typists[index])
    trackUpdates(socket, server, watch)
    return watch
  })
  return { typists, watches }
}

const roomsOf = (key: string, name: string, shows: string, full: TypedRooms): Scenario<TypingFigure> => ({
  key,
  name,
  shows,
  needs: 'url',
  figures: typingFigures,
  async run(contender, data, { size, seconds }: Scale) {
    const rooms = size === 'full' ? full.rooms : Math.ceil(full.rooms / 50)
    const perSecond = size === 'full' ? full.perSecond : Math.min(full.perSecond, 200)
    const server = await contender.start(data)
    const { typists, watches } = await enterRooms(server, { ...full, rooms })
    await sleep(size === 'full' ? 1_000 : 100)
    let next = 0
    const stop = atRate(perSecond, (due) => {
      for (let index = 0; index < due; index++) typists[next++ % typists.length]?.type()
    })
    await sleep(seconds * 1000)
    const outcome = await measureTyping(server, watches, seconds)
    stop()
    await expectExact(watches)
    await server.kill()
    return outcome
  },
})

export const oneHop = roomsOf(
  'hop',
  'one hop: two clients, 100 keystrokes/s',
  'The time from a keystroke to the other client on an idle server. A server that syncs to disk first cannot be faster than fsync.',
  { rooms: 1, typists: 2, perSecond: 100 },
)

const manyRoomsOf = (key: string, typists: number): Scenario<TypingFigure> =>
  roomsOf(
    key,
    `500 rooms × ${typists} typists, 5,000/s`,
    'Many small documents, in which nearly every update is a write of its own.',
    { rooms: 500, typists, perSecond: 5_000 },
  )

export const manyRooms = [manyRoomsOf('rooms', 2), manyRoomsOf('rooms-of-three', 3)]

import { afterEach, expect, it } from 'vitest'
import * as Y from 'yjs'
import { addressKey, type DocumentAddress } from '../../../../src/core/model/address.ts'
import { close } from '../../../../src/core/model/close.ts'
import { BackendEdits } from '../../../../src/core/rooms/edits/backend-edits.ts'
import type { RoomRegistry } from '../../../../src/core/rooms/registry/room-registry.ts'
import { NotOwnerError } from '../../../../src/core/store/engine.ts'
import { roomsOn } from '../../../support/data/rooms.ts'
import { type SharedNode, sharedNodes } from '../../../support/servers/simulated-network.ts'
import { HeldClock } from '../../../support/time/clock.ts'

const ends: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

function roomsOf({ engine }: SharedNode): RoomRegistry {
  const rooms = roomsOn(engine, { idleMs: 1_000, restMs: 1_000 }, { clock: new HeldClock() })
  ends.push(async () => {
    await rooms.closeAll(close('serviceRestart', 'the test has ended'))
    await engine.close()
  })
  return rooms
}

const addresses = Array.from(
  { length: 8 },
  (_, index): DocumentAddress => ({
    workspaceId: 'w',
    apiKey: 'k',
    organizationId: 'o',
    documentId: `d${index}`,
    editorId: 'main',
  }),
)

it('[CL-36] opens only documents that this node owns, and ends their rooms before another node opens them', async () => {
  const nodes = await sharedNodes(2)
  const [first, second] = nodes.map(roomsOf) as [RoomRegistry, RoomRegistry]
  const [{ cluster }] = nodes.map(({ engine }) => engine) as [SharedNode['engine']]
  const ownerOf = (address: DocumentAddress) => cluster.owner(addressKey(address))
  const own = addresses.find((address) => ownerOf(address).id === cluster.self) as DocumentAddress
  const opened = await first.open(own)
  const refused = await second.open(own).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(NotOwnerError)
  expect((refused as NotOwnerError).owner).toEqual(ownerOf(own))
  expect([[...first.openRooms()].length, [...second.openRooms()].length]).toEqual([1, 0])
  await cluster.drain(0)
  const moved = await second.open(own)
  expect([...first.openRooms()]).toEqual([])
  expect(moved.room.term.value).toBeGreaterThan(opened.room.term.value)
  await expect(first.open(own)).rejects.toThrow(NotOwnerError)
  moved.release()
  opened.release()
})

it('[CL-36] [CL-33] ends the room of a node that others have taken for dead, with its next append', async () => {
  const nodes = await sharedNodes(2)
  const [first, second] = nodes.map(roomsOf) as [RoomRegistry, RoomRegistry]
  const [cutOff] = nodes as [SharedNode]
  const { cluster } = cutOff.engine
  const own = addresses.find((address) => cluster.owner(addressKey(address)).id === cluster.self)
  const opened = await first.open(own as DocumentAddress)
  cutOff.cut()
  const moved = await second.open(own as DocumentAddress)
  expect([...first.openRooms()]).toEqual([opened.room])
  const late = new Y.Doc()
  late.getText('content').insert(0, 'too late')
  const applying = new BackendEdits(opened.room).apply('ada', Y.encodeStateAsUpdate(late), {
    expects: 'either',
  })
  await expect(applying).rejects.toThrow()
  expect([...first.openRooms()]).toEqual([])
  expect(moved.room.existence).toBe('absent')
  moved.release()
  opened.release()
})

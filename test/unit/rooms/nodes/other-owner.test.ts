import { setImmediate as nextTick } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { prepareChange } from '../../../../src/core/content/root-change.ts'
import { removalTopic } from '../../../../src/core/directory/removal/removal-task.ts'
import { OwnerWork } from '../../../../src/core/jobs/owner-work.ts'
import { addressKey, documentPrefix } from '../../../../src/core/model/address.ts'
import { close } from '../../../../src/core/model/close.ts'
import { changeSource } from '../../../../src/core/rooms/change-source.ts'
import { Replacement } from '../../../../src/core/rooms/edits/replacement.ts'
import { readAttribution } from '../../../../src/core/rooms/log/read-attribution.ts'
import type { RoomRegistry } from '../../../../src/core/rooms/registry/room-registry.ts'
import { type DocumentLog, NotOwnerError } from '../../../../src/core/store/engine.ts'
import { shareOf } from '../../../../src/core/update/attribution/attribution.ts'
import { eventually } from '../../../support/clients/clients.ts'
import { roomsOn } from '../../../support/data/rooms.ts'
import { type SharedNode, sharedNodes, type Weather } from '../../../support/servers/simulated-network.ts'
import { delegatedLog } from '../../../support/stores/delegated-log.ts'
import { HeldClock } from '../../../support/time/clock.ts'
import { gate } from '../../../support/time/gate.ts'

const scope = { workspaceId: 'workspace', apiKey: 'key', organizationId: 'acme' }
const limit = 2 ** 20

interface RoomNode extends SharedNode {
  readonly rooms: RoomRegistry
}

let nodes: readonly RoomNode[] = []
afterEach(async () => {
  for (const { rooms, engine } of nodes) {
    await rooms.closeAll(close('serviceRestart', 'the test is over'))
    await engine.close()
  }
})

/** Starts two nodes with rooms. */
async function start(weather: Weather = () => [0]): Promise<readonly [RoomNode, RoomNode]> {
  const clock = new HeldClock()
  const roomsOf = ({ engine }: SharedNode) => roomsOn(engine, { compactAfterUpdates: 50 }, { clock })
  nodes = (await sharedNodes(2, { clock, weather })).map((node) => ({ ...node, rooms: roomsOf(node) }))
  return nodes as [RoomNode, RoomNode]
}

/** Returns an editor of a document that the node owns. */
function editorOf({ engine: { cluster } }: SharedNode) {
  for (let number = 0; ; number += 1) {
    const address = { ...scope, documentId: `d${number}`, editorId: 'main' }
    if (cluster.owner(documentPrefix(address, address.documentId)).id === cluster.self) return address
  }
}

const write = async ({ rooms }: RoomNode, address: ReturnType<typeof editorOf>, data: string) => {
  const change = prepareChange({ type: 'text', contentKey: 'content', data }, limit)
  return rooms.use(address, (room) =>
    new Replacement(room).change('zoe', { is: 'replace', ...change }, { expects: 'either' }),
  )
}

it('[CO-4] reads a document of another node from the log, and does not open it', async () => {
  const [here, there] = await start()
  const address = editorOf(here)
  expect(await there.rooms.read(address, { format: 'json' }, limit)).toBeNull()
  for (const text of ['one', 'one, two', 'three']) {
    const { version } = await write(here, address, text)
    const [own, other] = await Promise.all(
      [here, there].map(({ rooms }) => rooms.read(address, { format: 'json' }, limit)),
    )
    expect(other).toMatchObject({ version, result: { contentKey: 'content' } })
    // The log can have a longer encoding of the same content.
    expect({ ...other, sizeBytes: own?.sizeBytes }).toEqual(own)
  }
  expect([...there.rooms.openRooms()]).toEqual([])
})

it('[CO-2] removes a user from the changes of a document that another node has open', async () => {
  const [here, there] = await start()
  const address = editorOf(here)
  await write(here, address, 'by zoe')
  const { log } = there.engine
  const [, source] = nodes.map(({ rooms, engine: { cluster } }) =>
    changeSource(log, rooms, new OwnerWork(rooms.presence.requests, cluster)),
  )
  expect(await source?.erase(scope, 'zoe', async () => {})).toBe(1)
  expect(shareOf(await readAttribution(log, addressKey(address)), 'zoe').inserted).toBe(0)
  const read = await here.rooms.read(address, { format: 'json' }, limit)
  expect(read?.changed.by).toBe('')
})

it('[CO-5] ends a room whose log another node has removed, also if the bus has lost the message', async () => {
  let isLost = false
  const [here, there] = await start((topic) => (isLost && topic === removalTopic.name ? [] : [0]))
  const address = editorOf(here)
  const openAt = async (): Promise<number> => [...here.rooms.openRooms()].length
  const remove = async (): Promise<void> => {
    const prefixes = [documentPrefix(address, address.documentId)]
    for (const prefix of prefixes) await there.engine.log.destroyPrefix(prefix)
    removalTopic.publish(there.engine.bus, { kind: 'gone', prefixes })
  }
  await write(here, address, 'first')
  await remove()
  await eventually(async () => (await openAt()) === 0)
  await write(here, address, 'second')
  isLost = true
  await remove()
  expect(await openAt()).toBe(1)
  here.mend()
  await eventually(async () => (await openAt()) === 0)
})

it('[CO-1] does not delete a document of another node', async () => {
  const [here, there] = await start()
  const address = editorOf(here)
  await write(here, address, 'kept')
  await expect(there.rooms.destroy(address)).rejects.toThrow('belongs to the node')
  expect(await here.rooms.read(address, { format: 'json' }, limit)).not.toBeNull()
})

it('[CL-33] when a node deletes a document late, keeps the document that the next owner has created', async () => {
  const [first, second] = (await sharedNodes(2)) as [SharedNode, SharedNode]
  const [stands, continues] = [gate(), gate()]
  const { log } = first.engine
  // The deletion waits for the database.
  const destroy: DocumentLog['destroy'] = async (...asked) => {
    stands.open()
    await continues.opened
    return log.destroy(...asked)
  }
  const slow = { ...first.engine, log: { ...delegatedLog(log), destroy } }
  nodes = [{ ...first, engine: slow }, second].map((node) => ({ ...node, rooms: roomsOn(node.engine) }))
  const [here, there] = nodes as [RoomNode, RoomNode]
  const address = editorOf(here)
  await write(here, address, 'former')
  const deleting = here.rooms.destroy(address).catch((error: unknown) => error)
  await stands.opened
  here.cut()
  await there.rooms.destroy(address)
  await write(there, address, 'again')
  continues.open()
  expect(await deleting).toBeInstanceOf(NotOwnerError)
  expect(await log.heads([addressKey(address)])).toMatchObject([{ epoch: 2 }])
})

it('[CR-14] when a node receives a late message of a removal, keeps the document that the next owner has created', async () => {
  const [here, there] = await start()
  const address = editorOf(here)
  await here.rooms.open(address)
  here.cut()
  await write(there, address, 'again')
  const prefixes = [documentPrefix(address, address.documentId)]
  removalTopic.publish(here.engine.bus, { kind: 'gone', prefixes })
  await eventually(() => [...here.rooms.openRooms()].length === 0)
  await nextTick()
  expect(await there.engine.log.heads([addressKey(address)])).toMatchObject([{ epoch: 1 }])
})

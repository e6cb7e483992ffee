import { afterEach, beforeEach, expect, it } from 'vitest'
import * as Y from 'yjs'
import { prepareChange } from '../../../src/core/content/root-change.ts'
import { addressKey, type DocumentAddress } from '../../../src/core/model/address.ts'
import { close } from '../../../src/core/model/close.ts'
import { Replacement } from '../../../src/core/rooms/edits/replacement.ts'
import type { RoomRegistry } from '../../../src/core/rooms/registry/room-registry.ts'
import type { Room } from '../../../src/core/rooms/room/room.ts'
import type { Member } from '../../../src/core/rooms/updates/change.ts'
import { type Engine, StoreUnavailableError } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { readUpdate } from '../../../src/core/update/read-update.ts'
import { contentOf, eventually } from '../../support/clients/clients.ts'
import { roomsOn } from '../../support/data/rooms.ts'

const address: DocumentAddress = {
  workspaceId: 'w',
  apiKey: 'k',
  organizationId: 'acme',
  documentId: 'alone',
  editorId: 'main',
}

let engine: Engine
let rooms: RoomRegistry

beforeEach(async () => {
  engine = await openMemoryEngine()
  rooms = roomsOn(engine)
})

afterEach(async () => {
  await rooms.closeAll(close('serviceRestart', 'the test is over'))
  await engine.close()
})

/** A member of a room. `codes` are its close codes. */
function visitor(id: string): Member & { readonly codes: number[] } {
  const codes: number[] = []
  return {
    codes,
    encoder: {
      update: (bytes) => bytes,
      awareness: (message) => message,
      awarenessQuery: new Uint8Array(),
      answersRemoval: true,
    },
    user: { id, name: id, email: '' },
    deliver() {},
    deliverAwareness() {},
    requestMissing() {},
    end: ({ code }) => void codes.push(code),
  }
}

function send(room: Room, from: Member, bytes: Uint8Array): void {
  room.receive({
    kind: 'update',
    bytes,
    summary: readUpdate(bytes),
    by: from.user.id,
    from,
    onApplied: null,
  })
}

const append = (text: string) => (doc: Y.Doc) => {
  const content = doc.getText('content')
  content.insert(content.length, text)
}

const replace = (room: Room, data: string) =>
  new Replacement(room).change(
    'rest',
    { is: 'replace', ...prepareChange({ type: 'text', contentKey: 'content', data }, 1e6) },
    {
      expects: 'either',
    },
  )

/** An update of a client that has the content of `room` and types more. */
function typedOn(room: Room, text: string): Uint8Array {
  const doc = new Y.Doc()
  Y.applyUpdate(doc, room.state.encode())
  const before = Y.encodeStateVector(doc)
  append(text)(doc)
  return Y.encodeStateAsUpdate(doc, before)
}

it('[ROOM-10] when a room fails, rejects a REST change of the same tick, and stores a log without gaps', async () => {
  const { room } = await rooms.open(address)
  await replace(room, 'base')
  const ada = visitor('ada')
  room.join(ada)
  const typed = typedOn(room, ', ada')
  const stored = engine.log.append.bind(engine.log)
  Object.assign(engine.log, { append: () => Promise.reject(new StoreUnavailableError('the disk is full')) })
  send(room, ada, typed)
  const change = replace(room, 'base, refused')
  await expect(change).rejects.toMatchObject({ status: 'UNAVAILABLE' })
  Object.assign(engine.log, { append: stored })
  expect(ada.codes).toEqual([1013])
  const again = (await rooms.open(address)).room
  await replace(again, 'base, stored')
  const log = await engine.log.load(addressKey(address))
  const updates = log.state === 'live' ? log.entries.map(({ bytes }) => bytes) : []
  expect(contentOf(updates)).toBe('base, stored')
  const loaded = new Y.Doc()
  for (const bytes of updates) Y.applyUpdate(loaded, bytes)
  expect([loaded.store.pendingStructs, loaded.store.pendingDs]).toEqual([null, null])
})

it('[ORG-9] closes with 4404 a client that joins a deleted room', async () => {
  const { room } = await rooms.open(address)
  await replace(room, 'base')
  await rooms.destroy(address)
  const late = visitor('late')
  room.join(late)
  expect([late.codes, room.memberCount]).toEqual([[4404], 0])
})

it('[SYNC-4] encodes an edit once, sends it as one frame to each other member, and does not send it to its sender', async () => {
  const lease = await rooms.open(address)
  const { room } = lease
  let encoded = 0
  const encoder = {
    ...visitor('').encoder,
    update: (bytes: Uint8Array) => Uint8Array.of(++encoded, ...bytes),
  }
  const sent: [string, Uint8Array | null][] = []
  const members = ['ann', 'bob', 'cid', 'dan'].map((id): Member => {
    const deliver: Member['deliver'] = function (this: Member, delivery) {
      sent.push([id, delivery.bytesFor(this)])
    }
    return { ...visitor(id), encoder, deliver }
  })
  for (const member of members) room.join(member)
  const bytes = typedOn(room, 'x')
  send(room, members[0] as Member, bytes)
  await eventually(() => sent.length >= members.length)
  const frame = Uint8Array.of(1, ...bytes)
  expect(sent).toEqual([
    ['ann', null],
    ['bob', frame],
    ['cid', frame],
    ['dan', frame],
  ])
  lease.release()
})

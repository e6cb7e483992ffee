import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { ApiError } from '../../../../src/core/base/errors.ts'
import { addressKey, type DocumentAddress } from '../../../../src/core/model/address.ts'
import { close } from '../../../../src/core/model/close.ts'
import { versionOf } from '../../../../src/core/model/version.ts'
import { isTooLargeToPredict } from '../../../../src/core/rooms/document/integration-limits.ts'
import { makeChange } from '../../../../src/core/rooms/edits/backend-change.ts'
import type { Room } from '../../../../src/core/rooms/room/room.ts'
import type { DocumentRegistry } from '../../../../src/core/rooms/room/room-dependencies.ts'
import type { Member } from '../../../../src/core/rooms/updates/change.ts'
import { openMemoryEngine } from '../../../../src/core/store/memory/engine.ts'
import { readUpdate } from '../../../../src/core/update/read-update.ts'
import { eventually } from '../../../support/clients/clients.ts'
import { noRecords, roomsOn } from '../../../support/data/rooms.ts'

const address: DocumentAddress = {
  workspaceId: 'w',
  apiKey: 'k',
  organizationId: 'o',
  documentId: 'd',
  editorId: 'main',
}
const asItIs = (bytes: Uint8Array): Uint8Array => bytes

/** A room on an engine in memory with real threads, and a client of it with what the other clients get. */
async function opened(records: Partial<DocumentRegistry> = {}, right?: Member['right']) {
  const engine = await openMemoryEngine()
  const rooms = roomsOn(engine, { computeThreads: 1 }, { records: { ...noRecords, ...records } })
  const { room } = await rooms.open(address)
  const others = new Y.Doc()
  const memberOf = (id: string, deliver: Member['deliver']): Member => ({
    encoder: { update: asItIs, awareness: asItIs, awarenessQuery: new Uint8Array(), answersRemoval: true },
    user: { id, name: id, email: '' },
    right,
    deliver,
    deliverAwareness() {},
    requestMissing() {},
    end() {},
  })
  const client = memberOf('ann', () => {})
  room.join(client)
  const deliver: Member['deliver'] = ({ changes }) => {
    for (const { bytes } of changes) Y.applyUpdate(others, bytes)
  }
  room.join(memberOf('ben', deliver))
  const send = (bytes: Uint8Array): void => {
    const authorship = { by: 'ann', from: client, meta: null, source: 'socket' } as const
    room.receive({ bytes, summary: readUpdate(bytes), kind: 'update', onApplied: null, ...authorship })
  }
  return { engine, rooms, room, others, send }
}

const prune = (room: Room, expected = versionOf(room.commits.version)) =>
  room.prune({ by: '', right: undefined, source: 'rest', meta: null }, expected)

const docOf = (bytes: Uint8Array): Y.Doc => {
  const doc = new Y.Doc()
  Y.applyUpdate(doc, bytes)
  return doc
}

/** Returns what a function adds to a document, as an update. */
function addedTo(doc: Y.Doc, change: () => void): Uint8Array {
  const before = Y.encodeStateVector(doc)
  doc.transact(change)
  return Y.encodeStateAsUpdate(doc, before)
}

it('[PRUNE-1] keeps a large update that arrives in the tick in which a prune begins', async () => {
  const { engine, rooms, room, others, send } = await opened()
  const ann = new Y.Doc()
  send(addedTo(ann, () => ann.getText('text').insert(0, 'hello')))
  await eventually(() => others.getText('text').length === 5)
  const list = ann.getArray('list')
  const paste = addedTo(ann, () => {
    for (let n = 0; n < 4_500; n += 1) list.insert(0, [n])
  })
  expect(isTooLargeToPredict(readUpdate(paste))).toBe(true)
  const expected = versionOf(room.commits.version)
  send(paste)
  // The document has changed since then, so the caller repeats the prune.
  expect(await prune(room, expected)).toBeNull()
  await eventually(() => others.getArray('list').length === 4_500)
  expect(await prune(room)).toMatchObject({ generation: 1 })
  await rooms.closeAll(close('serviceRestart', 'the test has ended'))
  const { room: again } = await roomsOn(engine).open(address)
  expect(docOf(again.state.encode()).getArray('list').length).toBe(4_500)
})

it('[PRUNE-4] prunes nothing if the check fails that runs while no update is applied', async () => {
  const { rooms, room, others, send } = await opened()
  const ann = new Y.Doc()
  send(addedTo(ann, () => ann.getText('text').insert(0, 'hello')))
  await eventually(() => others.getText('text').length === 5)
  const { revision } = room.state
  const check = async (): Promise<void> => {
    expect(room.isLocked).toBe(true)
    throw new ApiError('crdt/open-branches', 'a branch was restored')
  }
  const authorship = { by: '', right: undefined, source: 'rest', meta: null } as const
  await expect(room.prune(authorship, versionOf(room.commits.version), check)).rejects.toMatchObject({
    code: 'crdt/open-branches',
  })
  expect([room.state.revision, room.generations.count, room.isLocked]).toEqual([revision, 0, false])
  await rooms.closeAll(close('serviceRestart', 'the test has ended'))
})

it('[PRUNE-1] keeps a change of a backend that is made during a rebase', async () => {
  const { rooms, room, others, send } = await opened()
  const ann = new Y.Doc()
  send(addedTo(ann, () => ann.getText('text').insert(0, 'hello')))
  await eventually(() => others.getText('text').length === 5)
  await prune(room)
  send(addedTo(ann, () => ann.getText('text').insert(5, '!')))
  const options = { expects: 'content', right: undefined } as const
  await makeChange(room, {
    by: 'backend',
    options,
    pauses: true,
    compute: async () => {
      const { revision } = room.state
      const doc = docOf(room.state.encode())
      const update = addedTo(doc, () => doc.getText('backend').insert(0, 'kept'))
      const isCurrent = (): boolean => room.state.revision === revision
      const apply = (): Uint8Array => {
        room.state.applyOwn(update)
        return update
      }
      return { result: () => null, update, isCurrent, apply }
    },
  })
  const texts = (doc: Y.Doc): string[] => ['text', 'backend'].map((name) => doc.getText(name).toString())
  await eventually(() => texts(others).join() === 'hello!,kept')
  expect(texts(docOf(room.state.encode()))).toEqual(['hello!', 'kept'])
  await rooms.closeAll(close('serviceRestart', 'the test has ended'))
})

it('[ROOM-60] stores nothing of an edit from before a prune whose right is withdrawn while a thread rebases it', async () => {
  const branch = { ...address, editorId: 'branch' }
  const right = {
    fence: [] as readonly string[] | null,
    recheck: () => Promise.reject(new Error('withdrawn')),
  }
  let isWithdrawn = false
  const { engine, rooms, room, others, send } = await opened(
    {
      addBranch: async () => {
        right.fence = null
        isWithdrawn = true
        return branch
      },
    },
    right as unknown as NonNullable<Member['right']>,
  )
  const ann = new Y.Doc()
  const text = new Y.Text('old')
  send(addedTo(ann, () => ann.getArray('list').insert(0, [text, 'kept'])))
  await eventually(() => others.getArray('list').length === 2)
  await prune(room)
  const ben = docOf(room.state.encode())
  send(addedTo(ben, () => ben.getArray('list').delete(0)))
  await eventually(() => others.getArray('list').length === 1)
  send(addedTo(ann, () => text.insert(3, ' SECRET')))
  await eventually(() => isWithdrawn && room.lock.held === null)
  expect((await engine.log.load(addressKey(branch))).state).not.toBe('live')
  await rooms.closeAll(close('serviceRestart', 'the test has ended'))
})

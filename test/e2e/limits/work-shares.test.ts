import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { DocumentAddress } from '../../../src/core/model/address.ts'
import { type Close, close } from '../../../src/core/model/close.ts'
import { BackendEdits } from '../../../src/core/rooms/edits/backend-edits.ts'
import type { RoomRegistry } from '../../../src/core/rooms/registry/room-registry.ts'
import type { Member } from '../../../src/core/rooms/updates/change.ts'
import type { Engine } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { yWebsocket } from '../../../src/core/sync/protocols/y-websocket.ts'
import { readUpdate } from '../../../src/core/update/read-update.ts'
import { eventually, typed } from '../../support/clients/clients.ts'
import { roomsOn } from '../../support/data/rooms.ts'
import { hostileUpdates } from '../../support/faults/hostile-shapes.ts'
import { HeldClock } from '../../support/time/clock.ts'

const addressOf = (documentId: string, workspaceId = 'w'): DocumentAddress => ({
  workspaceId,
  apiKey: 'k',
  organizationId: 'acme',
  documentId,
  editorId: 'main',
})

const opened: { readonly engine: Engine; readonly rooms: RoomRegistry }[] = []

beforeEach(() => {
  opened.length = 0
})

afterEach(async () => {
  for (const { rooms, engine } of opened) {
    await rooms.closeAll(close('serviceRestart', 'the test is over'))
    await engine.close()
  }
})

/**
 * Rooms with a stopped clock, so that no time is forgiven. `spent` has the workspaces that have spent their
 * share.
 */
function roomsOf(engine: Engine): {
  readonly rooms: RoomRegistry
  readonly spent: string[]
  readonly clock: HeldClock
} {
  const spent: string[] = []
  const clock = new HeldClock()
  const rooms = roomsOn(engine, {}, { clock, overspent: (workspaceId) => spent.push(workspaceId) })
  opened.push({ engine, rooms })
  return { rooms, spent, clock }
}

/**
 * Each of these takes more milliseconds of the event loop than a free edit, also if a thread finds the positions of
 * the items.
 */
const expensive = {
  'the event loop': hostileUpdates.splits(2_500)[0] as Uint8Array,
  'a thread': hostileUpdates.prependsOverAppends(1_900)[0] as Uint8Array,
}

const apply = (rooms: RoomRegistry, address: DocumentAddress, update: Uint8Array): Promise<unknown> =>
  rooms.use(address, (room) => new BackendEdits(room).apply('rest', update, { expects: 'either' }))

/**
 * Resolves when the edit is done or has spent the share. The edit may then wait itself, because the clock is
 * stopped.
 */
async function doneOrSpent(edit: Promise<unknown>, spent: readonly string[]): Promise<void> {
  const outcome: { failure: unknown; isDone: boolean } = { failure: null, isDone: false }
  edit.then(
    () => {
      outcome.isDone = true
    },
    (error: unknown) => {
      outcome.failure = error
    },
  )
  await eventually(() => outcome.isDone || outcome.failure !== null || spent.length > 0)
  if (outcome.failure !== null) throw outcome.failure
}

/** More documents than a workspace may edit at once. */
const documentsMax = 2_000

it.each(Object.entries(expensive))(
  '[ROOM-53] when %s integrates expensive REST updates, delays the next updates of their workspace, and not those of other workspaces',
  async (_, update) => {
    const { rooms, spent, clock } = roomsOf(await openMemoryEngine())
    for (let count = 0; spent.length === 0 && count < documentsMax; count += 1)
      await doneOrSpent(apply(rooms, addressOf(`document ${count}`), update), spent)
    expect(spent).toEqual(['w'])
    const outcome = { is: 'waiting' }
    const waiting = apply(rooms, addressOf('further'), update).then(() => {
      outcome.is = 'done'
    })
    await apply(rooms, addressOf('neighbor', 'other'), update)
    expect(outcome.is).toBe('waiting')
    await eventually(() => {
      clock.advance(60_000)
      return outcome.is === 'done'
    })
    await waiting
  },
)

it('[ROOM-54] when a paused room closes, stops the timer of its pause, and answers waiting calls', async () => {
  const { rooms, spent, clock } = roomsOf(await openMemoryEngine())
  for (let count = 0; count < documentsMax; count += 1) {
    const { room } = await rooms.open(addressOf(`document ${count}`))
    // The first room that closes starts a timer of all rooms.
    const pending = clock.pending
    const update = expensive['the event loop']
    const edit = new BackendEdits(room).apply('rest', update, { expects: 'either' })
    await doneOrSpent(edit, spent)
    if (count === 0) room.close(close('serviceRestart', 'the room was idle'))
    if (spent.length === 0) continue
    expect([room.isLocked, clock.pending]).toEqual([true, pending + 1])
    const waiting = new BackendEdits(room).apply('rest', update, { expects: 'either' })
    room.close(close('serviceRestart', 'the room was idle'))
    expect(room.isLocked).toBe(false)
    // The timer of the pause is stopped. The timer of all rooms may start now.
    expect([pending, pending + 1]).toContain(clock.pending)
    await expect(waiting).rejects.toMatchObject({ status: 'UNAVAILABLE' })
    return
  }
  expect.unreachable('the workspace did not spend its share')
})

it('[ROOM-58] disconnects a client whose updates alone take too long, and no other client', async () => {
  const { rooms, clock } = roomsOf(await openMemoryEngine())
  const { room } = await rooms.open(addressOf('busy'))
  const ended: (readonly [string, Close])[] = []
  const [ann, bob] = ['ann', 'bob'].map((id) => memberOf(id, (reason) => ended.push([id, reason])))
  if (ann === undefined || bob === undefined) throw new Error('no members')
  room.join(ann)
  room.join(bob)
  let now = 0
  const time = vi.spyOn(performance, 'now').mockImplementation(() => (now += 50))
  try {
    for (let client = 1; ended.length === 0 && client < 20_000; client += 1) {
      const from = client % 10 === 0 ? bob : ann
      const bytes = typed('a', client)
      room.receive({ kind: 'update', bytes, summary: readUpdate(bytes), by: '', from, onApplied: null })
      if (client % 1_000 > 0) continue
      room.endTick()
      // The time for which the document waits.
      clock.advance(500)
      await new Promise((resolve) => setImmediate(resolve))
    }
  } finally {
    time.mockRestore()
  }
  expect(ended).toEqual([['ann', expect.objectContaining({ code: 1013, limit: 'integrationMsPerSecond' })]])
  expect(room.memberCount).toBeGreaterThan(0)
})

const memberOf = (id: string, end: (reason: Close) => void): Member => ({
  encoder: yWebsocket,
  user: { id, name: id, email: '' },
  deliver: () => undefined,
  deliverAwareness: () => undefined,
  requestMissing: () => undefined,
  end,
})

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type * as Y from 'yjs'
import { prepareChange } from '../../../../src/core/content/root-change.ts'
import { addressKey } from '../../../../src/core/model/address.ts'
import { close } from '../../../../src/core/model/close.ts'
import type { DocumentState } from '../../../../src/core/rooms/document/document-state.ts'
import { BackendEdits } from '../../../../src/core/rooms/edits/backend-edits.ts'
import { Replacement } from '../../../../src/core/rooms/edits/replacement.ts'
import { loadRoom, loadVersion } from '../../../../src/core/rooms/log/load-room.ts'
import type { RoomRegistry } from '../../../../src/core/rooms/registry/room-registry.ts'
import type { Room } from '../../../../src/core/rooms/room/room.ts'
import type { DocumentLog, Engine, Key } from '../../../../src/core/store/engine.ts'
import { snapshotsMax } from '../../../../src/core/store/log-state.ts'
import { openMemoryEngine } from '../../../../src/core/store/memory/engine.ts'
import { Random } from '../../../support/data/random-doc.ts'
import { roomsOn } from '../../../support/data/rooms.ts'
import { seed } from '../../../support/data/seed.ts'
import { withLog } from '../../../support/stores/pausable-engine.ts'
import { HeldClock } from '../../../support/time/clock.ts'
import { itLong } from '../../../support/time/full-run.ts'

const address = {
  workspaceId: 'workspace',
  apiKey: 'key',
  organizationId: 'acme',
  documentId: 'plan',
  editorId: 'main',
}
const doc: Key = addressKey(address)

/** At most 1,010 bytes each; together they cause no compaction. */
const editsInTail = 12

let clock: HeldClock
let engine: Engine
let rooms: RoomRegistry

beforeEach(async () => {
  clock = new HeldClock()
  bases = new Set()
  engine = await openMemoryEngine({ clock })
})

afterEach(async () => {
  await rooms.closeAll(close('serviceRestart', 'the test is over'))
  await engine.close()
})

function openRooms(keepVersionsMs: number): void {
  rooms = roomsOn(engine, { compactAfterUpdates: 50, keepVersionsMs }, { clock })
}

/** Heads covered by snapshots, read after each edit. */
let bases: Set<number>

interface Handed {
  readonly epoch: number
  readonly seq: number
  readonly at: number
  readonly text: string
}

const textOf = (doc: Y.Doc): string => doc.getText('content').toString()

const replace = (room: Room, data: string) =>
  new Replacement(room).change(
    'ada',
    { is: 'replace', ...prepareChange({ type: 'text', contentKey: 'content', data }, 1e6) },
    {
      expects: 'either',
    },
  )

async function read(room: Room): Promise<Handed> {
  const { result, version } = await new BackendEdits(room).view(textOf)
  const [epoch = 0, seq = 0] = version.split('.').map(Number)
  return { epoch, seq, at: clock.now(), text: result }
}

/**
 * Inserts and deletes equally in many places, so that neither the text nor the time between compactions
 * grows. One step follows the other after `everyMs`. Returns the versions returned after each step.
 */
async function edit(
  room: Room,
  { count, everyMs, random = new Random(seed) }: { count: number; everyMs: number; random?: Random },
): Promise<Handed[]> {
  const handed: Handed[] = []
  for (let index = 0; index < count; index++) {
    clock.advance(everyMs)
    const text = textOf(room.state.doc)
    const at = random.below(text.length + 1)
    const inserted = `${index} ${'weft '.repeat(random.below(200))}`
    await replace(room, text.slice(0, at) + inserted + text.slice(at + random.below(1_000)))
    handed.push(await read(room))
    // A compaction begins while the commit is in progress.
    await new Promise((resolve) => setTimeout(resolve, 1))
    bases.add(await baseNow())
  }
  return handed
}

async function textAt({ epoch, seq }: Handed): Promise<string | null> {
  const rebuilt = await loadVersion(engine.log, doc, { epoch, seq })
  return rebuilt && textOf(rebuilt.doc)
}

async function baseNow(): Promise<number> {
  const [head] = await engine.log.heads([doc])
  return head?.base ?? 0
}

describe(`seed ${seed}`, () => {
  itLong('[ROOM-20] within the retention time, rebuilds each version that it has returned', async () => {
    const keptMs = 600_000
    openRooms(keptMs)
    const handed: Handed[] = []
    await rooms.use(address, async (room) => {
      for (let round = 0; round < 6; round++) {
        handed.push(...(await edit(room, { count: 70, everyMs: 5_000 })))
        for (const version of handed) {
          const text = await textAt(version)
          if (text !== null || clock.now() - version.at <= keptMs) expect(text).toBe(version.text)
        }
      }
    })
    // Otherwise no snapshot between kept ones was removed.
    expect(bases.size).toBeGreaterThan(snapshotsMax + 1)
    const gone = await Promise.all(handed.map(textAt)).then(
      (texts) => texts.filter((text) => text === null).length,
    )
    // The log keeps at most twice 10 of the 35 minutes, plus the time between two compactions, about 3.
    expect(gone).toBeGreaterThan(70)
  })

  itLong('[ROOM-20] without a retention time, a compaction removes the versions that it covers', async () => {
    openRooms(0)
    await rooms.use(address, async (room) => {
      const handed = await edit(room, { count: 200, everyMs: 1 })
      const base = await baseNow()
      expect(base).toBeGreaterThan(50)
      for (const version of handed) {
        expect(await textAt(version)).toBe(version.seq < base ? null : version.text)
      }
    })
  })
})

itLong('[ROOM-20] returns each version as a copy, so that a caller can change it safely', async () => {
  openRooms(600_000)
  await rooms.use(address, async (room) => {
    const [first] = await edit(room, { count: 3, everyMs: 1 })
    const now = await read(room)
    const version = await loadVersion(engine.log, doc, { epoch: 1, seq: 1 })
    version?.doc.getText('content').insert(0, 'changed')
    expect(await textAt(first as Handed)).toBe(first?.text)
    expect(await read(room)).toEqual(now)
    expect(await loadVersion(engine.log, doc, { epoch: 2, seq: 1 })).toBeNull()
    expect(await loadVersion(engine.log, doc, { epoch: 1, seq: 4 })).toBeNull()
  })
})

itLong('[ROOM-20] rebuilds a version even if a compaction runs between two of its pages', async () => {
  openRooms(600_000)
  await rooms.use(address, async (room) => {
    const { text, seq } = (await edit(room, { count: editsInTail, everyMs: 1 }))[8] as Handed
    const wanted = await loadVersion(engine.log, doc, { epoch: 1, seq })
    const snapshot = (wanted as DocumentState).encode()
    let pages = 0
    const { log } = engine
    const paging = Object.assign(Object.create(log) as DocumentLog, {
      loadAt: async (...[of, epoch, at, options]: Parameters<DocumentLog['loadAt']>) => {
        pages += 1
        if (pages === 3)
          expect(await log.compact(doc, 1, 0, seq, snapshot, Number.POSITIVE_INFINITY)).toBe(true)
        return log.loadAt(of, epoch, at, { ...options, bytesMax: 1 })
      },
    })
    expect(textOf(((await loadVersion(paging, doc, { epoch: 1, seq })) as DocumentState).doc)).toBe(text)
    expect(pages).toBe(4)
  })
})

it('[ROOM-21] when a document opens from its log, counts the updates after the snapshot', async () => {
  openRooms(600_000)
  await rooms.use(address, async (room) => {
    await edit(room, { count: editsInTail, everyMs: 1 })
    const { state, tail } = await loadRoom(engine.log, doc)
    expect(tail.entries).toBe(editsInTail)
    expect(state.vector()).toEqual(room.state.vector())
  })
})

it('[ROOM-25] when all clients have left, compacts a log with a large tail, so that the next opening needs no Y.Doc', async () => {
  openRooms(600_000)
  // Uses a fixed seed, because the tail must be long enough.
  await rooms.use(address, (room) => edit(room, { count: editsInTail, everyMs: 1, random: new Random(2) }))
  expect(await baseNow()).toBe(0)
  expect((await loadRoom(engine.log, doc)).tail.bytes).toBeGreaterThan(4_096)
  await rooms.closeAll(close('serviceRestart', 'the test is over'))
  const { state, tail } = await loadRoom(engine.log, doc)
  expect(tail.entries).toBe(0)
  expect(state.bytes).not.toBeNull()
  openRooms(600_000)
  const base = await baseNow()
  expect(base).toBeGreaterThan(0)
  await rooms.use(address, (room) => replace(room, 'a'))
  await rooms.closeAll(close('serviceRestart', 'the test is over'))
  expect(await baseNow()).toBe(base)
  openRooms(600_000)
})

it('[ROOM-25] when all clients have left during a compaction, also compacts the updates that it lacks', async () => {
  let begin: () => void = () => {}
  let finish: () => void = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  engine = withLog(engine, (log) => ({
    compact: async (...parameters) => {
      begin()
      await finished
      return log.compact(...parameters)
    },
  }))
  openRooms(600_000)
  await rooms.use(address, async (room) => {
    await replace(room, 'a'.repeat(20_000))
    await begun
    await replace(room, 'b'.repeat(20_000))
  })
  const closed = rooms.closeAll(close('serviceRestart', 'the test is over'))
  finish()
  await closed
  expect((await loadRoom(engine.log, doc)).tail.entries).toBe(0)
  openRooms(600_000)
})

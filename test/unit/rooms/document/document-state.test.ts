import { expect, it, vi } from 'vitest'
import * as Y from 'yjs'
import { DocumentState } from '../../../../src/core/rooms/document/document-state.ts'
import {
  bytesPerTick,
  loopStepsMax,
  placedPartsMax,
  structsPerTick,
} from '../../../../src/core/rooms/document/integration-limits.ts'
import { DocumentExpensiveError } from '../../../../src/core/rooms/document/unreadable-documents.ts'
import { loadRoom } from '../../../../src/core/rooms/log/load-room.ts'
import type { Change, Member } from '../../../../src/core/rooms/updates/change.ts'
import { PendingUpdateBuffer } from '../../../../src/core/rooms/updates/pending-updates.ts'
import { UpdateApplier } from '../../../../src/core/rooms/updates/update-applier.ts'
import { openMemoryEngine } from '../../../../src/core/store/memory/engine.ts'
import { yWebsocket } from '../../../../src/core/sync/protocols/y-websocket.ts'
import { stepsOfDeletion } from '../../../../src/core/update/predict-steps.ts'
import { readUpdate } from '../../../../src/core/update/read-update.ts'
import { splitUpdate } from '../../../../src/core/update/split-update.ts'
import {
  type Block,
  block,
  contents,
  id,
  item,
  list,
  updateOf,
} from '../../../support/data/update-builder.ts'
import { hostileUpdates } from '../../../support/faults/hostile-shapes.ts'
import { roomyAccounts } from '../../../support/servers/memory.ts'
import { HeldClock } from '../../../support/time/clock.ts'

const clock = new HeldClock()

/** Typed text as updates, and the resulting document. */
function typed(words: readonly string[], deleting = false): { doc: Y.Doc; updates: Uint8Array[] } {
  const updates: Uint8Array[] = []
  const doc = new Y.Doc()
  doc.on('update', (update) => updates.push(update))
  const text = doc.getText('t')
  for (const word of words) text.insert(text.length, word)
  if (deleting) text.delete(0, 1)
  return { doc, updates }
}

async function stored(updates: readonly Uint8Array[], snapshotOf?: Uint8Array): Promise<DocumentState> {
  const engine = await openMemoryEngine({ clock })
  const doc = ['a', 'b']
  await engine.log.append(
    doc,
    'create',
    updates.map((bytes) => ({ bytes, by: 'ann' })),
  )
  if (snapshotOf !== undefined)
    expect(await engine.log.compact(doc, 1, 0, 1, snapshotOf, Number.POSITIVE_INFINITY)).toBe(true)
  const { state } = await loadRoom(engine.log, doc)
  await engine.close()
  return state
}

const member: Member = {
  encoder: yWebsocket,
  user: { id: 'bob', name: 'Bob', email: '' },
  deliver: () => undefined,
  deliverAwareness: () => undefined,
  requestMissing: () => undefined,
  end: ({ reason }) => expect.unreachable(reason),
}

const pendingBuffer = (): PendingUpdateBuffer =>
  new PendingUpdateBuffer(1_000, clock, (drop) =>
    roomyAccounts().pendingUpdates.open({ workspaceId: 'w', address: null }, drop),
  )

function takes(state: DocumentState, bytes: Uint8Array): readonly Change[] {
  const summary = readUpdate(bytes)
  return new UpdateApplier(state, pendingBuffer()).take([
    { kind: 'offer', bytes, summary, by: '', from: member, onApplied: null },
  ]).accepted
}

it('[ROOM-24] serves a document from its stored bytes, and creates no Y.Doc before the first edit', async () => {
  const { doc, updates } = typed(['one ', 'two ', 'three'])
  const [first = new Uint8Array()] = updates
  for (const state of [await stored(updates), await stored(updates, first)]) {
    const got = new Y.Doc()
    Y.applyUpdate(got, state.diff(Y.encodeStateVector(got)))
    expect(Y.encodeStateAsUpdate(got)).toEqual(Y.encodeStateAsUpdate(doc))
    expect(state.vector()).toEqual(Y.encodeStateVector(doc))
    expect(state.bytes).not.toBeNull()
    expect(state.doc.getText('t').toJSON()).toBe('one two three')
    expect(state.encode()).toEqual(Y.encodeStateAsUpdate(doc))
  }
})

it('[ROOM-24] creates no Y.Doc to answer a client that has all content, and accepts the answer of that client', async () => {
  const { doc } = typed(['one ', 'two'], true)
  const snapshot = Y.encodeStateAsUpdate(doc)
  const state = await stored([snapshot], snapshot)
  const upToDate = Y.encodeStateAsUpdate(doc, Y.encodeStateVector(doc))
  expect(new Uint8Array(state.diff(Y.encodeStateVector(doc)))).toEqual(upToDate)
  expect(takes(state, upToDate)).toEqual([])
  expect(state.bytes).not.toBeNull()
})

it('[ROOM-24] does not treat a client that has more deletions or lacks content as up to date', async () => {
  const { doc } = typed(['one ', 'two'], true)
  const state = DocumentState.fromBytes(Y.encodeStateAsUpdate(doc))
  const mine = new Y.Doc()
  Y.applyUpdate(mine, Y.encodeStateAsUpdate(doc))
  mine.getText('t').delete(0, 1)
  const accepted = takes(state, Y.encodeStateAsUpdate(mine, Y.encodeStateVector(doc)))
  expect(accepted).toHaveLength(1)
  expect(state.doc.getText('t').toJSON()).toBe('e two')
  const behind = new Y.Doc()
  Y.applyUpdate(behind, typed(['x']).updates[0] as Uint8Array)
  Y.applyUpdate(behind, DocumentState.fromBytes(Y.encodeStateAsUpdate(doc)).diff(Y.encodeStateVector(behind)))
  expect(behind.getText('t').toJSON()).toContain('ne two')
})

it('[ROOM-24] does not send content that was deleted after the snapshot', async () => {
  const { updates } = typed(['secret'], true)
  const state = await stored(updates)
  expect(Buffer.from(state.diff(null)).includes('ecret')).toBe(true)
  expect(Buffer.from(state.diff(null)).includes('secret')).toBe(false)
})

it('[ROOM-26] includes updates that still wait to be applied in every answer', () => {
  const { doc, updates } = typed(Array.from('abcdefghij'))
  const asked: Record<string, (state: DocumentState) => string> = {
    document: (state) => state.doc.getText('t').toJSON(),
    state: (state) => textIn(state.encode()),
    everything: (state) => textIn(state.diff(null)),
    difference: (state) => textIn(updates[0] as Uint8Array, state.diff(vectorOf(updates[0] as Uint8Array))),
    bytes: (state) => {
      state.drop()
      return textIn(state.bytes ?? new Uint8Array(2))
    },
  }
  for (const [what, ask] of Object.entries(asked)) {
    const state = DocumentState.fromBytes(null)
    const vetted = updates.map((bytes) => ({
      bytes,
      summary: readUpdate(bytes),
    }))
    state.applyLater(vetted)
    for (const { summary } of vetted) state.advance(summary)
    expect(ask(state), what).toBe(doc.getText('t').toJSON())
  }
})

it('[ROOM-26] after an update that cannot be applied, fails again at the next read', () => {
  const state = DocumentState.fromBytes(null)
  const { updates } = typed(['a'])
  const [bytes] = updates as [Uint8Array]
  const summary = readUpdate(bytes)
  // The applied bytes differ from the vetted ones.
  state.applyLater([{ bytes: bytes.slice().fill(255), summary }])
  for (let time = 0; time < 2; time++) expect(() => state.encode()).toThrow()
})

const vectorOf = (update: Uint8Array): Uint8Array => Y.encodeStateVectorFromUpdate(update)

function textIn(...updates: readonly Uint8Array[]): string {
  const doc = new Y.Doc()
  for (const update of updates) Y.applyUpdate(doc, update)
  return doc.getText('t').toJSON()
}

it('[ROOM-56] treats an update with more structs than the event loop allows as expensive', () => {
  const state = DocumentState.fromBytes(null)
  const predicted = (keys: number): number => {
    const doc = new Y.Doc()
    doc.transact(() => {
      for (let key = 0; key < keys; key += 1) doc.getMap('m').set(`${key}`, key)
    })
    const bytes = Y.encodeStateAsUpdate(doc)
    return state.predict(bytes, readUpdate(bytes))
  }
  expect(predicted(4_000)).toBeLessThan(loopStepsMax)
  expect(predicted(4_001)).toBeGreaterThan(loopStepsMax)
})

it('[ROOM-56] applies fewer updates of one document in a tick while other documents have updates', () => {
  let now = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now++)
  const left = (['in a tick', 'in a shared tick', 'at the end'] as const).map((when) => {
    const incoming = typed(Array.from({ length: 20 }, () => 'a')).updates.map(
      (bytes) =>
        ({
          kind: 'update',
          bytes,
          summary: readUpdate(bytes),
          by: '',
          from: member,
          onApplied: null,
        }) as const,
    )
    const { accepted, later } = new UpdateApplier(DocumentState.fromBytes(null), pendingBuffer()).take(
      incoming,
      when,
    )
    expect([...accepted, ...later].map(({ bytes }) => bytes)).toEqual(incoming.map(({ bytes }) => bytes))
    return later.length
  })
  clock.mockRestore()
  expect(left).toEqual([11, 16, 0])
})

/** Elements of a list that are never joined. */
const embeds = (n: number): Uint8Array =>
  updateOf([
    block(
      1,
      list(n, (clock) => item(clock === 0 ? {} : { left: { client: 1, clock: clock - 1 } }, contents.embed)),
    ),
  ])

it('[ROOM-65] opens a large document in slices, with other work between them, while it stays readable', async () => {
  // A client counts as four structs of each part.
  const whole = embeds(4 * (structsPerTick - 4))
  const state = DocumentState.fromBytes(whole)
  const parts = splitUpdate(state.bytesToSplit ?? new Uint8Array(2), structsPerTick)
  let ticks = 0
  const seen = new Set<Uint8Array | null>()
  const count = (): void => {
    ticks += 1
    seen.add(state.bytes)
    counting = setImmediate(count)
  }
  let counting = setImmediate(count)
  await state.openIn(parts)
  clearImmediate(counting)
  expect([parts.length, ticks]).toEqual([4, 4])
  expect(seen.size === 1 && seen.has(whole)).toBe(true)
  expect(state.bytesToSplit).toBeNull()
  expect(Buffer.compare(Y.encodeStateAsUpdate(state.doc), whole)).toBe(0)
  expect(DocumentState.fromBytes(embeds(structsPerTick)).bytesToSplit).toBeNull()
  const texts = (length: number): Uint8Array =>
    updateOf([block(1, [item({}, contents.text('x'.repeat(length)))])])
  expect(DocumentState.fromBytes(texts(bytesPerTick - 100)).bytesToSplit).toBeNull()
  expect(DocumentState.fromBytes(texts(bytesPerTick)).bytesToSplit).not.toBeNull()
})

it('[ROOM-65] limits the steps of each slice by its own bytes', async () => {
  const [scans = new Uint8Array(2)] = hostileUpdates.rightOriginsBackwards(2_500)
  const large = updateOf([block(3, [item({ parent: 'other' }, contents.text('x'.repeat(1_000_000)))])])
  const whole = Y.mergeUpdates([scans, large])
  expect(DocumentState.fromBytes(whole).doc.store.clients.size).toBe(3)
  await expect(DocumentState.fromBytes(whole).openIn([large, scans])).rejects.toThrow(DocumentExpensiveError)
})

it('[ROOM-65] does not open a document in slices that was replaced meanwhile', async () => {
  const state = DocumentState.fromBytes(embeds(2 * structsPerTick))
  const opened = state.openIn(splitUpdate(state.bytesToSplit ?? new Uint8Array(2), structsPerTick))
  const other = embeds(3)
  state.become(other)
  await opened
  expect(state.bytes).toBe(other)
})

it('[ROOM-65] takes the whole state of a thread after a large update, and only the update after a small one', () => {
  const isDear = (n: number): boolean =>
    DocumentState.fromBytes(null, { isBounded: false }).placeItems(embeds(n), Number.POSITIVE_INFINITY).isDear
  // The client counts as four structs.
  expect([isDear(structsPerTick - 4), isDear(structsPerTick - 3)]).toEqual([false, true])
  expect([1_000, 40_000, 1_000_000].map(placedPartsMax)).toEqual([structsPerTick, 10_000, 16_000])
})

it('[ROOM-65] does not read an update again that a thread has integrated whole', () => {
  const bytes = embeds(10)
  const summary = readUpdate(bytes)
  const placed = DocumentState.fromBytes(null, { isBounded: false }).placeItems(
    bytes,
    Number.POSITIVE_INFINITY,
  )
  const applier = new UpdateApplier(DocumentState.fromBytes(null), pendingBuffer())
  const [accepted] = applier.takePlaced(
    { kind: 'update', bytes, summary, by: '', from: member, onApplied: null },
    { ...placed, state: null, problem: null, warnings: [] },
  )
  expect(accepted?.summary).toBe(summary)
})

it('[ROOM-71] integrates only those deletions of an offer that the open document does not have', () => {
  const state = DocumentState.fromBytes(null)
  const ranges = (n: number) => list(n, (index) => [3 * index, 1] as const)
  const whole = updateOf([block(1, [item({}, contents.text('x'.repeat(60_000)))])], [[1, ranges(10_000)]])
  state.integrateOwn(whole)
  state.recount()
  const take = (bytes: Uint8Array, kind: 'offer' | 'update') => {
    let applied = 0
    const before = state.steps
    const onApplied = () => {
      applied += 1
    }
    const { accepted, expensive } = new UpdateApplier(state, pendingBuffer()).take([
      { kind, bytes, summary: readUpdate(bytes), by: 'u', from: member, onApplied },
    ])
    return {
      added: accepted.map(({ bytes: added }) => Buffer.from(added)),
      isForThread: expensive.length > 0,
      applied,
      steps: state.steps - before,
    }
  }
  const nothing = { added: [], isForThread: false, applied: 1, steps: 0 }
  expect(take(updateOf([], [[1, ranges(10_000)]]), 'offer')).toEqual(nothing)
  expect(take(updateOf([], [[1, ranges(10_000)]]), 'update')).toMatchObject({ isForThread: true })
  const text = block(2, [item({ parent: 'other' }, contents.text('a'))])
  const { added, steps } = take(updateOf([text], [[1, [...ranges(10_000), [40_000, 3]]]]), 'offer')
  expect(added).toEqual([Buffer.from(updateOf([text], [[1, [[40_000, 3]]]]))])
  expect(steps).toBeLessThan(10_000)
  // The lookup itself has a limit, and none of the ranges may overlap.
  for (const offered of [ranges(40_001), [...ranges(5_000), [0, 1] as const]])
    expect(take(updateOf([], [[1, offered]]), 'offer')).toMatchObject({ isForThread: true })
})

/** `types` types with `n` items in each of them. Item `t` of client 1 contains type `t`. */
const filledTypes = (types: number, n: number): Uint8Array =>
  updateOf([
    block(
      1,
      list(types, () => item({ parent: 'types' }, contents.type(0))),
    ),
    ...list(types, (type) =>
      block(
        2 + type,
        list(n, (clock) =>
          item(clock === 0 ? { parent: id(1, type) } : { left: id(2 + type, clock - 1) }, contents.embed),
        ),
      ),
    ),
  ])

it('[ROOM-50] predicts the deletion of a type with everything inside it', () => {
  const take = (bytes: Uint8Array, isOpen: boolean) => {
    const state = DocumentState.fromBytes(filledTypes(2, 6_000))
    if (isOpen) state.check()
    const change = { kind: 'update', bytes, summary: readUpdate(bytes), by: '', from: member } as const
    return new UpdateApplier(state, pendingBuffer()).take([{ ...change, onApplied: null }])
  }
  const deletion = updateOf([], [[1, [[0, 1]]]])
  const character = updateOf([], [[2, [[0, 1]]]])
  for (const isOpen of [true, false]) {
    expect(take(deletion, isOpen)).toMatchObject({ accepted: [], expensive: [{ bytes: deletion }] })
    expect(take(character, isOpen)).toMatchObject({ accepted: [{ bytes: character }], expensive: [] })
  }
})

it('[ROOM-57] applies deletions of much content in several transactions', () => {
  const state = DocumentState.fromBytes(filledTypes(8, 1_000))
  let deleted = 0
  state.doc.on('afterTransaction', ({ deleteSet }: Y.Transaction) => {
    const ranges = [...deleteSet.clients.values()].flat()
    deleted = Math.max(
      deleted,
      ranges.reduce((sum, { len }) => sum + len, 0),
    )
  })
  const updates = list(8, (type) => updateOf([], [[1, [[type, 1]]]]))
  state.applyLater(updates.map((bytes) => ({ bytes, summary: readUpdate(bytes) })))
  expect(state.doc.getArray('types')).toHaveLength(0)
  expect(deleted).toBeGreaterThan(1_000)
  expect(deleted).toBeLessThan(loopStepsMax / stepsOfDeletion)
})

it('[ROOM-56] applies fewer updates in one transaction if each of them may take many steps', () => {
  const transactionsOf = (structs: number): number => {
    const state = DocumentState.fromBytes(embeds(structs))
    state.advance(readUpdate(embeds(structs)))
    let transactions = 0
    state.doc.on('afterTransaction', () => {
      transactions += 1
    })
    const incoming = list(10, (client) => {
      const bytes = updateOf([
        block(
          10 + client,
          list(5, () => item({ parent: 'other' }, contents.embed)),
        ),
      ])
      return {
        kind: 'update',
        bytes,
        summary: readUpdate(bytes),
        by: '',
        from: member,
        onApplied: null,
      } as const
    })
    expect(new UpdateApplier(state, pendingBuffer()).take(incoming, 'at the end').accepted).toHaveLength(10)
    return transactions
  }
  expect([1_000, 40_000].map(transactionsOf)).toEqual([1, 5])
})

it('[ROOM-57] applies more updates of a document with many clients in one transaction', () => {
  const entry = (client: number): Block =>
    block(client, [item({ parent: 'm', key: `${client}` }, contents.values(1))])
  const state = DocumentState.fromBytes(null)
  const whole = updateOf(list(12_800, (index) => entry(12_800 - index)))
  state.advance(readUpdate(whole))
  state.applyPlain([{ bytes: whole }])
  let transactions = 0
  state.doc.on('beforeTransaction', () => {
    transactions += 1
  })
  for (let client = 20_000; client < 22_000; client += 1) {
    const bytes = updateOf([entry(client)])
    const summary = readUpdate(bytes)
    state.advance(summary)
    state.applyLater([{ bytes, summary }])
    state.applyDue()
  }
  expect(state.doc.getMap('m').size).toBe(14_800)
  expect(transactions).toBeLessThanOrEqual(2_000 / (12_800 / 64) + 1)
})

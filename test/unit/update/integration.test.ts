import { createRequire } from 'node:module'
import { expect, it, vi } from 'vitest'
import * as Y from 'yjs'
import { DocumentState } from '../../../src/core/rooms/document/document-state.ts'
import { integrablePart } from '../../../src/core/update/integrable-part.ts'
import {
  IntegrationTooExpensiveError,
  movedPerStep,
  noPlacements,
  Placements,
  skipObservers,
  structsOf,
  withinBudget,
} from '../../../src/core/update/integration.ts'
import { predictSteps } from '../../../src/core/update/predict-steps.ts'
import { readUpdate } from '../../../src/core/update/read-update.ts'
import { splitUpdate } from '../../../src/core/update/split-update.ts'
import { isPlain } from '../../../src/core/update/summary.ts'
import { seed } from '../../support/data/seed.ts'
import { block, contents, item, list, updateOf } from '../../support/data/update-builder.ts'
import { hostileUpdates } from '../../support/faults/hostile-shapes.ts'
import { times } from '../../support/time/full-run.ts'

/** Yjs in its other build, with unchanged methods. */
const plainYjs = createRequire(import.meta.url)('yjs') as typeof Y
const unbounded = Number.POSITIVE_INFINITY
/** Small enough for the quadratic work of an unchanged Yjs. */
const shapeSize = 150

function random(start: number): (below: number) => number {
  let state = start >>> 0
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** Updates of replicas that edit a text, a list, a map and nested types, and seldom exchange updates. */
function history(next: (below: number) => number): Uint8Array[] {
  const replicas = [0, 1, 2, 3].map((index) => {
    const doc = new Y.Doc({ gc: index % 2 === 0 })
    doc.clientID = next(1_000) * 4 + index
    return doc
  })
  const updates: Uint8Array[] = []
  for (const doc of replicas) doc.on('update', (update: Uint8Array) => updates.push(update))
  for (let edit = 0; edit < 120; edit += 1) {
    const doc = replicas[next(4)] as Y.Doc
    const [text, list, map] = [doc.getText('t'), doc.getArray<unknown>('l'), doc.getMap<unknown>('m')]
    const edits = [
      () => text.insert(next(text.length + 1), 'abc'.slice(next(3))),
      () => text.length > 0 && text.delete(next(text.length), 1),
      () => text.length > 1 && text.format(next(text.length - 1), 2, { b: next(2) === 0 ? true : null }),
      () => list.insert(next(2) * next(list.length + 1), [next(10), next(10)]),
      () => list.length > 0 && list.delete(next(list.length), 1),
      () => map.set(`k${next(3)}`, next(2) === 0 ? next(10) : new Y.Map([['x', 1]])),
      () => map.delete(`k${next(3)}`),
      () => Y.applyUpdate(doc, Y.encodeStateAsUpdate(replicas[next(4)] as Y.Doc, Y.encodeStateVector(doc))),
    ]
    edits[next(edits.length)]?.()
  }
  return updates
}

const shuffled = <T>(values: readonly T[], next: (below: number) => number): T[] =>
  values
    .map((value) => ({ value, at: next(1e9) }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value)

function contentOf(yjs: typeof Y, updates: readonly Uint8Array[]): unknown {
  const doc = new yjs.Doc()
  for (const update of updates) yjs.applyUpdate(doc, update)
  return shapeOf(yjs, doc)
}

/** Ids in the order of each list, which show more than the content. */
function shapeOf(yjs: typeof Y, doc: Y.Doc): unknown {
  const ids: string[] = []
  const walk = (type: { _start: Y.Item | null; _map: Map<string, Y.Item> }): void => {
    for (let item = type._start; item !== null; item = item.right) {
      for (let at = 0; at < item.length; at += 1)
        ids.push(`${item.id.client}:${item.id.clock + at}${item.deleted ? '-' : ''}`)
      if (item.content instanceof yjs.ContentType) walk(item.content.type)
    }
    for (const [key, item] of [...type._map].sort(([a], [b]) => (a < b ? -1 : 1))) {
      ids.push(`${key}=${item.lastId.client}:${item.lastId.clock}${item.deleted ? '-' : ''}`)
      if (item.content instanceof yjs.ContentType) walk(item.content.type)
    }
  }
  for (const [name, type] of [...doc.share].sort(([a], [b]) => (a < b ? -1 : 1))) {
    ids.push(name)
    walk(type)
  }
  return ids
}

it(`[UPD-25] for any order of updates, gives the same document as Yjs, with limited work (seed ${seed})`, () => {
  for (let round = 0; round < times(8, 30); round += 1) {
    const next = random(seed + round)
    const updates = shuffled(history(next), next)
    const expected = contentOf(plainYjs, updates)
    expect(contentOf(Y, updates), `seed ${seed}, round ${round}`).toEqual(expected)
    const state = DocumentState.fromBytes(null, { isBounded: false })
    const whole = new plainYjs.Doc()
    for (const update of updates) plainYjs.applyUpdate(whole, update)
    state.integrate(plainYjs.encodeStateAsUpdate(whole))
    expect(shapeOf(Y, state.doc)).toEqual(shapeOf(plainYjs, whole))
  }
})

it.each(Object.keys(hostileUpdates) as (keyof typeof hostileUpdates)[])(
  '[UPD-25] gives the same document as Yjs for an update of the form %s, with and without placements',
  (name) => {
    const doc = new Y.Doc()
    skipObservers(doc)
    const placed = new Y.Doc()
    const reference = new plainYjs.Doc()
    for (const update of hostileUpdates[name](shapeSize)) {
      const found: number[] = []
      const apply = (target: Y.Doc, placements: Placements | null): void =>
        withinBudget(
          { doc: target, stepsMax: unbounded, placements, found: placements === null ? found : null },
          () => Y.applyUpdate(target, update),
          () => {},
        )
      apply(doc, null)
      apply(placed, new Placements(found))
      plainYjs.applyUpdate(reference, update)
    }
    expect(shapeOf(Y, placed)).toEqual(shapeOf(Y, doc))
    expect(Y.encodeStateVector(doc)).toEqual(plainYjs.encodeStateVector(reference))
    // Yjs may have removed formatting marks that have no effect.
    expect(withoutDeletions(shapeOf(Y, doc))).toEqual(withoutDeletions(shapeOf(plainYjs, reference)))
  },
)

const withoutDeletions = (shape: unknown): unknown =>
  (shape as string[]).map((id) => (id.endsWith('-') ? id.slice(0, -1) : id))

it.each(Object.keys(hostileUpdates) as (keyof typeof hostileUpdates)[])(
  '[UPD-26] predicts at least a third of the steps that an update of the form %s takes',
  (name) => {
    const doc = new Y.Doc()
    skipObservers(doc)
    for (const update of hostileUpdates[name](600)) {
      readUpdate(update)
      const predicted = predictSteps(update, doc)
      let steps = 0
      withinBudget(
        { doc, stepsMax: unbounded, placements: null, found: null },
        () => Y.applyUpdate(doc, update),
        (spent) => {
          steps = spent.steps
        },
      )
      expect(3 * predicted + 1_000).toBeGreaterThanOrEqual(steps)
    }
  },
)

/** Runs `work`, and returns the number of array elements that its insertions into arrays shift. */
async function shiftedIn(work: () => Promise<void> | void): Promise<number> {
  const { splice } = Array.prototype
  let shifted = 0
  const counting = vi.spyOn(Array.prototype, 'splice').mockImplementation(function (
    this: unknown[],
    start: number,
    ...more: unknown[]
  ) {
    if (more[0] === 0) shifted += this.length - start
    return Reflect.apply(splice, this, [start, ...more])
  })
  try {
    await work()
  } finally {
    counting.mockRestore()
  }
  return shifted
}

it.each(Object.keys(hostileUpdates) as (keyof typeof hostileUpdates)[])(
  '[UPD-30] counts the array elements that the splits of an update of the form %s shift',
  async (name) => {
    const doc = new Y.Doc()
    skipObservers(doc)
    for (const update of hostileUpdates[name](600)) {
      let steps = 0
      const shifted = await shiftedIn(() =>
        withinBudget(
          { doc, stepsMax: unbounded, ...noPlacements },
          () => Y.applyUpdate(doc, update),
          (spent) => {
            steps = spent.steps
          },
        ),
      )
      expect(3 * steps + 100).toBeGreaterThanOrEqual(shifted / movedPerStep)
    }
  },
)

it.each([
  'reversedDeletions',
  'laterReversedDeletions',
  'deletionsFromBothEnds',
  'overlappingDeletions',
] as const)(
  '[UPD-31] sorts and joins the deleted ranges of an update of the form %s before Yjs applies them',
  async (name) => {
    const state = DocumentState.fromBytes(null)
    const updates = hostileUpdates[name](shapeSize)
    for (const update of updates) {
      const summary = readUpdate(update)
      const isSorted = summary.deletes === 0
      expect(isPlain(summary, state.clocks)).toBe(isSorted)
      let added: Uint8Array | null = update
      const shifted = await shiftedIn(() => {
        if (isSorted) state.applyPlain([{ bytes: update }])
        else ({ added } = state.integrate(update))
      })
      const stored = readUpdate(added)
      expect(isPlain(stored, state.clocks)).toBe(true)
      state.advance(stored)
      expect(shifted).toBeLessThanOrEqual(shapeSize)
    }
    expect(shapeOf(Y, state.doc)).toEqual(contentOf(plainYjs, updates))
  },
)

it(`[UPD-32] leaves out the structs that depend on missing ones, as Yjs does (seed ${seed})`, () => {
  let cuts = 0
  const rounds = times(18, 60)
  for (let round = 0; round < rounds; round += 1) {
    const next = random(seed + round)
    const updates = shuffled(history(next), next)
    // Clients that only make the update large.
    const others = list(80, (i) =>
      updateOf([block(1_000_000 + i, [item({ parent: 'o', key: `${i}` }, contents.values(1))])]),
    )
    const known = plainYjs.mergeUpdates(updates.slice(0, 30))
    const update = plainYjs.mergeUpdates([...updates.slice(60 + next(40)), ...others])
    const [reference, document] = [new plainYjs.Doc(), new plainYjs.Doc()]
    for (const doc of [reference, document]) {
      plainYjs.applyUpdate(doc, known)
      doc.store.pendingStructs = null
      doc.store.pendingDs = null
    }
    const part = integrablePart(update, (client) => plainYjs.getState(document.store, client))
    plainYjs.applyUpdate(reference, update)
    plainYjs.applyUpdate(document, part)
    // Yjs creates an empty root when it reads a struct, even if it does not integrate the struct.
    for (const name of reference.share.keys()) document.get(name)
    expect(shapeOf(plainYjs, document), `seed ${seed}, round ${round}`).toEqual(shapeOf(plainYjs, reference))
    expect(document.store.pendingStructs).toBeNull()
    expect(part === update).toBe(reference.store.pendingStructs === null)
    if (part !== update) cuts += 1
  }
  expect(cuts).toBeGreaterThan(rounds / 6)
})

it.each(['missingClients', 'missingChains', 'circularClients', 'gapsOfClients'] as const)(
  '[UPD-32] needs few comparisons of clients for an update of the form %s',
  (name) => {
    const state = DocumentState.fromBytes(null)
    const filter = vi.spyOn(Array.prototype, 'filter')
    try {
      for (const update of hostileUpdates[name](2_000))
        expect(state.integrate(update).gap || readUpdate(update).needs.length > 0).toBe(true)
      const visited = filter.mock.contexts.reduce<number>(
        (sum, array) => sum + (array as unknown[]).length,
        0,
      )
      expect(visited).toBeLessThan(100_000)
    } finally {
      filter.mockRestore()
    }
  },
)

it.each([
  'splits',
  'splitsOfAnotherType',
  'splitsOfClients',
  'surrogateSplits',
  'valueSplits',
  'alternateDeletions',
  'laterReversedDeletions',
] as const)(
  '[UPD-33] shifts and copies few array elements for the splits of an update of the form %s',
  async (name) => {
    const n = 600
    const state = DocumentState.fromBytes(null)
    const updates = hostileUpdates[name](n)
    const shifted = await shiftedIn(() => {
      for (const update of updates) state.integrate(update)
    })
    expect(shifted).toBeLessThan(10 * n)
    expect(state.steps).toBeLessThan(200 * n)
    expect(shapeOf(Y, state.doc)).toEqual(contentOf(plainYjs, updates))
  },
)

it.each(Object.keys(hostileUpdates) as (keyof typeof hostileUpdates)[])(
  '[UPD-35] shifts few array elements to read the state after updates of the form %s, whole and in parts',
  async (name) => {
    const n = 1_200
    // Yjs may still make the last few splits of a part one by one.
    const shiftedMax = 40 * n
    const made = DocumentState.fromBytes(null, { isBounded: false })
    for (const update of hostileUpdates[name](n)) made.integrate(update)
    const bytes = made.encode()
    const whole = DocumentState.fromBytes(bytes, { isBounded: false })
    expect(await shiftedIn(() => whole.check())).toBeLessThan(shiftedMax)
    const inParts = DocumentState.fromBytes(bytes)
    expect(await shiftedIn(() => inParts.openIn(splitUpdate(bytes, n / 4)))).toBeLessThan(shiftedMax)
    for (const { doc } of [whole, inParts]) expect(shapeOf(Y, doc)).toEqual(shapeOf(Y, made.doc))
  },
)

it(`[UPD-33] makes many splits at once with the result of Yjs (seed ${seed})`, () => {
  for (let round = 0; round < times(2, 6); round += 1) {
    const next = random(seed + round)
    const base = new plainYjs.Doc()
    base.getText('t').insert(0, list(400, () => ['😀', 'ab', 'c'][next(3)]).join(''))
    base.getArray('l').insert(0, [...list(400, String)])
    const start = plainYjs.encodeStateAsUpdate(base)
    const edited = list(2, () => {
      const doc = new plainYjs.Doc()
      plainYjs.applyUpdate(doc, start)
      const [text, array] = [doc.getText('t'), doc.getArray<string>('l')]
      for (let edit = 0; edit < 200; edit += 1) {
        if (next(2) === 0) text.insert(next(text.length), 'xyz'.slice(next(3)))
        else text.delete(next(text.length - 3), 1 + next(3))
        if (next(2) === 0) array.insert(next(array.length), ['y'])
        else array.delete(next(array.length - 3), 1 + next(3))
      }
      return plainYjs.encodeStateAsUpdate(doc)
    })
    const reference = new plainYjs.Doc()
    const state = DocumentState.fromBytes(null)
    for (const update of round % 2 === 0 ? [start, ...edited] : [plainYjs.mergeUpdates(edited)]) {
      plainYjs.applyUpdate(reference, update)
      state.integrate(update)
    }
    expect(shapeOf(Y, state.doc), `seed ${seed}, round ${round}`).toEqual(shapeOf(plainYjs, reference))
    expect(state.doc.getText('t').toString()).toBe(reference.getText('t').toString())
    expect(state.encode()).toEqual(plainYjs.encodeStateAsUpdate(reference))
  }
})

it('[UPD-26] for a large update whose insertions are in order, predicts few steps', () => {
  const source = new Y.Doc()
  const fragment = source.getXmlFragment('content')
  source.transact(() => {
    for (let at = 0; at < 2_000; at += 1) {
      const paragraph = new Y.XmlElement('paragraph')
      paragraph.setAttribute('id', `p${at}`)
      paragraph.insert(0, [new Y.XmlText('some words')])
      fragment.insert(fragment.length, [paragraph])
    }
  })
  const update = Y.encodeStateAsUpdate(source)
  expect(predictSteps(update, new Y.Doc())).toBeLessThan(100_000)
})

it('[UPD-27] ends work that exceeds its budget between two structs, so that the remainder can be applied later', () => {
  const [update] = hostileUpdates.rightOriginsBackwards(400)
  const doc = new Y.Doc()
  const apply = (stepsMax: number): void =>
    withinBudget(
      { doc, stepsMax, placements: null, found: null },
      () => Y.applyUpdate(doc, update as Uint8Array),
      () => {},
    )
  expect(() => apply(10_000)).toThrow(IntegrationTooExpensiveError)
  expect(structsOf(doc)).toBeGreaterThan(10)
  apply(unbounded)
  expect(doc.getText('t').toString()).toBe(contentText(update as Uint8Array))
})

function contentText(update: Uint8Array): string {
  const doc = new plainYjs.Doc()
  plainYjs.applyUpdate(doc, update)
  return doc.getText('t').toString()
}

it('[UPD-12] joins single values in a row only as long as few values must be copied', () => {
  const [update] = hostileUpdates.singleValues(40_000)
  const state = DocumentState.fromBytes(null)
  state.applyPlain([{ bytes: update as Uint8Array }])
  expect(structsOf(state.doc)).toBeGreaterThan(1_000)
  expect(state.doc.getArray('t').length).toBe(40_000)
  const again = DocumentState.fromBytes(state.encode())
  expect(again.doc.getArray('t').length).toBe(40_000)
})

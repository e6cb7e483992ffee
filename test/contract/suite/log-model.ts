import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { DocumentLog, Key } from '../../../src/core/store/engine.ts'
import { times } from '../../support/time/full-run.ts'
import {
  bytesOf,
  docKey,
  during,
  entriesOf,
  keepNone,
  type LiveLog,
  loadLive,
  numbered,
  oneTo,
  outcomeOf,
  textOf,
  updates,
  versionAt,
} from './sample-data.ts'
import type { Bench } from './suite.ts'

type Step =
  | { readonly kind: 'append'; readonly count: number }
  | { readonly kind: 'create' | 'recreate' | 'destroy' }
  | { readonly kind: 'compact'; readonly share: number }
  | { readonly kind: 'load'; readonly share: number; readonly bytesMax: number }

const share = fc.double({ min: 0, max: 1, noNaN: true })
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('append' as const), count: fc.integer({ min: 1, max: 4 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('create' as const, 'recreate' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('destroy' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('compact' as const), share }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('load' as const),
      share,
      bytesMax: fc.integer({ min: 0, max: 12 }),
    }),
  },
)

/** The expected content of one document: its entries have their numbers as names, its snapshot its end. */
class Model {
  state: 'absent' | 'live' | 'deleted' = 'absent'
  epoch = 0
  base = 0
  head = 0

  make(to: 'create' | 'recreate'): string {
    if (this.state === 'live') return 'exists'
    if (this.state === 'deleted' && to === 'create') return 'deleted'
    Object.assign(this, { state: 'live', epoch: this.epoch + 1, base: 0, head: 1 })
    return 'appended'
  }

  append(count: number): string {
    if (this.state !== 'live') return this.state
    this.head += count
    return 'appended'
  }

  expected(since: number, bytesMax: number): object {
    if (this.state === 'absent') return { state: 'absent' }
    if (this.state === 'deleted') return { state: 'deleted', epoch: this.epoch }
    const isHonored = since >= this.base
    const first = isHonored ? since + 1 : this.base + 1
    const entries = firstPage(first, this.head, bytesMax)
    const snapshot = isHonored || this.base === 0 ? null : `1 to ${this.base}`
    const { epoch, base, head } = this
    return { state: 'live', epoch, base, head, snapshot, entries, more: first + entries.length <= head }
  }
}

function firstPage(first: number, last: number, bytesMax: number): [number, string][] {
  const entries: [number, string][] = []
  let bytes = 0
  for (let seq = first; seq <= last; seq++) {
    bytes += String(seq).length
    if (entries.length > 0 && bytes > bytesMax) break
    entries.push([seq, String(seq)])
  }
  return entries
}

async function observed(
  log: DocumentLog,
  doc: Key,
  options: Parameters<DocumentLog['load']>[1],
): Promise<object> {
  const loaded = await log.load(doc, options)
  if (loaded.state !== 'live') return loaded
  const { changed: _, basedAt: _at, ...rest } = loaded
  return { ...rest, snapshot: textOf(loaded.snapshot), entries: entriesOf(loaded) }
}

/** Runs appends concurrently, and other steps after all of them. */
async function run(log: DocumentLog, doc: Key, steps: readonly Step[]): Promise<void> {
  const model = new Model()
  const calls: { readonly outcome: Promise<string>; readonly expected: string }[] = []
  const settle = async () => {
    for (const { outcome, expected } of calls.splice(0)) expect(await outcome).toBe(expected)
  }
  for (const step of steps) {
    if (step.kind !== 'append' && step.kind !== 'create' && step.kind !== 'recreate') await settle()
    switch (step.kind) {
      case 'append': {
        const outcome = outcomeOf(log.append(doc, model.epoch, numbered(model.head + 1, step.count)))
        calls.push({ outcome, expected: model.append(step.count) })
        break
      }
      case 'create':
      case 'recreate':
        calls.push({
          outcome: outcomeOf(log.append(doc, step.kind, updates('1'))),
          expected: model.make(step.kind),
        })
        break
      case 'destroy':
        await log.destroy(doc)
        if (model.state === 'live') model.state = 'deleted'
        break
      case 'compact': {
        const upTo = Math.round(step.share * (model.head + 1))
        const isPossible = model.state === 'live' && upTo > 0 && upTo >= model.base && upTo <= model.head
        expect(await log.compact(doc, model.epoch, model.base, upTo, bytesOf(`1 to ${upTo}`), keepNone)).toBe(
          isPossible,
        )
        if (isPossible) model.base = upTo
        break
      }
      case 'load': {
        const since = Math.round(step.share * model.head)
        const options = { since, epoch: model.epoch, bytesMax: step.bytesMax }
        expect(await observed(log, doc, options)).toEqual(model.expected(since, step.bytesMax))
      }
    }
  }
  await settle()
  expect(await observed(log, doc, {})).toEqual(model.expected(-1, Number.POSITIVE_INFINITY))
}

/** Checks that a page of a log, whose entries have their numbers as names, is of one moment. */
function expectOneMoment(loaded: LiveLog): void {
  const { base, head, snapshot, entries } = loaded
  expect(textOf(snapshot)).toBe(base === 0 ? null : `1 to ${base}`)
  expect(entriesOf(loaded)).toEqual(firstPage(base + 1, head, Number.POSITIVE_INFINITY))
  expect(loaded.changed.by).toBe(`user of ${head}`)
  expect(base + entries.length).toBe(head)
}

export function logModelContract(bench: () => Bench): void {
  const log = () => bench().engine.log
  let documents = 0

  it('[ENG-17] for any history of one document, gives the same result as a simple model', async () => {
    const histories = fc.array(step, { minLength: 1, maxLength: 25 })
    await fc.assert(
      fc.asyncProperty(histories, (steps) => run(log(), docKey(`history ${documents++}`), steps)),
      { numRuns: times(20, 60) },
    )
  })

  it('[ENG-18] during appends and compactions, loads the log as it was at one moment, with all acknowledged appends', async () => {
    const doc = docKey('busy')
    await log().append(doc, 'create', updates('1'))
    let acknowledged = 1
    const write = async () => {
      for (let from = 2; from < 400; from += 4) {
        const calls = [0, 1, 2, 3].map((index) => log().append(doc, 1, updates(`${from + index}`)))
        for (const call of calls) acknowledged = (await call).last
      }
    }
    const writing = write()
    const compacting = during(writing, async () => {
      const { base, head } = await loadLive(log(), doc)
      await log().compact(doc, 1, base, head, bytesOf(`1 to ${head}`), 0)
    })
    await during(compacting, async () => {
      const least = acknowledged
      const loaded = await loadLive(log(), doc)
      expectOneMoment(loaded)
      expect(loaded.head).toBeGreaterThanOrEqual(least)
      expect(await versionAt(log(), doc, 1, least, 40)).toEqual(oneTo(least))
    })
    expectOneMoment(await loadLive(log(), doc))
  })
}

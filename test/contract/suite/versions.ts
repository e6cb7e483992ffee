import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { times } from '../../support/time/full-run.ts'
import {
  appendNumbered,
  bytesOf,
  docKey,
  entriesOf,
  keepNone,
  loadLive,
  numbered,
  oneTo,
  textOf,
  versionAt,
} from './sample-data.ts'
import type { Bench } from './suite.ts'

type Step =
  | { readonly kind: 'append'; readonly count: number }
  | { readonly kind: 'compact'; readonly share: number; readonly keptMs: number }
  | { readonly kind: 'reopen' | 'remake' }

const step: fc.Arbitrary<{ readonly afterMs: number; readonly step: Step }> = fc.record({
  afterMs: fc.integer({ min: 0, max: 4 }),
  step: fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ kind: fc.constant('append' as const), count: fc.integer({ min: 1, max: 4 }) }),
    },
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('compact' as const),
        share: fc.double({ min: 0, max: 1, noNaN: true }),
        keptMs: fc.oneof(
          { weight: 4, arbitrary: fc.integer({ min: 0, max: 12 }) },
          { weight: 1, arbitrary: fc.constantFrom(Number.NEGATIVE_INFINITY, 1e12, 1e15) },
        ),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('reopen' as const, 'remake' as const) }) },
  ),
})

/** The versions that must and must not exist, by the text of the interface only. */
class Model {
  epoch = 1
  base = 0
  basedAt = 0
  /** When each update was appended; the first is number 1. */
  readonly appendedAt: number[] = []
  /** The oldest version that every compaction has promised. */
  promised = 0
  /** Versions before this one were given up on purpose. */
  given = 0

  get head(): number {
    return this.appendedAt.length
  }

  appended(count: number, now: number): void {
    for (let index = 0; index < count; index++) this.appendedAt.push(now)
  }

  remade(now: number): void {
    Object.assign(this, new Model(), { epoch: this.epoch + 1, appendedAt: [now] })
  }

  compacted(upTo: number, now: number, keepSince: number): void {
    this.base = upTo
    this.basedAt = now
    const stood = this.appendedAt.filter((at) => at < keepSince).length
    this.promised = Math.max(this.promised, Math.min(stood, upTo))
    if (keepSince === keepNone) this.given = upTo
  }
}

export function versionContract(bench: () => Bench): void {
  const log = () => bench().engine.log
  let documents = 0

  /** Checks that versions from the returned one to the head can be rebuilt exactly, and no others. */
  async function oldestKept(doc: readonly string[], { epoch, head }: Model): Promise<number> {
    let oldest = head + 1
    for (let seq = head; seq >= 0; seq--) {
      const version = await versionAt(log(), doc, epoch, seq, (seq % 5) * 3)
      if (version === null) continue
      expect(version).toEqual(oneTo(seq))
      expect(seq).toBe(oldest - 1)
      oldest = seq
    }
    expect(await log().loadAt(doc, epoch, head + 1)).toBeNull()
    expect(await log().loadAt(doc, epoch - 1, head)).toBeNull()
    expect(await log().loadAt(doc, epoch + 1, head)).toBeNull()
    return oldest
  }

  async function take(doc: readonly string[], model: Model, step: Step): Promise<void> {
    const now = bench().clock.now()
    const { epoch, head, base } = model
    if (step.kind === 'append') {
      await appendNumbered(log(), doc, epoch, head + 1, step.count)
      model.appended(step.count, now)
    } else if (step.kind === 'compact') {
      const upTo = Math.max(1, base + Math.round(step.share * (head - base)))
      const keepSince = now - step.keptMs
      expect(await log().compact(doc, epoch, base, upTo, bytesOf(`1 to ${upTo}`), keepSince)).toBe(true)
      model.compacted(upTo, now, keepSince)
    } else if (step.kind === 'remake') {
      await log().destroy(doc)
      expect(await log().loadAt(doc, epoch, head)).toBeNull()
      await appendNumbered(log(), doc, 'recreate', 1, 1)
      model.remade(now)
    } else {
      await bench().reopen()
    }
  }

  it('[ENG-19] rebuilds each version since `keepSince` after any appends, compactions and restarts', async () => {
    const histories = fc.array(step, { minLength: 1, maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(histories, async (steps) => {
        const doc = docKey(`versions ${documents++}`)
        const model = new Model()
        await appendNumbered(log(), doc, 'create', 1, 1)
        model.appended(1, bench().clock.now())
        for (const { afterMs, step } of steps) {
          bench().clock.advance(afterMs)
          await take(doc, model, step)
          const oldest = await oldestKept(doc, model)
          expect(oldest).toBeLessThanOrEqual(model.promised)
          expect(oldest).toBeGreaterThanOrEqual(model.given)
          const { base, basedAt, head } = await loadLive(log(), doc)
          expect({ base, basedAt, head }).toEqual({
            base: model.base,
            basedAt: model.basedAt,
            head: model.head,
          })
        }
      }),
      { numRuns: times(20, 60) },
    )
  })

  it('[ENG-44] in a log that is compacted regularly, keeps versions at most twice as long as requested, plus the time until the next compaction', async () => {
    const doc = docKey('steady')
    const { clock } = bench()
    const [keptMs, everyMs] = [100, 10]
    const start = clock.now()
    const model = new Model()
    for (let round = 1; round <= times(50, 100); round++) {
      clock.advance(everyMs)
      await appendNumbered(log(), doc, round === 1 ? 'create' : 1, round, 1)
      model.appended(1, clock.now())
      const keepSince = clock.now() - keptMs
      const snapshot = bytesOf(`1 to ${round}`)
      expect(await log().compact(doc, 1, round - 1, round, snapshot, keepSince)).toBe(true)
      const oldestMs = clock.now() - start - (await oldestKept(doc, model)) * everyMs
      expect(oldestMs).toBeLessThanOrEqual(2 * keptMs + 2 * everyMs)
      expect(oldestMs).toBeGreaterThanOrEqual(Math.min(keptMs, clock.now() - start))
    }
  })

  it('[ENG-45] loads a version in pages until a compaction removes the remaining entries', async () => {
    const doc = docKey('paged')
    await appendNumbered(log(), doc, 'create', 1, 6)
    await log().compact(doc, 1, 0, 2, bytesOf('1 to 2'), keepNone)
    const texts = async (seq: number, options: { after?: number; bytesMax?: number }) => {
      const page = await log().loadAt(doc, 1, seq, options)
      return page && [textOf(page.snapshot), page.base, page.entries.map(({ seq }) => seq), page.more]
    }
    expect(await texts(5, { bytesMax: 2 })).toEqual(['1 to 2', 2, [3, 4], true])
    expect(await texts(5, { after: 4, bytesMax: 2 })).toEqual([null, 4, [5], false])
    expect(await texts(5, { bytesMax: 0 })).toEqual(['1 to 2', 2, [3], true])
    expect(await texts(5, { after: 5 })).toEqual([null, 5, [], false])
    expect(await texts(5, { after: 6 })).toBeNull()
    expect(await texts(2, {})).toEqual(['1 to 2', 2, [], false])
    expect(await texts(1, {})).toBeNull()
    await log().compact(doc, 1, 2, 5, bytesOf('1 to 5'), keepNone)
    expect(await texts(5, { after: 4 })).toBeNull()
    expect(await texts(5, {})).toEqual(['1 to 5', 5, [], false])
  })

  it('[ENG-9] returns only the entries after `since` if the log keeps the version at `since`, otherwise the newest snapshot and the entries after it', async () => {
    const doc = docKey('since')
    await log().append(doc, 'create', numbered(1, 6))
    await log().compact(doc, 1, 0, 2, bytesOf('1 to 2'), keepNone)
    await log().compact(doc, 1, 2, 4, bytesOf('1 to 4'), 0)
    const kept = await loadLive(log(), doc, { since: 2 })
    expect([textOf(kept.snapshot), entriesOf(kept).map(([seq]) => seq)]).toEqual([null, [3, 4, 5, 6]])
    const older = await loadLive(log(), doc, { since: 1 })
    expect([textOf(older.snapshot), entriesOf(older).map(([seq]) => seq)]).toEqual(['1 to 4', [5, 6]])
  })
}

import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  LocalStateLog,
  type PresenceSnapshot,
  type PresenceStateEntry,
  presenceMessageLengthMax,
  RemotePresenceState,
} from '../../../../src/core/rooms/presence/state-log.ts'

/** A log of the values of a map. */
function logOf<Value>() {
  let seq = 0
  const values = new Map<string, Value>()
  const source = { value: (name: string) => values.get(name) ?? null, entries: () => values.entries() }
  const log = new LocalStateLog<Value>(source, () => ++seq)
  const set = (name: string, value: Value | null): void => {
    if (value === null) values.delete(name)
    else values.set(name, value)
    log.change(name)
  }
  return { log, values, set }
}

type Step =
  | { readonly kind: 'set'; readonly name: string; readonly value: number | null }
  | { readonly kind: 'say'; readonly copies: readonly number[] }
  | { readonly kind: 'full'; readonly copies: readonly number[] }
  | { readonly kind: 'arrive'; readonly which: number }

const name = fc.constantFrom('a', 'b', 'c')
/** Arrival times of the copies; no copies: the message is lost. */
const copies = fc.array(fc.nat({ max: 9 }), { maxLength: 2 })
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('set' as const),
    name,
    value: fc.option(fc.nat({ max: 9 }), { freq: 3 }),
  }),
  fc.record({ kind: fc.constant('say' as const), copies }),
  fc.record({ kind: fc.constant('full' as const), copies }),
  fc.record({ kind: fc.constant('arrive' as const), which: fc.nat({ max: 20 }) }),
)

/** The values of a listener according to the reported changes. */
class Believed {
  readonly account = new RemotePresenceState<number>()
  readonly values = new Map<string, number>()

  hear(news: readonly PresenceStateEntry<number>[]): void {
    for (const [key, value] of news) {
      if (value === null) this.values.delete(key)
      else this.values.set(key, value)
    }
  }
}

it('[CP-20] after a full snapshot, has the states of the other node, even if earlier messages were lost, duplicated or reordered', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'medium' }), (steps) => {
      const { log: own, values: said, set } = logOf<number>()
      const believed = new Believed()
      const { account } = believed
      const underWay: (() => void)[] = []
      const send = (times: readonly number[], deliver: () => void): void => {
        for (const place of times) underWay.splice(place, 0, deliver)
      }
      const sayDeltas = (times: readonly number[]): void => {
        for (const delta of own.deltas()) send(times, () => believed.hear(account.applyDelta(delta)))
      }
      for (const each of steps) {
        if (each.kind === 'set') set(each.name, each.value)
        else if (each.kind === 'arrive') underWay.splice(each.which % (underWay.length || 1), 1)[0]?.()
        else {
          sayDeltas(each.copies)
          if (each.kind === 'full')
            for (const full of own.snapshots())
              send(each.copies, () => believed.hear(account.applySnapshot(full)))
        }
      }
      sayDeltas([])
      for (const full of own.snapshots()) believed.hear(account.applySnapshot(full))
      for (const late of underWay) late()
      expect(account.knownSeq).toBe(own.seq)
      expect(new Map(account.entries())).toEqual(said)
      expect(believed.values).toEqual(said)
    }),
    { numRuns: 2_000 },
  )
})

it('[CP-20] notices a lost message when the next one arrives', () => {
  const { log: own, set } = logOf<number>()
  const account = new RemotePresenceState<number>()
  for (const full of own.snapshots()) account.applySnapshot(full)
  set('a', 1)
  const [lost] = own.deltas()
  set('b', 2)
  const [heard] = own.deltas()
  if (lost === undefined || heard === undefined) throw new Error('nothing was said')
  expect(account.applyDelta(heard)).toEqual([['b', 2]])
  expect(account.knownSeq).toBeLessThan(heard.seq)
  for (const full of own.snapshots()) expect(account.applySnapshot(full)).toEqual([['a', 1]])
  expect(account.knownSeq).toBe(heard.seq)
  expect(account.applyDelta(lost)).toEqual([])
})

it('[CP-21] keeps messages between nodes small for any number of states, and accepts the parts in any order', () => {
  const { log: own, set } = logOf<string>()
  for (let entry = 0; entry < 500; entry++) set(`${entry}`, 'x'.repeat(4_000))
  const deltas = own.deltas()
  expect(deltas.length).toBeGreaterThan(5)
  const fulls: readonly PresenceSnapshot<string>[] = own.snapshots()
  for (const message of [...deltas, ...fulls])
    expect(JSON.stringify(message).length).toBeLessThan(presenceMessageLengthMax + 1_000)
  const account = new RemotePresenceState<string>()
  for (const full of fulls.toReversed()) account.applySnapshot(full)
  expect([...account.entries()]).toHaveLength(500)
  expect(account.knownSeq).toBe(own.seq)
})

import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { type PendingRead, ReadCache } from '../../../src/core/store/level/store/read-cache.ts'
import { HeldClock } from '../../support/time/clock.ts'
import { bytesOf, textOf } from '../suite/sample-data.ts'
import { temporaryDirectory } from './store-tools.ts'

const createCache = (): ReadCache<Uint8Array | null> =>
  new ReadCache(1_000, (value) => value === null || value.length <= 1_000)

const names = ['a', 'b', 'c']
const name = fc.constantFrom(...names)
const step = fc.oneof(
  fc.record({ kind: fc.constant('begin' as const), names: fc.uniqueArray(name, { minLength: 1 }) }),
  fc.record({ kind: fc.constantFrom('read' as const, 'end' as const, 'fail' as const), at: fc.nat(9) }),
  fc.record({
    kind: fc.constantFrom('write' as const, 'apply' as const, 'written' as const, 'lost' as const),
    name,
  }),
  fc.record({ kind: fc.constant('forget' as const) }),
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

/** A disk with readers and writers: the cache must have the values of the disk. */
class Model {
  readonly recent = createCache()
  readonly #disk = new Map<string, number>()
  readonly #writing = new Map<string, number>()
  readonly #looks: { readonly look: PendingRead; found: Uint8Array[] | null }[] = []
  #last = 0

  run(each: Step): void {
    if (each.kind === 'begin') this.#looks.push({ look: this.recent.begin(each.names), found: null })
    else if (each.kind === 'forget') this.recent.forget()
    else if ('name' in each) this.#change(each)
    else this.#goOn(each.kind, each.at)
  }

  check(): void {
    for (const each of names) {
      const known = this.recent.value(each)
      if (known === undefined) continue
      expect(this.#writing.has(each)).toBe(false)
      expect(known).toEqual(this.#stored(each))
    }
  }

  #change({ kind, name: of }: Extract<Step, { name: string }>): void {
    const writes = this.#writing.get(of) ?? 0
    if (kind === 'write') {
      this.recent.write(of)
      this.#writing.set(of, writes + 1)
    } else if (writes === 0) return
    else if (kind === 'apply') this.#disk.set(of, ++this.#last)
    else {
      this.#disk.set(of, ++this.#last)
      this.recent.written(of, kind === 'written' ? this.#stored(of) : undefined)
      if (writes === 1) this.#writing.delete(of)
      else this.#writing.set(of, writes - 1)
    }
  }

  #goOn(kind: 'read' | 'end' | 'fail', at: number): void {
    const index = at % Math.max(1, this.#looks.length)
    const reading = this.#looks[index]
    if (reading === undefined) return
    if (kind === 'read') reading.found = reading.look.names.map((each) => this.#stored(each))
    else {
      const found = kind === 'end' ? reading.found : null
      this.recent.end(reading.look, found ?? undefined)
      this.#looks.splice(index, 1)
    }
  }

  #stored(of: string): Uint8Array {
    return Uint8Array.of(this.#disk.get(of) ?? 0)
  }
}

it('[ENG-75] returns the same values from the cache as from the disk, after any sequence of reads and writes', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const model = new Model()
      for (const each of steps) {
        model.run(each)
        model.check()
      }
    }),
    { numRuns: 5_000 },
  )
})

it('[ENG-75] caches a written value, unless another write of the same key was in progress', () => {
  const recent = createCache()
  recent.write('a')
  recent.written('a', Uint8Array.of(1))
  expect(recent.value('a')).toEqual(Uint8Array.of(1))
  recent.write('a')
  recent.write('a')
  expect(recent.value('a')).toBeUndefined()
  recent.written('a', Uint8Array.of(2))
  recent.written('a', Uint8Array.of(3))
  expect(recent.value('a')).toBeUndefined()
})

it('[ENG-75] caches read values and missing keys, but no large values and only a limited number', () => {
  const recent = createCache()
  const remember = (name: string, value: Uint8Array | null): void => recent.end(recent.begin([name]), [value])
  remember('value', Uint8Array.of(1))
  remember('nothing', null)
  remember('large', new Uint8Array(2_000))
  expect(['value', 'nothing'].map((name) => recent.value(name))).toEqual([Uint8Array.of(1), null])
  expect(recent.value('large')).toBeUndefined()
  for (let index = 0; index < 5_000; index++) remember(`other ${index}`, null)
  expect(recent.value('value')).toBeUndefined()
  expect(recent.value('other 4999')).toBeNull()
})

it('[ENG-75] does not read a repeated small scan from disk, until a write to its partition', async () => {
  const directory = await temporaryDirectory()
  const engine = await openLevelEngine({ directory: directory.path, clock: new HeldClock() })
  const [part, other, range] = [['part'], ['other'], { prefix: ['k'], limit: 3 }]
  const put = (to: string[], id: string, text: string) =>
    engine.kv.commit(to, { puts: [{ key: ['k', id], value: bytesOf(text) }] })
  const scan = () => engine.kv.scan(part, range)
  await put(part, '1', 'a')
  const first = await scan()
  await put(other, '1', 'other')
  expect(await scan()).toBe(first)
  await put(part, '2', 'b')
  const second = await scan()
  expect(second.map(({ value }) => textOf(value))).toEqual(['a', 'b'])
  expect(await scan()).toBe(second)
  expect(await engine.kv.scan(part, { ...range, limit: 1 })).toHaveLength(1)
  expect(await engine.kv.scan(part, { ...range, after: ['k', '1'] })).toHaveLength(1)
  expect(await engine.kv.scan(part, { ...range, reverse: true })).toEqual([...second].reverse())
  expect(await engine.kv.scan(part, { ...range, prefix: ['x'] })).toEqual([])
  await put(part, '3', 'large'.repeat(1_000))
  expect(await scan()).not.toBe(await scan())
  const long = () => engine.kv.scan(part, { prefix: ['long'], limit: 3 })
  await engine.kv.commit(part, { puts: [{ key: ['long', 'x'.repeat(512)], value: bytesOf('') }] })
  expect(await long()).not.toBe(await long())
  await engine.close()
  await directory.remove()
})

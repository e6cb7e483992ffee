import * as Y from 'yjs'
import type { Json } from '../../src/content/json.ts'
import { contentKey, fresh } from './json-replacers.ts'
import { seededRandom } from './random.ts'

export interface JsonRewrite {
  readonly name: string
  readonly before: () => Y.Doc
  readonly after: Json
}

/** Inputs that make differences dear, about `size` values each. */
export function jsonRewrites(size: number): JsonRewrite[] {
  const random = seededRandom(5)
  const numbers = Array.from({ length: size }, (_, index) => index)
  const plain = (values: readonly Json[]) => (): Y.Doc => {
    const author = new Y.Doc()
    author.getArray(contentKey).push([...values] as unknown[])
    const doc = new Y.Doc()
    Y.applyUpdate(doc, Y.encodeStateAsUpdate(author))
    return doc
  }
  const records = numbers.slice(0, size / 5).map((id): Json => ({ id, v: id }))
  const lines = numbers
    .slice(0, size / 20)
    .map((index) => ({ title: `line ${index} of a text that is edited` }))
  const few = (): Json[] => numbers.map(() => random(4))
  const [first, second] = [few(), few()]
  const shuffled = numbers.toSorted((a, b) => ((a * 7_919) % 99_991) - ((b * 7_919) % 99_991))
  const keyed = (by: number): Json => Object.fromEntries(numbers.map((index) => [`key ${index}`, index * by]))
  return [
    {
      name: 'every second number changed',
      before: plain(numbers),
      after: numbers.map((n) => (n % 2 ? n : -1 - n)),
    },
    { name: 'all numbers changed', before: plain(numbers), after: numbers.map((n) => -1 - n) },
    { name: 'numbers shuffled', before: plain(numbers), after: shuffled },
    { name: 'four numbers at random', before: plain(first), after: second },
    { name: 'records shuffled', before: () => fresh(records), after: records.toReversed() },
    {
      name: 'a member of every record changed',
      before: () => fresh(records),
      after: numbers.slice(0, size / 5).map((id) => ({ id, v: -1 })),
    },
    {
      name: 'every second record gone',
      before: () => fresh(records),
      after: records.filter((_, index) => index % 2 === 0),
    },
    {
      name: 'every text of many edited',
      before: () => fresh(lines),
      after: lines.map(({ title }) => ({ title: title.replace('of', 'in').replace('edited', 'changed') })),
    },
    { name: 'every entry of a map changed', before: () => fresh(keyed(1)), after: keyed(2) },
    {
      name: 'numbers between shared values, every second changed',
      before: () => fresh(numbers.map((n) => (n % 10 === 9 ? [n] : n))),
      after: numbers.map((n) => (n % 10 === 9 ? [n] : n % 2 ? n : -1 - n)),
    },
  ]
}

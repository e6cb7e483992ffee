import { isArray, type Json } from '../../../src/core/content/json/json.ts'
import { fresh } from '../json-replacers.ts'
import { seededRandom } from '../random.ts'
import { contentKey, type HeavyCase, loaded } from './case.ts'

/** Returns cases that rewrite maps and arrays. They have about `size` values, plain and shared. */
export const jsonCases = (size: number): HeavyCase[] => [
  ...ofNumbers(size),
  ...ofRecords(size),
  ...ofMaps(size),
]

const rewrite = (name: string, before: () => HeavyCase['before'], data: Json, keeps?: number): HeavyCase => ({
  type: isArray(data) ? 'array' : 'map',
  name,
  before: () => before()(),
  data,
  ...(keeps === undefined ? {} : { keeps }),
})

const plain = (values: readonly Json[]) => () => () =>
  loaded((author) => author.getArray(contentKey).push([...values]))

const shared = (json: Json) => () => () => fresh(json)

function ofNumbers(size: number): HeavyCase[] {
  const random = seededRandom(5)
  const numbers = Array.from({ length: size }, (_, index) => index)
  const few = (): Json[] => numbers.map(() => random(4))
  const shuffled = numbers.toSorted((a, b) => ((a * 7_919) % 99_991) - ((b * 7_919) % 99_991))
  const secondChanged = numbers.map((n) => (n % 2 ? n : -1 - n))
  return [
    rewrite('every second number changed', plain(numbers), secondChanged, 0.5),
    rewrite(
      'every second number gone',
      plain(numbers),
      numbers.filter((n) => n % 2),
      0.5,
    ),
    rewrite(
      'one in ten changed',
      plain(numbers),
      numbers.map((n) => (n % 10 ? n : -1 - n)),
      0.9,
    ),
    rewrite(
      'a number put between each two',
      plain(numbers.slice(0, size / 2)),
      numbers.slice(0, size / 2).flatMap((n) => [n, -1 - n]),
      1,
    ),
    rewrite(
      'all numbers changed',
      plain(numbers),
      numbers.map((n) => -1 - n),
      0,
    ),
    rewrite('numbers shuffled', plain(numbers), shuffled),
    rewrite('four numbers at random', plain(few()), few()),
    rewrite(
      'numbers between shared values, every second changed',
      shared(numbers.map((n) => (n % 10 === 9 ? [n] : n))),
      numbers.map((n) => (n % 10 === 9 ? [n] : (secondChanged[n] as number))),
    ),
  ]
}

function ofRecords(size: number): HeavyCase[] {
  const records = Array.from({ length: size / 3 }, (_, id): Json => ({ id, v: id }))
  const lines = Array.from({ length: size / 2 }, (_, index) => ({
    title: `line ${index} of a text that is edited`,
  }))
  return [
    rewrite('records the other way round', shared(records), records.toReversed()),
    rewrite(
      'a member of every record changed',
      shared(records),
      records.map((_, id) => ({ id, v: -1 })),
    ),
    rewrite(
      'every second record gone',
      shared(records),
      records.filter((_, index) => index % 2 === 0),
      0.5,
    ),
    rewrite(
      'records without ids, all changed',
      shared(records.map((_, n) => ({ v: n }))),
      records.map((_, n) => ({ v: -1 - n })),
    ),
    rewrite(
      'every text of many edited',
      shared(lines),
      lines.map(({ title }) => ({ title: title.replace('of', 'in').replace('edited', 'changed') })),
    ),
  ]
}

function ofMaps(size: number): HeavyCase[] {
  const keyed = (by: number, prefix = 'key'): Json =>
    Object.fromEntries(Array.from({ length: size }, (_, index) => [`${prefix} ${index}`, index * by]))
  const nested = (by: number): Json =>
    Object.fromEntries(Array.from({ length: size / 4 }, (_, n) => [`key ${n}`, { a: n * by, b: [n] }]))
  return [
    rewrite('every entry of a map changed', shared(keyed(1)), keyed(2)),
    rewrite('every key of a map another', shared(keyed(1)), keyed(1, 'other'), 0),
    rewrite('a value in each nested map changed', shared(nested(1)), nested(2)),
    rewrite('map filled', shared({}), keyed(1)),
  ]
}

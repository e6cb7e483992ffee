import { expect, expectTypeOf, it } from 'vitest'
import { checkJson, MalformedJsonError, UnknownNameError } from '../../src/core/base/json.ts'
import * as s from '../../src/core/base/schema.ts'
import { matchesSchema } from '../../src/core/base/validation.ts'

const schema = s.object(
  {
    id: s.string,
    role: s.choice(['viewer', 'editor']),
    at: s.orNull(s.number),
    side: s.orNull(s.choice(['left', 'right'])),
    place: s.variant('as', [
      s.object({ as: s.literal('text'), position: s.string }),
      s.object({ as: s.literal('blocks'), rows: s.tuple([s.number, s.boolean]) }),
    ]),
    values: s.map(s.orNull(s.anyOf([s.string, s.number]))),
  },
  { even: s.checked(s.number, (value) => value % 2 === 0), ids: s.array(s.exactTuple([s.string])) },
)

const value = {
  id: 'a',
  role: 'editor',
  at: null,
  side: 'left',
  place: { as: 'text', position: 'p' },
  values: { a: 'b', c: 1, d: null },
}

const problemOf = (given: object): MalformedJsonError => {
  try {
    checkJson(schema, { ...value, ...given })
  } catch (error) {
    if (error instanceof MalformedJsonError) return error
  }
  throw new Error('no problem was found')
}

it('derives the type of the values from the schema', () => {
  const { role, at, side, place, values, even, ids } = checkJson(schema, value)
  expectTypeOf(role).toEqualTypeOf<'viewer' | 'editor'>()
  expectTypeOf(at).toEqualTypeOf<number | null>()
  expectTypeOf(side).toEqualTypeOf<'left' | 'right' | null>()
  if (place.as === 'blocks') expectTypeOf(place.rows).toEqualTypeOf<readonly [number, boolean]>()
  expectTypeOf(values).toEqualTypeOf<Readonly<Record<string, string | number | null>>>()
  expectTypeOf(even).toEqualTypeOf<number | undefined>()
  expectTypeOf(ids).toEqualTypeOf<readonly (readonly [string])[] | undefined>()
})

it('[STORE-23] accepts the members and items of a newer version, and returns the value itself', () => {
  for (const given of [
    { added: 1 },
    { place: { as: 'blocks', rows: [1, true, 'added'], added: {} } },
    { even: 2, ids: [['a'], ['b']] },
  ]) {
    const newer = { ...value, ...given }
    expect(checkJson(schema, newer)).toBe(newer)
  }
})

it('[STORE-23] names the place of a problem and what belongs there, and repeats no value', () => {
  expect(problemOf({ id: undefined }).message).toBe('id must be present')
  expect(problemOf({ id: 7 }).message).toBe('id must be string')
  expect(problemOf({ at: 'secret' }).message).toBe('at must be number or null')
  expect(problemOf({ at: Number.POSITIVE_INFINITY }).message).toBe('at must be number or null')
  expect(problemOf({ role: 'secret' }).message).toBe('role must be one of viewer, editor')
  expect(problemOf({ side: 1 }).message).toBe('side must be one of left, right, null')
  expect(problemOf({ place: { position: 'secret' } }).message).toBe('place.as must be another value')
  expect(problemOf({ place: { as: 'text' } }).message).toBe('place.position must be present')
  expect(problemOf({ place: { as: 'blocks', rows: [1] } }).message).toBe('place.rows must be another value')
  expect(problemOf({ place: { as: 'blocks', rows: [1, 2] } }).message).toBe('place.rows.1 must be boolean')
  expect(problemOf({ values: { a: ['secret'] } }).message).toBe('values.a must be another value')
  expect(problemOf({ even: 1 }).message).toBe('even must be another value')
  expect(problemOf({ even: 'secret' }).message).toBe('even must be number')
  expect(problemOf({ ids: [['a', 'b']] }).message).toBe('ids.0 must be another value')
  expect(matchesSchema(schema, [])).toBe(false)
})

it('[STORE-22] distinguishes a name that a newer version may know from a malformed value', () => {
  for (const given of [{ role: 'owner' }, { side: 'top' }, { place: { as: 'table' } }])
    expect(problemOf(given)).toBeInstanceOf(UnknownNameError)
  for (const given of [{ role: 1 }, { side: true }, { place: { as: 1 } }, { place: {} }, { id: 1 }])
    expect(problemOf(given)).not.toBeInstanceOf(UnknownNameError)
})

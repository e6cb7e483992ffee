import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, expectTypeOf, it } from 'vitest'
import { operationList } from '../../../src/capabilities/list.ts'
import { ApiError } from '../../../src/core/base/errors.ts'
import type { FromSchema } from '../../../src/core/base/schema.ts'
import { type ValidationIssue, validatorOf } from '../../../src/rest/validator.ts'

const schema = {
  type: 'object',
  required: ['id', 'items'],
  properties: {
    id: { type: 'string', format: 'id' },
    items: {
      type: 'array',
      maxItems: 100_000,
      items: {
        type: 'object',
        required: ['a/b~c'],
        properties: { 'a/b~c': { type: 'integer', minimum: 0 } },
      },
    },
    role: { type: 'string', enum: ['viewer', 'editor'] },
    anything: {},
  },
} as const

const validate = validatorOf(schema)

function issuesOf(data: unknown, length = 100): readonly ValidationIssue[] {
  try {
    validate(data, length)
    return []
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    expect(error.status).toBe('INVALID_ARGUMENT')
    return error.details?.issues as ValidationIssue[]
  }
}

it('derives the type of the data from the schema', () => {
  const data: FromSchema<typeof schema> = { id: 'x', items: [{ 'a/b~c': 1 }] }
  expectTypeOf(data.id).toEqualTypeOf<string>()
  expectTypeOf(data.items[0]?.['a/b~c']).toEqualTypeOf<number | undefined>()
  expectTypeOf(data.role).toEqualTypeOf<'viewer' | 'editor' | undefined>()
  expectTypeOf(data.anything).toEqualTypeOf<unknown>()
  expect(issuesOf({ id: 'x', items: [{ 'a/b~c': 1 }], role: 'viewer', anything: [] })).toEqual([])
})

it('[API-22] reports each issue with a JSON pointer and a description', () => {
  expect(issuesOf({ items: [{ 'a/b~c': -1 }, {}, 7], role: 'owner' })).toEqual([
    { path: '/data/id', message: 'is required' },
    { path: '/data/items/0/a~1b~0c', message: 'must be >= 0' },
    { path: '/data/items/1/a~1b~0c', message: 'is required' },
    { path: '/data/items/2', message: 'must be object' },
    { path: '/data/role', message: 'must be one of viewer, editor' },
  ])
  expect(issuesOf({ id: 'a\u0000', items: [] })).toEqual([
    { path: '/data/id', message: 'must not contain control characters' },
  ])
  expect(issuesOf({ id: '..', items: [] })).toEqual([
    { path: '/data/id', message: 'must not be "." or ".."' },
  ])
})

it('[API-23] ignores inherited members', () => {
  expect(issuesOf(Object.create({ id: 'x', items: [] }))).toHaveLength(2)
  const polluted = JSON.parse('{"__proto__": {"id": "x", "items": []}}') as unknown
  expect(issuesOf(polluted)).toHaveLength(2)
})

it('[API-24] lists at most fifty issues, and for a large body only the first issue', () => {
  const items = Array.from({ length: 1000 }, () => 7)
  expect(issuesOf({ id: 'x', items }, 5000)).toHaveLength(50)
  expect(issuesOf({ id: 'x', items }, 1_000_000)).toHaveLength(1)
})

it('[API-40] has a request schema in valid JSON Schema for each operation', () => {
  const ajv = new Ajv2020({ strict: true })
  for (const { request, path } of operationList) expect(ajv.validateSchema(request), path).toBe(true)
})

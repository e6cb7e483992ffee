import { expect, test } from 'vitest'
import { ApiError } from '../../../../src/core/base/errors.ts'
import { checkSchema } from '../../../../src/core/content/schemas/check-schema.ts'
import { compileSchema } from '../../../../src/core/content/schemas/compiled-schema.ts'
import { schemaLimits } from '../../../../src/core/content/schemas/schema-spec.ts'

function problemOf(schema: unknown): ApiError {
  try {
    compileSchema(checkSchema(schema))
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
  throw new Error('the schema was accepted')
}

const small = { doc: { content: 'text*' }, text: {} }
const many = (count: number): object =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, {}]))

test('[FMT-81] accepts a schema within the limits', () => {
  const nodes = { ...many(schemaLimits.nodes - 2), ...small }
  const marks = many(schemaLimits.marks)
  const compiled = compileSchema(checkSchema({ nodes, marks, contentKey: 'default' }))
  expect(compiled.nodes.size).toBe(schemaLimits.nodes)
  expect(compiled.nodes.get('doc')?.marks.size).toBe(schemaLimits.marks)
  expect(compiled).toMatchObject({ topNode: 'doc', contentKey: 'default' })
})

test.each([
  ['', null],
  ['', []],
  ['/spec', { nodes: small, spec: {} }],
  ['/nodes', {}],
  ['/nodes', { nodes: {} }],
  ['/nodes', { nodes: { ...small, ...many(schemaLimits.nodes) } }],
  ['/nodes', { nodes: { ...small, '': {} } }],
  ['/nodes', { nodes: { ...small, ['x'.repeat(101)]: {} } }],
  ['/nodes/a~1b', { nodes: { ...small, 'a/b': 7 } }],
  ['/nodes/doc/content', { nodes: { doc: { content: 7 } } }],
  ['/nodes/doc/content', { nodes: { doc: { content: 'x'.repeat(1_001) } } }],
  ['/nodes/doc/content', { nodes: { doc: { content: 'blok+' } } }],
  ['/nodes/doc/toDOM', { nodes: { doc: { toDOM: null } } }],
  ['/nodes/doc/inline', { nodes: { doc: { inline: 'yes' } } }],
  ['/nodes/doc/marks', { nodes: { doc: { marks: 'bold' } } }],
  ['/nodes/doc/attributes', { nodes: { doc: { attributes: many(65) } } }],
  ['/nodes/doc/attributes/a', { nodes: { doc: { attributes: { a: 'string' } } } }],
  ['/nodes/doc/attributes/a/type', { nodes: { doc: { attributes: { a: { type: 'text' } } } } }],
  ['/marks', { nodes: small, marks: many(schemaLimits.marks + 1) }],
  ['/marks/b/excludes', { nodes: small, marks: { b: { excludes: 'italic' } } }],
  ['/topNode', { nodes: { text: {} } }],
  ['/topNode', { nodes: small, topNode: 'page' }],
  ['/contentKey', { nodes: small, contentKey: 7 }],
])('[FMT-81] rejects a schema with a problem at %j: example %#', (path, schema) => {
  const { code, details, message } = problemOf(schema)
  expect({ code, path: details?.path }).toEqual({ code: 'schema/invalid', path })
  expect(message).toContain(path)
})

test('[FMT-81] limits the cost of all expressions of a schema together', () => {
  const content = '(n0|n1|n2|n3)* n0 (n0|n1) (n0|n1) (n0|n1) (n0|n1) (n0|n1) (n0|n1)'
  const nodes = Object.fromEntries(Array.from({ length: 190 }, (_, at) => [`n${at}`, { content }]))
  expect(problemOf({ nodes: { ...small, ...nodes } }).message).toContain('too complex')
})

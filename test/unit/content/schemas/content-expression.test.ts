import * as fc from 'fast-check'
import { Fragment, Schema } from 'prosemirror-model'
import { expect, test } from 'vitest'
import {
  ContentExpressionError,
  type ContentState,
  compileExpression,
  StepBudget,
} from '../../../../src/core/content/schemas/content-expression.ts'
import { runs } from '../support.ts'

const names = ['a', 'b', 'c', 'd']
const groups: Readonly<Record<string, readonly string[]>> = { x: ['a', 'b'], y: ['b', 'c', 'd'] }
const namesOf = (word: string): readonly string[] => (names.includes(word) ? [word] : (groups[word] ?? []))

const compile = (source: string): ContentState => compileExpression(source, namesOf, new StepBudget())

/** Compiles an expression. Skips the test case if the expression is too complex. */
function compileOrSkip(source: string): ContentState {
  try {
    return compile(source)
  } catch (error) {
    fc.pre(!(error instanceof ContentExpressionError && error.message.includes('too complex')))
    throw error
  }
}

function matches(state: ContentState, children: readonly string[]): boolean {
  let at: ContentState | undefined = state
  for (const child of children) {
    at = at.next.get(child)
    if (at === undefined) return false
  }
  return at.isEnd
}

const { expression } = fc.letrec<{ expression: string; part: string }>((tie) => ({
  expression: fc.oneof(
    {
      weight: 3,
      arbitrary: fc.array(tie('part'), { minLength: 1, maxLength: 3 }).map((parts) => parts.join(' ')),
    },
    {
      weight: 1,
      arbitrary: fc.array(tie('part'), { minLength: 2, maxLength: 3 }).map((parts) => parts.join(' | ')),
    },
  ),
  part: fc
    .tuple(
      fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom(...names, ...Object.keys(groups)),
        tie('expression').map((inner) => `(${inner})`),
      ),
      fc.constantFrom('', '', '+', '*', '?', '{2}', '{1,3}', '{0,2}', '{2,}'),
    )
    .map(([atom, count]) => atom + count),
}))

test('[FMT-80] matches the same sequences of nodes as ProseMirror', () => {
  fc.assert(
    fc.property(
      expression,
      fc.array(fc.array(fc.constantFrom(...names), { maxLength: 6 }), { minLength: 5, maxLength: 20 }),
      (source, sequences) => {
        const state = compileOrSkip(`(${source}) | a`)
        const schema = new Schema({
          nodes: {
            doc: { content: `(${source}) | a` },
            text: {},
            a: { group: 'x' },
            b: { group: 'x y' },
            c: { group: 'y' },
            d: { group: 'y' },
          },
        })
        for (const children of sequences) {
          const nodes = Fragment.from(children.map((name) => schema.node(name)))
          const { doc } = schema.nodes
          expect([children, matches(state, children)]).toEqual([children, doc?.validContent(nodes)])
        }
      },
    ),
    runs,
  )
})

test.each([
  ['', []],
  ['a', ['a']],
  ['x+', ['a', 'b', 'a']],
  ['a b*', ['a', 'b', 'b']],
  ['(a | b)?', []],
  ['a{2}', ['a', 'a']],
  ['a{1,3}', ['a', 'a', 'a']],
  ['(a b){2,}', ['a', 'b', 'a', 'b', 'a', 'b']],
])('[FMT-80] matches an example of the expression %s', (source, children) => {
  expect(matches(compile(source), children)).toBe(true)
})

test.each([
  ['a |', /a name is missing/],
  ['(a', /"\)" is missing/],
  ['a)', /unexpected "\)"/],
  ['a{', /not a number/],
  ['a{2', /"}" is missing/],
  ['a{3,2}', /is empty/],
  ['a{101}', /from 0 to 100/],
  ['*', /unexpected "\*"/],
  ['e+', /"e" is not a node or a group/],
  ['('.repeat(21), /nested parentheses/],
  [`a${'*'.repeat(30)}`, /more than 20 repetitions of one part/],
])('[FMT-81] rejects the expression %s', (source, problem) => {
  expect(() => compile(source)).toThrow(problem)
})

test.each([
  // Repetitions multiply the vertices.
  '(((a{100}){100}){100}){100}',
  // The equivalent deterministic automaton has 2^30 states.
  `x* a ${'x '.repeat(30)}`,
])('[FMT-81] rejects the expensive expression %s', (source) => {
  expect(() => compile(source)).toThrow(ContentExpressionError)
  expect(() => compile(source)).toThrow(/too complex/)
})

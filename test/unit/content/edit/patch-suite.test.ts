import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { normal, readAs, type Value } from '../json-support.ts'
import { docOf, patch, refusal, storages } from './patch-support.ts'

interface SuiteCase {
  readonly comment?: string
  readonly doc: Value
  readonly patch: unknown
  readonly expected?: Value
  readonly error?: string
}

const folder = 'test/support/data/json-patch'
const suite = ['tests.json', 'spec_tests.json'].flatMap((file) =>
  (JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')) as SuiteCase[]).filter((each) => 'patch' in each),
)

/** Cases that cannot apply to the roots of a document, with the reason. */
const excluded: Readonly<Record<string, string>> = {
  'Toplevel scalar values OK?': 'a root is a map or an array',
  'duplicate ops': 'a parser of JSON keeps only the last of two members with the same name',
}

/** Cases that change the kind of the root. A root keeps its kind, so the patch must fail. */
const changesKind = [
  'replace object document with array document?',
  'replace array document with object document?',
]

const named = (comment: string | undefined): boolean => comment !== undefined && comment in excluded
const cases = suite.filter(({ comment }) => !named(comment))

it('[EDIT-42] the lists of other cases name cases of the test suite of JSON Patch', () => {
  const comments = suite.map(({ comment }) => comment)
  for (const comment of [...Object.keys(excluded), ...changesKind]) expect(comments).toContain(comment)
  expect(suite).toHaveLength(cases.length + Object.keys(excluded).length)
  expect(cases).toHaveLength(110)
})

for (const storage of storages) {
  it(`[EDIT-42] passes the test suite of JSON Patch when all values are ${storage}`, () => {
    for (const { comment = '', doc: from, patch: operations, expected, error } of cases) {
      const kind = Array.isArray(from) ? 'array' : 'map'
      const doc = docOf(from, storage)
      const before = Y.encodeStateAsUpdate(doc)
      const context = `${comment} ${JSON.stringify(operations)}`
      if (error !== undefined || changesKind.includes(comment)) {
        expect(
          refusal(() => patch(doc, kind, operations)),
          context,
        ).toMatch(/^crdt\/(patch-failed|invalid-edit) /)
        expect(Y.encodeStateAsUpdate(doc), context).toEqual(before)
      } else {
        patch(doc, kind, operations)
        expect(readAs(kind, doc), context).toEqual(normal(expected ?? from))
      }
    }
  })
}

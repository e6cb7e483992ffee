import { expect, it } from 'vitest'
import { packAuthor, unpackAuthor } from '../../../src/core/store/stored-author.ts'

it.each([
  { by: 'ann' },
  { by: 'ann', source: 'rest' as const },
  { by: 'ann', source: 'rest' as const, meta: { run: 'r', step: 2, draft: true, note: null } },
])('[ATT-109] reads the stored author %j', (author) => {
  expect(unpackAuthor(packAuthor(author))).toEqual(author)
})

it.each([
  ['no JSON', '['],
  ['no list', '{}'],
  ['a user that is no text', '["rest",1]'],
  ['an unknown source', '["later","ann"]'],
  ['data that is no object', '["rest","ann",[1]]'],
  ['data with a list', '["rest","ann",{"list":[1]}]'],
  ['a member of a newer version', '["rest","ann",{},1]'],
])('[ATT-109] knows no author if the stored form has %s', (_what, json) => {
  expect(unpackAuthor(`\u0001${json}`)).toEqual({ by: '' })
})

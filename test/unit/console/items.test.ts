import { expect, it } from 'vitest'
import { refusalsOf } from '../../../src/console/items.ts'

it('[CON-41] of a call for several things, those that were not done are told by their ids', () => {
  const results = {
    a: { success: true, message: 'added' },
    b: { success: false, message: 'exists already' },
  }
  expect(refusalsOf(results)).toEqual(['b: exists already.'])
  expect(refusalsOf({})).toEqual([])
})

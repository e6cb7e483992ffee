import { expect, it } from 'vitest'
import { rejectedItems } from '../../../../src/console/api/batch-results.ts'

it('[CON-41] lists the failed items of a batch by id', () => {
  const results = {
    a: { success: true, message: 'added' },
    b: { success: false, message: 'exists already' },
  }
  expect(rejectedItems(results)).toEqual(['b: exists already.'])
  expect(rejectedItems({})).toEqual([])
})

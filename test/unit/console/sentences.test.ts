import { expect, it } from 'vitest'
import { ApiCallError, rejectedItems } from '../../../src/console/api/client.ts'
import { describeError } from '../../../src/console/ui/format.ts'

it('[CON-61] describes a rejection without repetition, in a sentence with the remedy', () => {
  const issues = [
    { path: '/data/userIds/0', message: 'must not be empty' },
    { path: '/data/organizationId', message: 'is required' },
  ]
  const invalid = new ApiCallError('INVALID_ARGUMENT', '/data/userIds/0 must not be empty', { issues })
  expect(describeError(invalid)).toBe('userIds/0 must not be empty. organizationId is required.')
  expect(describeError(new ApiCallError('NOT_FOUND', 'the document does not exist'))).toBe(
    'the document does not exist.',
  )
  expect(describeError(new ApiCallError('RESOURCE_EXHAUSTED', 'too many calls'))).toBe(
    'too many calls. Wait a moment, then try again.',
  )
})

it('[CON-41] lists the failed items of a batch by id', () => {
  const results = {
    a: { success: true, message: 'added' },
    b: { success: false, message: 'exists already' },
  }
  expect(rejectedItems(results)).toEqual(['b: exists already.'])
  expect(rejectedItems({})).toEqual([])
})

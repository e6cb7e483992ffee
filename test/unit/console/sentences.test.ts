import { expect, it } from 'vitest'
import { CallError } from '../../../src/console/api.ts'
import { sentencesOf } from '../../../src/console/ui/sentences.ts'

it('[CON-61] a refusal is told once, as a sentence, with what to do about it', () => {
  const issues = [
    { path: '/data/userIds/0', message: 'must not be empty' },
    { path: '/data/organizationId', message: 'is required' },
  ]
  const invalid = new CallError('INVALID_ARGUMENT', '/data/userIds/0 must not be empty', { issues })
  expect(sentencesOf(invalid)).toBe('userIds/0 must not be empty. organizationId is required.')
  expect(sentencesOf(new CallError('NOT_FOUND', 'the document does not exist'))).toBe(
    'the document does not exist.',
  )
  expect(sentencesOf(new CallError('RESOURCE_EXHAUSTED', 'too many calls'))).toBe(
    'too many calls. Wait a moment, and try again.',
  )
})

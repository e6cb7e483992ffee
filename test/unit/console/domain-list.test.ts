import { expect, it } from 'vitest'
import { isAllowed, withOwn } from '../../../src/console/keys/domain-list.ts'
import { sayErasure } from '../../../src/console/users/user-data.ts'

it('[CON-51] a domain that is added does not lock the console out: its own goes with it', () => {
  expect(withOwn([], 'example.com', 'localhost')).toEqual(['example.com', 'localhost'])
  expect(withOwn(['localhost'], 'example.com', 'localhost')).toEqual(['example.com'])
  expect(withOwn([], '*.example.com', 'weft.example.com')).toEqual(['*.example.com'])
  expect(withOwn([], 'example.com', 'www.example.com')).toEqual(['example.com'])
})

it('[CON-51] who is allowed is as the server decides it', () => {
  expect(isAllowed([], 'localhost')).toBe(true)
  expect(isAllowed(['*.example.com'], 'a.b.example.com')).toBe(true)
  expect(isAllowed(['*.example.com'], 'example.com')).toBe(false)
  expect(isAllowed(['example.com'], 'a.example.com')).toBe(false)
})

it('[CON-44] how far an erasure is, is said by what was removed', () => {
  expect(sayErasure({ status: 'running', removed: {} })).toBe('Erasing… so far: nothing yet.')
  expect(sayErasure({ status: 'done', removed: { grants: 2, comments: 0, notificationMarks: 1 } })).toBe(
    'Erased: 2 grants, 1 marks of notifications.',
  )
})

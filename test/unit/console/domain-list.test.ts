import { expect, it } from 'vitest'
import { isHostAllowed, withCurrentHost } from '../../../src/console/keys/domain-rules.ts'
import { describeErasure } from '../../../src/console/users/erase-user.ts'

it('[CON-51] when a new domain would exclude the current host, adds the current host to the list', () => {
  expect(withCurrentHost([], 'example.com', 'localhost')).toEqual(['example.com', 'localhost'])
  expect(withCurrentHost(['localhost'], 'example.com', 'localhost')).toEqual(['example.com'])
  expect(withCurrentHost([], '*.example.com', 'weft.example.com')).toEqual(['*.example.com'])
  expect(withCurrentHost([], 'example.com', 'www.example.com')).toEqual(['example.com'])
})

it('[CON-51] allows the same hosts as the server', () => {
  expect(isHostAllowed([], 'localhost')).toBe(true)
  expect(isHostAllowed(['*.example.com'], 'a.b.example.com')).toBe(true)
  expect(isHostAllowed(['*.example.com'], 'example.com')).toBe(false)
  expect(isHostAllowed(['example.com'], 'a.example.com')).toBe(false)
})

it('[CON-44] describes the progress of an erasure by the number of removed entries', () => {
  expect(describeErasure({ status: 'running', removed: {} })).toBe('Erasing… so far: nothing yet.')
  expect(describeErasure({ status: 'done', removed: { grants: 2, comments: 0, notificationMarks: 1 } })).toBe(
    'Erased: 2 grants, 1 marks of notifications.',
  )
})

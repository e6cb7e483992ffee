import { expect, it } from 'vitest'
import { deletedUser, deletedUserId, withoutUser } from '../../../src/model/named-users.ts'

it('[DATA-4] others keep their ids, also one that is what the deleted user is called', () => {
  const ann = { userId: 'ann', name: 'bob', email: 'ann@example.com' }
  const value = {
    by: ann,
    said: ['bob', 'ann@example.com', 'bob said'],
    to: { userId: 'bob', name: 'Bob', manager: { userId: 'ann', role: 'x' } },
  }
  expect(withoutUser(value, ann)).toEqual({
    by: deletedUser,
    said: [deletedUserId, deletedUserId, 'bob said'],
    to: { userId: 'bob', name: 'Bob', manager: deletedUser },
  })
})

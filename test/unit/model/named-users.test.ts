import { expect, it } from 'vitest'
import { deletedUserId } from '../../../src/core/model/deleted-user.ts'
import { deletedUser, withoutUser } from '../../../src/core/model/named-users.ts'

it('[DATA-4] keeps the ids of other users, even an id that equals the name of the deleted user', () => {
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

import type { UserDataScope, UserDataSource } from '../../core/directory/user-data/user-data-source.ts'
import type { Kv } from '../../core/store/engine.ts'
import { forgetStreamUser } from './stream-users.ts'

/**
 * Returns the source of the streams of content that name a user. They are kept for minutes, so an export leaves them
 * out: it has the changes that the streams have made.
 */
export const streamSource = (kv: Kv): UserDataSource<UserDataScope> => ({
  name: 'streams',
  list: () => Promise.resolve({ items: [], next: null }),
  erase: (place, userId, goOn) => forgetStreamUser(kv, place, userId, goOn),
})

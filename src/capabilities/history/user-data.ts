import type { UserRanges } from '../../core/directory/user-data/range-source.ts'
import { anonymizeVersions, listVersionsByUser } from './user-versions.ts'
import { versionKeys } from './version-keys.ts'

/** Maximum number of records that one commit changes. */
const sliceMax = 100

/** Saved versions that name a user. An erasure keeps them, and replaces the user with the deleted user. */
export const versionRanges: UserRanges = {
  name: 'versions',
  kind: 'version',
  ranges: (userId) => [versionKeys.allBy(userId)],
  show: listVersionsByUser,
  erase: (transaction, userId) => anonymizeVersions(transaction, userId, sliceMax),
}

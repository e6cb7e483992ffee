import { emptyValue } from '../store/records.ts'
import type { Transaction } from '../store/transaction.ts'
import {
  type BranchPlace,
  type BranchRecord,
  type BranchUsers,
  branchKeys,
  branchRecordType,
  branchUsersType,
} from './branch-records.ts'

/** Writes a branch; if `record` is null, deletes the branch. Also updates the index by user. */
export async function writeBranch(
  transaction: Transaction,
  place: BranchPlace,
  record: BranchRecord | null,
): Promise<void> {
  const key = branchKeys.branch(place)
  const before = await transaction.get<BranchUsers>(key, record === null ? branchUsersType : branchRecordType)
  const [old, users] = [usersIn(before), usersIn(record)]
  for (const userId of old) if (!users.has(userId)) transaction.delete(branchKeys.by(userId, place))
  for (const userId of users) if (!old.has(userId)) transaction.put(branchKeys.by(userId, place), emptyValue)
  if (record === null) transaction.delete(key)
  else transaction.put(key, record)
}

const usersIn = (record: BranchUsers | null): ReadonlySet<string> =>
  new Set([record?.createdBy ?? '', record?.decidedBy ?? ''].filter((userId) => userId !== ''))

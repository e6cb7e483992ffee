import { emptyValue } from '../store/records.ts'
import type { Transaction } from '../store/transaction.ts'
import { keys } from './organization-keys.ts'

/** The membership of one user in one group. */
interface GroupMembership {
  readonly groupId: string
  readonly userId: string
}

export function putMembership(transaction: Transaction, { groupId, userId }: GroupMembership): void {
  transaction.put(keys.member(groupId, userId), emptyValue)
  transaction.put(keys.groupOf(userId, groupId), emptyValue)
}

export function removeMembership(transaction: Transaction, { groupId, userId }: GroupMembership): void {
  transaction.delete(keys.member(groupId, userId))
  transaction.delete(keys.groupOf(userId, groupId))
}

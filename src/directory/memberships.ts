import { keys } from './organization-keys.ts'
import { present } from './records.ts'
import type { Transaction } from './transaction.ts'

/** One user in one group. */
export interface Membership {
  readonly groupId: string
  readonly userId: string
}

export function putMembership(transaction: Transaction, { groupId, userId }: Membership): void {
  transaction.put(keys.member(groupId, userId), present)
  transaction.put(keys.groupOf(userId, groupId), present)
}

export function removeMembership(transaction: Transaction, { groupId, userId }: Membership): void {
  transaction.delete(keys.member(groupId, userId))
  transaction.delete(keys.groupOf(userId, groupId))
}

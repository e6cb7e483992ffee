import type { Tenant } from '../model/address.ts'

/** The topic on which is told that credentials that were good may no longer be. */
export const withdrawalTopic = 'access.withdrawal'

/** Whose credentials have to be looked at again. */
export type Withdrawal =
  | { readonly kind: 'domains'; readonly tenant: Tenant }
  | { readonly kind: 'tokens'; readonly tenant: Tenant; readonly userId: string }

export const encodeWithdrawal = (withdrawal: Withdrawal): Uint8Array =>
  Buffer.from(JSON.stringify(withdrawal))

/** What `encodeWithdrawal` was given. */
export const decodeWithdrawal = (message: Uint8Array): Withdrawal =>
  JSON.parse(Buffer.from(message).toString()) as Withdrawal

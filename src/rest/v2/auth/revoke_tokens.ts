import { json } from '../../../core/base/schema.ts'
import { defineOperation } from '../../operation.ts'

export const revokeTokens = defineOperation({
  path: '/v2/auth/revoke_tokens',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Revoke the realtime tokens of a user',
  description:
    'Rejects all tokens issued for the user until now. The connections that they opened ' +
    'are closed with 4401. Tokens without an `iat` claim count as issued before.',
  request: json.object({ userId: json.id('The user of the tokens.', { examples: ['ada'] }) }),
  response: json.object({
    userId: json.text('The named user.'),
    issuedUntil: json.integer('Unix time in milliseconds: tokens whose `iat` is not later are rejected.'),
  }),
  async handler({ userId }, { caller, services }) {
    const issuedUntil = await services.revocations.revoke(caller.tenant, userId)
    return { message: 'Tokens revoked.', data: { userId, issuedUntil } }
  },
})

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
  request: {
    type: 'object',
    required: ['userId'],
    properties: {
      userId: { type: 'string', format: 'id', description: 'The user of the tokens.', examples: ['ada'] },
    },
  },
  response: {
    type: 'object',
    required: ['userId', 'issuedUntil'],
    properties: {
      userId: { type: 'string', description: 'The named user.' },
      issuedUntil: {
        type: 'integer',
        description: 'Unix time in milliseconds: tokens whose `iat` is not later are rejected.',
      },
    },
  },
  errors: [],
  async handler({ userId }, { caller, services }) {
    const issuedUntil = await services.revocations.revoke(caller.tenant, userId)
    return { message: 'Tokens revoked.', data: { userId, issuedUntil } }
  },
})

import { type AuditRecord, auditActors } from '../../audit/record.ts'
import type { FromSchema } from '../schema.ts'

/** A line of the audit log. */
export const auditRecordAnswer = {
  type: 'object',
  required: ['auditId', 'timestamp', 'operation', 'actor', 'outcome', 'ids'],
  properties: {
    auditId: { type: 'string', description: 'Sorts as time does.' },
    timestamp: { type: 'integer', description: 'When the call came, in epoch milliseconds.' },
    operation: {
      type: 'string',
      description:
        'Path of the operation; `authentication.key`, `.workspace` or `.realtime` of refusals; `start.…` of what a start ' +
        'of the server has changed.',
      examples: ['/v2/workspace/authtoken/reset'],
    },
    actor: { type: 'string', enum: auditActors, description: 'What the caller had to show for it.' },
    apiKey: { type: 'string', description: 'API key that was shown, or, of refusals, tried.' },
    clientAddress: { type: 'string', description: 'Where the call came from.', examples: ['203.0.113.7'] },
    requestId: { type: 'string', description: '`x-request-id` of the call.' },
    outcome: {
      type: 'string',
      description:
        '`success`, or the status of the error. `UNKNOWN`: the call is being carried out, or the server died under it.',
      examples: ['success'],
    },
    ids: {
      type: 'object',
      additionalProperties: { type: 'array', items: { type: 'string' } },
      description: 'Ids that the call names, or that it made, by the member that holds them.',
      examples: [{ apiKey: ['key_example'] }],
    },
    idsLeftOut: { type: 'integer', description: 'Ids that were too many to be kept.' },
    idempotencyKeyHash: {
      type: 'string',
      description: 'First 32 hex digits of the SHA-256 of the `idempotency-key` header.',
    },
    replayed: {
      type: 'boolean',
      description:
        'True: it was answered what an earlier call with its key was answered, and nothing was done.',
    },
    refusals: {
      type: 'object',
      required: ['count', 'since'],
      properties: {
        count: { type: 'integer', description: 'How many.' },
        since: { type: 'integer', description: 'When the first of them came, in epoch milliseconds.' },
      },
      description: 'Of failures to authenticate, which are counted for a minute at a time.',
    },
  },
} as const

/** A record as it is answered, and printed by `weft audit`: what it does not have is left out. */
export function showRecord(record: AuditRecord): FromSchema<typeof auditRecordAnswer> {
  const { apiKey, clientAddress, requestId, idsLeftOut, idempotencyKeyHash, replayed, refusals } = record
  return {
    auditId: record.id,
    timestamp: record.at,
    operation: record.operation,
    actor: record.actor,
    ...(apiKey !== null && { apiKey }),
    ...(clientAddress !== null && { clientAddress }),
    ...(requestId !== null && { requestId }),
    outcome: record.outcome,
    ids: record.ids,
    ...(idsLeftOut > 0 && { idsLeftOut }),
    ...(idempotencyKeyHash !== null && { idempotencyKeyHash }),
    ...(replayed && { replayed }),
    ...(refusals !== null && { refusals }),
  }
}

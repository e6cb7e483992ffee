import { type AuditRecord, auditActors } from '../../core/audit/record.ts'
import type { FromSchema } from '../../core/base/schema.ts'

/** Schema of one record of the audit log. */
export const auditRecordAnswer = {
  type: 'object',
  required: ['auditId', 'timestamp', 'operation', 'actor', 'outcome', 'ids'],
  properties: {
    auditId: { type: 'string', description: 'Sorts by time.' },
    timestamp: { type: 'integer', description: 'Time of the call, in epoch milliseconds.' },
    operation: {
      type: 'string',
      description:
        'Path of the operation; `authentication.key`, `.workspace` or `.realtime` for rejected credentials; `start.…` for ' +
        'changes by a start of the server.',
      examples: ['/v2/workspace/authtoken/reset'],
    },
    actor: { type: 'string', enum: auditActors, description: 'Type of the credentials of the caller.' },
    apiKey: {
      type: 'string',
      description: 'API key of the call; for rejected credentials the key that the caller sent.',
    },
    agent: {
      type: 'object',
      required: ['id', 'model', 'onBehalfOf'],
      properties: {
        id: { type: 'string', description: 'User id of the agent.', examples: ['editor-bot'] },
        model: { anyOf: [{ type: 'string' }, { type: 'null' }], description: 'Model of its token.' },
        onBehalfOf: {
          anyOf: [{ type: 'string' }, { type: 'null' }],
          description: 'User for whom it acts.',
        },
      },
      description: 'The agent that made the call; absent if a backend made it.',
    },
    tool: {
      type: 'string',
      description: 'MCP tool that made the call; absent if none did.',
      examples: ['edit_document'],
    },
    clientAddress: { type: 'string', description: 'IP address of the caller.', examples: ['203.0.113.7'] },
    requestId: { type: 'string', description: '`x-request-id` of the call.' },
    outcome: {
      type: 'string',
      description:
        '`success`, or the status of the error. `UNKNOWN`: the call is running, or the server stopped during it.',
      examples: ['success'],
    },
    ids: {
      type: 'object',
      additionalProperties: { type: 'array', items: { type: 'string' } },
      description: 'Ids that the call names or created, by member.',
      examples: [{ apiKey: ['key_example'] }],
    },
    idsLeftOut: { type: 'integer', description: 'Number of ids that the record does not contain.' },
    idempotencyKeyHash: {
      type: 'string',
      description: 'First 32 hex digits of the SHA-256 of the `idempotency-key` header.',
    },
    replayed: {
      type: 'boolean',
      description: 'True: the server returned the stored response of an earlier call with the same key.',
    },
    refusals: {
      type: 'object',
      required: ['count', 'since'],
      properties: {
        count: { type: 'integer', description: 'How many.' },
        since: { type: 'integer', description: 'Time of the first of them, in epoch milliseconds.' },
      },
      description: 'Number of rejected credentials in one minute; only in such records.',
    },
  },
} as const

/** Converts a record to its response, which `weft audit` also prints; absent members are omitted. */
export function toAuditRecordResponse(record: AuditRecord): FromSchema<typeof auditRecordAnswer> {
  const {
    apiKey,
    agent = null,
    tool = null,
    clientAddress,
    requestId,
    idsLeftOut,
    idempotencyKeyHash,
    replayed,
    refusals,
  } = record
  return {
    auditId: record.id,
    timestamp: record.at,
    operation: record.operation,
    actor: record.actor,
    ...(apiKey !== null && { apiKey }),
    ...(agent !== null && { agent }),
    ...(tool !== null && { tool }),
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

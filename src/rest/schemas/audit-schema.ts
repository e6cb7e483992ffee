import { type AuditRecord, auditActors } from '../../core/audit/record.ts'
import { type FromSchema, json } from '../../core/base/schema.ts'

/** Schema of one record of the audit log. */
export const auditRecordAnswer = json.object(
  {
    auditId: json.text('Sorts by time.'),
    timestamp: json.integer('Time of the call, in epoch milliseconds.'),
    operation: json.text(
      'Path of the operation; `authentication.key`, `.workspace` or `.realtime` for rejected credentials; `start.…` for ' +
        'changes by a start of the server.',
      { examples: ['/v2/workspace/authtoken/reset'] },
    ),
    actor: json.choice(auditActors, 'Type of the credentials of the caller.'),
    outcome: json.text(
      '`success`, or the status of the error. `UNKNOWN`: the call is running, or the server stopped during it.',
      { examples: ['success'] },
    ),
    ids: json.map(json.list(json.text()), {
      description: 'Ids that the call names or created, by member.',
      examples: [{ apiKey: ['key_example'] }],
    }),
  },
  {
    apiKey: json.text('API key of the call; for rejected credentials the key that the caller sent.'),
    agent: json.object(
      {
        id: json.text('User id of the agent.', { examples: ['editor-bot'] }),
        model: json.orNull(json.text(), 'Model of its token.'),
        onBehalfOf: json.orNull(json.text(), 'User for whom it acts.'),
      },
      {},
      { description: 'The agent that made the call; absent if a backend made it.' },
    ),
    tool: json.text('MCP tool that made the call; absent if none did.', { examples: ['edit_document'] }),
    clientAddress: json.text('IP address of the caller.', { examples: ['203.0.113.7'] }),
    requestId: json.text('`x-request-id` of the call.'),
    idsLeftOut: json.integer('Number of ids that the record does not contain.'),
    idempotencyKeyHash: json.text('First 32 hex digits of the SHA-256 of the `idempotency-key` header.'),
    replayed: json.boolean(
      'True: the server returned the stored response of an earlier call with the same key.',
    ),
    refusals: json.object(
      {
        count: json.integer('How many.'),
        since: json.integer('Time of the first of them, in epoch milliseconds.'),
      },
      {},
      { description: 'Number of rejected credentials in one minute; only in such records.' },
    ),
  },
)

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

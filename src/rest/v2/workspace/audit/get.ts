import { auditActors } from '../../../../core/audit/record.ts'
import { json } from '../../../../core/base/schema.ts'
import { defineOperation } from '../../../operation.ts'
import { answerPage, pageRequest, pageSizeMax, pageSizeUpTo } from '../../../paging/page-request.ts'
import { auditRecordAnswer, toAuditRecordResponse } from '../../../schemas/audit-schema.ts'
import { credentialLengthMax } from '../../../schemas/resource-schema.ts'

const path = '/v2/workspace/audit/get'
const pageSizeDefault = 100

const time = { type: 'integer', minimum: 0 } as const

export const getAudit = defineOperation({
  path,
  auth: 'workspace',
  effect: 'reads',
  audited: 'read',
  summary: 'Read the audit log',
  description:
    'The audit log of the workspace, by time: administration, deletion and access to secrets, or, by a server option, ' +
    'all changes; counts of rejected credentials of its API keys or of the workspace; and changes by a start of the ' +
    'server. The server writes a record before it responds to the call, and keeps it for 90 days (a server option). A ' +
    'page may have fewer items than requested, or no items: continue until there is no `pageToken`.',
  request: json.object(
    {},
    {
      operation: json.text('Only records of this operation.', {
        maxLength: 200,
        examples: ['/v2/auth/generate_token'],
      }),
      apiKey: json.text('Only records of this API key, or records that name it.', {
        maxLength: credentialLengthMax,
      }),
      actor: json.choice(auditActors, 'Only records of this actor type.'),
      agentId: json.id('Only calls of this agent.'),
      after: { ...time, description: 'Only later records, in epoch milliseconds.' },
      before: { ...time, description: 'Only earlier records, in epoch milliseconds.' },
      order: json.choice(['asc', 'desc'], 'By time.', { default: 'desc' }),
      ...pageRequest,
      pageSize: pageSizeUpTo(pageSizeMax, pageSizeDefault),
    },
  ),
  response: json.list(auditRecordAnswer),
  async handler({ pageSize = pageSizeDefault, pageToken, order = 'desc', ...query }, context) {
    const { operation: of = null, apiKey = null, actor = null, agentId, after = null, before = null } = query
    const agent = agentId === undefined ? [] : [{ agentId }]
    return answerPage(
      context,
      [path, order, of, apiKey, actor, after, before, ...agent],
      { pageSize, pageToken },
      (range) => context.services.auditing.audit.list(context.caller.workspaceId, query, { ...range, order }),
      ['records', toAuditRecordResponse],
    )
  },
})

import { useApi, usePagedQuery } from '../api/hooks.ts'
import { href } from '../routing/route.ts'
import { LocalTime } from '../ui/controls.tsx'
import { useFilters } from '../ui/form.tsx'
import { Notice } from '../ui/notice.tsx'
import { PagedTable } from '../ui/table.tsx'
import { type AuditEntry, actors, describeIds, describeOutcome } from './audit-entry.ts'

/**
 * Shows the audit log of the workspace: administration, deletion, access to secrets and rejected credentials.
 */
export function AuditLogView() {
  const { workspaceId, workspaceAuthToken } = useApi().credentials
  if (workspaceId !== undefined && workspaceAuthToken !== undefined) return <Log />
  return (
    <Notice>
      This page needs the workspace credentials, which this session does not have. Add them under{' '}
      <a href={href('keys')}>Keys and domains</a>. The first start of the server printed them, and{' '}
      <code>credentials.json</code> in the data directory contains them.
    </Notice>
  )
}

const fields = [
  { name: 'operation', label: 'Operation', placeholder: '/v2/auth/generate_token' },
  { name: 'actor', label: 'By', options: actors },
] as const

function Log() {
  const [asked, filterForm] = useFilters(fields)
  const listing = usePagedQuery<AuditEntry>('/v2/workspace/audit/get', { order: 'desc', ...asked })
  return (
    <>
      {filterForm}
      <PagedTable
        caption="Audit log"
        listing={listing}
        keyOf={({ auditId }) => auditId}
        empty="No audit record matches these filters."
        columns={[
          { title: 'When', cell: ({ timestamp }) => <LocalTime at={timestamp} /> },
          { title: 'By', cell: ({ actor, apiKey }) => [actor, ' ', apiKey && <code key="">{apiKey}</code>] },
          { title: 'Operation', cell: (record) => <What record={record} /> },
          { title: 'Outcome', cell: (record) => describeOutcome(record) },
          { title: 'From', cell: ({ clientAddress = '' }) => clientAddress },
        ]}
      />
    </>
  )
}

const What = ({ record }: { readonly record: AuditEntry }) => (
  <>
    <code>{record.operation}</code>
    {describeIds(record) !== '' && <span class="hint">{describeIds(record)}</span>}
  </>
)

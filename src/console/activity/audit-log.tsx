import { useState } from 'preact/hooks'
import { usePagedQuery } from '../api/hooks.ts'
import { NeedsWorkspace } from '../auth/needs-workspace.tsx'
import { FilterForm } from '../ui/form.tsx'
import { PagedTable } from '../ui/table.tsx'
import { LocalTime } from '../ui/time.tsx'
import { type Actor, type AuditEntry, actors, describeIds, describeOutcome } from './audit-entry.ts'

/**
 * Shows the audit log of the workspace: administration, deletion, access to secrets and rejected credentials.
 */
export const AuditLogView = () => (
  <NeedsWorkspace>
    <Log />
  </NeedsWorkspace>
)

const fields = [
  { name: 'operation', label: 'Operation', placeholder: '/v2/auth/generate_token' },
  { name: 'actor', label: 'By', options: actors },
] as const

function Log() {
  const [asked, setAsked] = useState({})
  const listing = usePagedQuery<AuditEntry>('/v2/workspace/audit/get', { order: 'desc', ...asked })
  return (
    <>
      <FilterForm fields={fields} onFilter={setAsked} />
      <PagedTable
        caption="Audit log"
        listing={listing}
        keyOf={({ auditId }) => auditId}
        empty="No audit record matches these filters."
        columns={[
          { title: 'When', cell: ({ timestamp }) => <LocalTime at={timestamp} /> },
          { title: 'By', cell: ({ actor, apiKey }) => <By actor={actor} apiKey={apiKey} /> },
          { title: 'Operation', cell: (record) => <What record={record} /> },
          { title: 'Outcome', cell: (record) => describeOutcome(record) },
          { title: 'From', cell: ({ clientAddress = '' }) => clientAddress },
        ]}
      />
    </>
  )
}

const By = ({ actor, apiKey = '' }: { readonly actor: Actor; readonly apiKey: string | undefined }) => (
  <>
    {actor} {apiKey !== '' && <code>{apiKey}</code>}
  </>
)

const What = ({ record }: { readonly record: AuditEntry }) => (
  <>
    <code>{record.operation}</code>
    {describeIds(record) !== '' && <span class="hint">{describeIds(record)}</span>}
  </>
)

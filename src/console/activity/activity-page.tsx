import { useState } from 'preact/hooks'
import type { RequestsGetDataItem } from '../../client/api/operation-types.ts'
import { useFollowedQuery } from '../api/hooks.ts'
import { href, type PageProps } from '../routing/route.ts'
import { WithOrganization } from '../routing/with-organization.tsx'
import { Checkbox, LocalTime, Select, Tabs } from '../ui/controls.tsx'
import { useFilters } from '../ui/form.tsx'
import { PagedTable } from '../ui/table.tsx'
import { AuditLogView } from './audit-log.tsx'
import { type Activity, activityKinds, describeActivity, toActivityQuery } from './describe-activity.ts'
import { requestColumns } from './recent-request.tsx'

const kinds = [
  ['', 'All'],
  ['rest', 'REST calls'],
  ['websocket', 'Websockets'],
] as const
type Kind = (typeof kinds)[number][0]

/** Shows the latest requests, and the latest rejected requests with their reasons. */
function RequestLog() {
  const [onlyRejected, setOnlyRejected] = useState(false)
  const [kind, setKind] = useState<Kind>('')
  const asked = { onlyRejected, ...(kind !== '' && { kind }) }
  const { listing, isFollowed, follow } = useFollowedQuery<RequestsGetDataItem>(
    '/v2/requests/get',
    asked,
    true,
  )
  return (
    <>
      <p class="hint">
        The latest calls of this API key, and the calls and websockets that the server rejected. Equal
        requests share a line. The server keeps them in memory until it stops.
      </p>
      <div class="row chooser">
        <Select<Kind> label="Kind" value={kind} options={kinds} onChange={setKind} />
      </div>
      <Checkbox label="Only rejections" checked={onlyRejected} onChange={setOnlyRejected} />
      <Checkbox label="Refresh every 5 seconds" checked={isFollowed} onChange={follow} />
      <PagedTable
        caption="Requests"
        listing={listing}
        keyOf={({ id }) => id}
        empty="No request matches these filters since the start of the server."
        columns={requestColumns}
      />
    </>
  )
}

const fields = [
  { name: 'documentId', label: 'Document id' },
  { name: 'userId', label: 'User id' },
  {
    name: 'feature',
    label: 'Feature',
    options: [
      ['', 'Any'] as const,
      ...activityKinds.map((type) => [type, type === 'crdt' ? 'crdt: content' : type] as const),
    ],
  },
  { name: 'actions', label: 'Actions', placeholder: 'comment.add, document.delete' },
] as const

/**
 * Shows the page `#/activity/{organization}`, `#/activity/requests/log` (recent requests) or
 * `#/activity/audit/log` (audit log of the workspace).
 */
export default function ActivityPage({ rest }: PageProps) {
  const log = rest[1] === 'log' ? rest[0] : undefined
  const [activity, requests, audit] = [
    href('activity'),
    href('activity', 'requests', 'log'),
    href('activity', 'audit', 'log'),
  ]
  return (
    <>
      <h1>Activity</h1>
      <Tabs
        label="Kinds of activity"
        current={log === 'audit' ? audit : log === 'requests' ? requests : activity}
        tabs={[
          [activity, 'In documents and organizations'],
          [requests, 'Requests'],
          [audit, 'Audit log'],
        ]}
      />
      {log === 'audit' && <AuditLogView />}
      {log === 'requests' && <RequestLog />}
      {log !== 'audit' && log !== 'requests' && (
        <WithOrganization section="activity" rest={rest}>
          {(organizationId) => <Activities organizationId={organizationId} />}
        </WithOrganization>
      )}
    </>
  )
}

function Activities({ organizationId }: { readonly organizationId: string }) {
  const [filters, filterForm] = useFilters(fields)
  const { listing, isFollowed, follow } = useFollowedQuery<Activity>(
    '/v2/activities/get',
    toActivityQuery(organizationId, filters),
    false,
  )
  return (
    <>
      {filterForm}
      <Checkbox label="Refresh every 5 seconds" checked={isFollowed} onChange={follow} />
      <PagedTable
        caption="Activities"
        listing={listing}
        keyOf={({ id }) => id}
        empty="No activity matches these filters."
        columns={[
          { title: 'When', cell: ({ timestamp }) => <LocalTime at={timestamp} /> },
          { title: 'What', cell: (activity) => <What activity={activity} /> },
          {
            title: 'Document',
            cell: ({ metadata: { documentId } }) =>
              documentId !== undefined && (
                <a href={href('documents', organizationId, documentId)}>{documentId}</a>
              ),
          },
          { title: 'Action', cell: ({ actionType }) => <code>{actionType}</code> },
        ]}
      />
    </>
  )
}

const What = ({ activity }: { readonly activity: Activity }) => (
  <>
    {describeActivity(activity)}
    {activity.changes !== undefined && (
      <details>
        <summary>What has changed</summary>
        <pre>{JSON.stringify(activity.changes, null, 2)}</pre>
      </details>
    )}
  </>
)

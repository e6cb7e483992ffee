import { useState } from 'preact/hooks'
import { usePagedQuery } from '../api/hooks.ts'
import { useInterval } from '../api/use-interval.ts'
import { href, type PageProps } from '../routing/route.ts'
import { WithOrganization } from '../routing/with-organization.tsx'
import { Checkbox } from '../ui/controls.tsx'
import { PagedTable } from '../ui/table.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { LocalTime } from '../ui/time.tsx'
import { noFilters, toActivityQuery } from './activity-filters.ts'
import { AuditLogView } from './audit-log.tsx'
import { type Activity, describeActivity } from './describe-activity.ts'
import { FilterForm } from './filter-form.tsx'
import { RequestLog } from './request-log.tsx'

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

const followMs = 5_000

function Activities({ organizationId }: { readonly organizationId: string }) {
  const [filters, setFilters] = useState(noFilters)
  const [isFollowing, setFollowing] = useState(false)
  const pages = usePagedQuery<Activity>('/v2/activities/get', toActivityQuery(organizationId, filters))
  useInterval(isFollowing ? followMs : null, pages.reload)
  const { more } = pages
  const readOn =
    more === null
      ? null
      : () => {
          // Stops the automatic refresh, because it reads only the first page, and would drop all other
          // pages.
          setFollowing(false)
          more()
        }
  return (
    <>
      <FilterForm onFilter={setFilters} />
      <Checkbox label="Refresh every 5 seconds" checked={isFollowing} onChange={setFollowing} />
      <PagedTable
        caption="Activities"
        listing={{ ...pages, more: readOn }}
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

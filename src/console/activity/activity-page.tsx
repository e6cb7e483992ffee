import { useState } from 'preact/hooks'
import { useInterval, usePagedQuery } from '../api/hooks.ts'
import { href, type PageProps } from '../routing/route.ts'
import { WithOrganization } from '../routing/with-organization.tsx'
import { Button, Checkbox, Select, TextField } from '../ui/controls.tsx'
import { Form } from '../ui/form.tsx'
import { PagedTable } from '../ui/table.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { LocalTime } from '../ui/time.tsx'
import { type Filters, noFilters, toActivityQuery } from './activity-filters.ts'
import { AuditLogView } from './audit-log.tsx'
import { type Activity, type ActivityKind, activityKinds, describeActivity } from './describe-activity.ts'
import { type ListedRequest, requestColumns } from './recent-request.tsx'

const refreshMs = 5_000

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
  const [isRefreshing, setRefreshing] = useState(true)
  const asked = { onlyRejected, ...(kind !== '' && { kind }) }
  const listing = usePagedQuery<ListedRequest>('/v2/requests/get', asked)
  useInterval(isRefreshing ? refreshMs : null, listing.reload)
  const { more } = listing
  const readOn = () => {
    // Stops the automatic refresh, because it reads only the first page, and would drop all other pages.
    setRefreshing(false)
    more?.()
  }
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
      <Checkbox label="Refresh every 5 seconds" checked={isRefreshing} onChange={setRefreshing} />
      <PagedTable
        caption="Requests"
        listing={{ ...listing, more: more === null ? null : readOn }}
        keyOf={({ id }) => id}
        empty="No request matches these filters since the start of the server."
        columns={requestColumns}
      />
    </>
  )
}

const features = [
  ['', 'Any'] as const,
  ...activityKinds.map((type) => [type, type === 'crdt' ? 'crdt: content' : type] as const),
]

/**
 * Shows a form with the filters. The filters apply when the user submits the form, so that not every
 * keystroke sends a request.
 */
function FilterForm({ onFilter }: { readonly onFilter: (filters: Filters) => void }) {
  const [filters, setFilters] = useState(noFilters)
  const set = (member: keyof Filters) => (value: string) =>
    setFilters((before) => ({ ...before, [member]: value }))
  return (
    <Form label="Filter" inline onSubmit={() => onFilter(filters)}>
      <TextField label="Document id" type="search" value={filters.documentId} onInput={set('documentId')} />
      <TextField label="User id" type="search" value={filters.userId} onInput={set('userId')} />
      <Select<ActivityKind | ''>
        label="Feature"
        value={filters.feature}
        options={features}
        onChange={set('feature')}
      />
      <TextField
        label="Actions"
        type="search"
        placeholder="comment.add, document.delete"
        value={filters.actions}
        onInput={set('actions')}
      />
      <Button type="submit">Filter</Button>
    </Form>
  )
}

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

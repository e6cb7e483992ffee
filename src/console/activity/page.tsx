import { useState } from 'preact/hooks'
import { usePages } from '../calls.ts'
import { useEvery } from '../every.ts'
import { InOrganization } from '../organization.tsx'
import { href, type PageProps } from '../route.ts'
import { Check } from '../ui/controls.tsx'
import { List } from '../ui/table.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { Time } from '../ui/time.tsx'
import { Audit } from './audit.tsx'
import { FilterForm } from './filter-form.tsx'
import { noFilters, questionOf } from './filters.ts'
import { type Activity, sentenceOf } from './sentence.ts'

/** `#/activity/{organization}`, or `#/activity/audit/log`, which is of the workspace. */
export default function Page({ rest }: PageProps) {
  const isAudit = rest[0] === 'audit' && rest[1] === 'log'
  const [activity, audit] = [href('activity'), href('activity', 'audit', 'log')]
  return (
    <>
      <h1>Activity</h1>
      <Tabs
        label="Kinds of activity"
        current={isAudit ? audit : activity}
        tabs={[
          [activity, 'In documents and organizations'],
          [audit, 'Audit log'],
        ]}
      />
      {isAudit ? (
        <Audit />
      ) : (
        <InOrganization section="activity" rest={rest}>
          {(organizationId) => <Activities organizationId={organizationId} />}
        </InOrganization>
      )}
    </>
  )
}

const followMs = 5_000

function Activities({ organizationId }: { readonly organizationId: string }) {
  const [filters, setFilters] = useState(noFilters)
  const [isFollowing, setFollowing] = useState(false)
  const pages = usePages<Activity>('/v2/activities/get', questionOf(organizationId, filters))
  useEvery(isFollowing ? followMs : null, pages.reload)
  const { more } = pages
  const readOn =
    more === null
      ? null
      : () => {
          // The first page, read again, would be all there is.
          setFollowing(false)
          more()
        }
  return (
    <>
      <FilterForm onFilter={setFilters} />
      <Check label="Follow: read again every 5 seconds" checked={isFollowing} onChange={setFollowing} />
      <List
        caption="Activities"
        listing={{ ...pages, more: readOn }}
        keyOf={({ id }) => id}
        empty="Nothing has happened here, as far as the filters say."
        columns={[
          { title: 'When', cell: ({ timestamp }) => <Time at={timestamp} /> },
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
    {sentenceOf(activity)}
    {activity.changes !== undefined && (
      <details>
        <summary>What has changed</summary>
        <pre>{JSON.stringify(activity.changes, null, 2)}</pre>
      </details>
    )}
  </>
)

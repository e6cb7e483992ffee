import { type ListedRequest, requestColumns } from '../activity/recent-request.tsx'
import { useApi, useQuery } from '../api/hooks.ts'
import { useInterval } from '../api/use-interval.ts'
import { href } from '../routing/route.ts'
import { EmptyNotice, ErrorNotice } from '../ui/notice.tsx'
import { Table } from '../ui/table.tsx'

const shownMax = 5
const refreshMs = 10_000

/** Shows the latest rejections of the API key, with their reasons. */
export function RecentRejections() {
  const { apiKey, workspaceId } = useApi().credentials
  // A session that has only the credentials of the workspace has no API key.
  const path = apiKey === undefined && workspaceId !== undefined ? null : '/v2/requests/get'
  const query = { onlyRejected: true, pageSize: shownMax }
  const { data, error, reload } = useQuery<readonly ListedRequest[]>(path, query)
  useInterval(refreshMs, reload)
  if (path === null) return null
  return (
    <section class="card dense" aria-label="Recent rejections">
      <h2>Recent rejections</h2>
      <ErrorNotice error={error} />
      {data?.length === 0 && (
        <EmptyNotice>
          The server has not rejected any call or websocket of this API key since its start.
        </EmptyNotice>
      )}
      {data !== null && data.length > 0 && (
        <Table caption="The latest rejections" items={data} keyOf={({ id }) => id} columns={requestColumns} />
      )}
      <p>
        <a href={href('activity', 'requests', 'log')}>All requests and rejections</a>
      </p>
    </section>
  )
}

import { useState } from 'preact/hooks'
import { usePagedQuery } from '../api/hooks.ts'
import { useInterval } from '../api/use-interval.ts'
import { Checkbox, Select } from '../ui/controls.tsx'
import { PagedTable } from '../ui/table.tsx'
import { type ListedRequest, requestColumns } from './recent-request.tsx'

const refreshMs = 5_000

const kinds = [
  ['', 'All'],
  ['rest', 'REST calls'],
  ['websocket', 'Websockets'],
] as const
type Kind = (typeof kinds)[number][0]

/** Shows the latest requests, and the latest rejected requests with their reasons. */
export function RequestLog() {
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

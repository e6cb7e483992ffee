import { useEffect, useState } from 'preact/hooks'
import { useAction, useApi } from '../api/hooks.ts'
import { useInterval } from '../api/use-interval.ts'
import { Button, Checkbox } from '../ui/controls.tsx'
import { EmptyNotice, ErrorNotice } from '../ui/notice.tsx'
import { Table } from '../ui/table.tsx'
import { eventColumns } from './event-columns.tsx'
import type { EventQuery } from './event-filter.tsx'
import type { FeedEventPage } from './listed-event.ts'

const followMs = 3_000
const pageSize = 50
/** Maximum number of events in the table. Beyond it, the oldest are left out. */
const shownMax = 500

interface EventListProps {
  readonly query: EventQuery
  /** Gets the cursor after the events that were read. */
  readonly onCursor: (cursor: string) => void
}

/** Shows the events of a query, the newest first. Newer ones are read on request, or every 3 seconds. */
export function EventList({ query, onCursor }: EventListProps) {
  const api = useApi()
  const [shown, setShown] = useState<FeedEventPage | null>(null)
  const [isFollowing, setFollowing] = useState(false)
  const { busy, error, run } = useAction(async () => {
    const start = shown === null ? query.start : { cursor: shown.cursor }
    const page = await api.call<FeedEventPage>('/v2/feed/get', { ...query.selection, ...start, pageSize })
    const events = [...page.events.toReversed(), ...(shown?.events ?? [])].slice(0, shownMax)
    setShown({ ...page, events })
    onCursor(page.cursor)
  })
  useEffect(() => void run(), [])
  useInterval(isFollowing && !busy && error === null ? followMs : null, () => void run())
  return (
    <section aria-label="Events">
      <Checkbox
        label="Follow: read new events every 3 seconds"
        checked={isFollowing}
        onChange={setFollowing}
      />
      <ErrorNotice error={error} />
      {(!isFollowing || error !== null) && (
        <p class="row">
          <Button busy={busy} onClick={() => void run()}>
            {error === null ? 'Show newer events' : 'Try again'}
          </Button>
          {shown?.isEnd && <span class="hint">These are the newest events.</span>}
        </p>
      )}
      {shown?.events.length === 0 && (
        <EmptyNotice>No events match. An event appears about a second after its cause.</EmptyNotice>
      )}
      {shown !== null && shown.events.length > 0 && (
        <Table
          caption="Events of the feed"
          items={shown.events}
          keyOf={({ id }) => id}
          columns={eventColumns}
        />
      )}
    </section>
  )
}

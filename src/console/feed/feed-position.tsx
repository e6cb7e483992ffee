import { useApi, useAsync } from '../api/hooks.ts'
import { Button } from '../ui/controls.tsx'
import { DefinitionList } from '../ui/definition-list.tsx'
import { ErrorNotice } from '../ui/notice.tsx'
import { LocalTime } from '../ui/time.tsx'
import type { FeedEventPage, ListedEvent } from './listed-event.ts'

/** Shows the oldest and the newest event that the feed has, with their cursors. */
export function FeedPosition() {
  const api = useApi()
  const first = async (from: 'oldest' | 'latest') => {
    const page = await api.call<FeedEventPage>('/v2/feed/get', { from, pageSize: 1 })
    return page.events[0] ?? null
  }
  const { data, error, reload } = useAsync(() => Promise.all([first('oldest'), first('latest')]), '')
  if (data === null) return <ErrorNotice error={error} />
  const [oldest, newest] = data
  return (
    <section class="card" aria-label="Kept events">
      <h2>Kept events</h2>
      <DefinitionList
        of={[
          ['Oldest event', <Place key="" event={oldest} />],
          ['Newest event', <Place key="" event={newest} />],
        ]}
      />
      <p class="hint">
        A program that was away since before the oldest event has lost its place: its cursor is rejected with{' '}
        <code>feed/cursor-expired</code>.
      </p>
      <Button onClick={reload}>Read again</Button>
    </section>
  )
}

const Place = ({ event }: { readonly event: ListedEvent | null }) =>
  event === null ? (
    <>no event yet</>
  ) : (
    <>
      <LocalTime at={event.at} />, {event.type}
      <span class="hint">
        cursor after it: <code>{event.cursor}</code>
      </span>
    </>
  )

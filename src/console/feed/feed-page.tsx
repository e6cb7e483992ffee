import { useState } from 'preact/hooks'
import { useQuery } from '../api/hooks.ts'
import { useServerVersion } from '../api/server-version.ts'
import { ErrorNotice, Notice } from '../ui/notice.tsx'
import { ConsumerCode } from './consumer-code.tsx'
import { EventFilter, type EventQuery, latestEvents } from './event-filter.tsx'
import { EventList } from './event-list.tsx'
import { FeedPosition } from './feed-position.tsx'
import { FeedSettings, type FeedSwitch } from './feed-settings.tsx'

/** Shows the page `#/feed`: the settings of the change feed, its events, and code that reads them. */
export default function FeedPage() {
  const { data, error, reload } = useQuery<FeedSwitch>('/v2/workspace/feed/get')
  return (
    <>
      <h1>Change feed</h1>
      <p>
        The feed has all events of this API key in one order: documents, content, permissions, comments and
        presence. A program reads it with a cursor, and resumes after any interruption.{' '}
        <a href="/docs/feed">Change feed</a> describes it.
      </p>
      <ErrorNotice error={error} />
      {data?.enabled === false && (
        <Notice>The change feed is off. It costs nothing, and it keeps no events.</Notice>
      )}
      {data !== null && <FeedSettings config={data} onChange={reload} />}
      {data?.enabled && <Events />}
    </>
  )
}

function Events() {
  // The number distinguishes repeated queries, so that each of them reads the events again.
  const [{ query, count }, setQuery] = useState({ query: latestEvents, count: 0 })
  // A late response of an earlier query must not set the cursor of this one.
  const [end, setEnd] = useState({ of: -1, cursor: '' })
  const { data: server } = useServerVersion()
  const show = (next: EventQuery) => setQuery({ query: next, count: count + 1 })
  return (
    <>
      <FeedPosition key={`position ${count}`} />
      <h2>Events</h2>
      <EventFilter onQuery={show} />
      <EventList key={count} query={query} onCursor={(cursor) => setEnd({ of: count, cursor })} />
      {end.of === count && server !== null && (
        <ConsumerCode base={server.publicUrl} selection={query.selection} cursor={end.cursor} />
      )}
    </>
  )
}

import { useEffect, useReducer, useRef, useState } from 'preact/hooks'
import type { ApiCallError } from '../api/client.ts'
import { ErrorNotice, Notice } from '../ui/notice.tsx'
import { Invitation } from './invitation.tsx'
import { type JoinedPlayground, joinPlayground } from './join.ts'
import { PlaygroundSession } from './playground-session.ts'
import { RewritePanel } from './rewrite-panel.tsx'
import { ConnectionBadge, ParticipantList, Toolbar } from './toolbar.tsx'

/** Shows the playground, a shared editor in which visitors try Weft. */
export function PlaygroundApp() {
  const [entered, setEntered] = useState<JoinedPlayground | null | 'entering'>('entering')
  const [error, setError] = useState<ApiCallError | null>(null)
  useEffect(() => {
    joinPlayground().then(setEntered, setError)
  }, [])
  return (
    <div class="playground">
      <header class="row between">
        <h1>
          <img src="/console/icon.svg" alt="" width="28" height="28" /> Playground
        </h1>
        <a href="/console">Console</a>
      </header>
      <main>
        <ErrorNotice error={error} />
        {entered === null && <Closed />}
        {entered === 'entering' && error === null && <p class="hint">Opening…</p>}
        {entered !== null && entered !== 'entering' && <Document {...entered} />}
      </main>
    </div>
  )
}

const Closed = () => (
  <Notice>
    Open the playground from the <a href="/console">console</a>, which creates the token for the shared
    document.
  </Notice>
)

function Document({ participant, api }: JoinedPlayground) {
  const place = useRef<HTMLDivElement>(null)
  const [session, setSession] = useState<PlaygroundSession | null>(null)
  const [, changed] = useReducer((count: number) => count + 1, 0)
  useEffect(() => {
    const opened = new PlaygroundSession(participant, () => changed(null))
    if (place.current !== null) opened.show(place.current)
    setSession(opened)
    return () => opened.close()
  }, [])
  return (
    <>
      {session !== null && (
        <div class="row between">
          <ParticipantList people={session.people} />
          <ConnectionBadge standing={session.standing} />
        </div>
      )}
      <section class="paper" aria-label="Editor">
        {session !== null && <Toolbar session={session} />}
        <div ref={place} />
      </section>
      <div class="cards">
        <Invitation participant={participant} api={api} />
        <RewritePanel api={api} />
      </div>
    </>
  )
}

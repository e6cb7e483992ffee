import { useEffect, useReducer, useRef, useState } from 'preact/hooks'
import type { CallError } from '../api.ts'
import { Notice, Problem } from '../ui/notice.tsx'
import { type Entered, enter } from './entering.ts'
import { Invitation } from './invitation.tsx'
import { Rewriting } from './rewriting.tsx'
import { Session } from './session.ts'
import { People, Standing, Toolbar } from './surroundings.tsx'

/** A shared editor to try: what a newcomer sees first of Weft. */
export function Playground() {
  const [entered, setEntered] = useState<Entered | null | 'entering'>('entering')
  const [error, setError] = useState<CallError | null>(null)
  useEffect(() => {
    enter().then(setEntered, setError)
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
        <Problem error={error} />
        {entered === null && <Closed />}
        {entered === 'entering' && error === null && <p class="hint">Opening…</p>}
        {entered !== null && entered !== 'entering' && <Document {...entered} />}
      </main>
    </div>
  )
}

const Closed = () => (
  <Notice>
    Open the playground from the <a href="/console">console</a>: it makes the token that the shared document
    asks for.
  </Notice>
)

function Document({ guest, api }: Entered) {
  const place = useRef<HTMLDivElement>(null)
  const [session, setSession] = useState<Session | null>(null)
  const [, changed] = useReducer((count: number) => count + 1, 0)
  useEffect(() => {
    const opened = new Session(guest, () => changed(null))
    if (place.current !== null) opened.show(place.current)
    setSession(opened)
    return () => opened.close()
  }, [])
  return (
    <>
      {session !== null && (
        <div class="row between">
          <People people={session.people} />
          <Standing standing={session.standing} />
        </div>
      )}
      <section class="paper" aria-label="Editor">
        {session !== null && <Toolbar session={session} />}
        <div ref={place} />
      </section>
      <div class="cards">
        <Invitation guest={guest} api={api} />
        <Rewriting api={api} />
      </div>
    </>
  )
}

import { useEffect, useReducer, useRef, useState } from 'preact/hooks'
import type { ApiCallError, ApiClient } from '../api/client.ts'
import { useAction } from '../api/hooks.ts'
import { Button } from '../ui/controls.tsx'
import { SecretField } from '../ui/copy.tsx'
import { ActionOutcome, ErrorNotice, Notice } from '../ui/notice.tsx'
import { tools } from './editor.ts'
import { forgetIdentity, type JoinedPlayground, joinPlayground } from './join.ts'
import { playgroundPath } from './open-playground.ts'
import {
  colorClass,
  identityHash,
  type ListedParticipant,
  newParticipant,
  otherParticipantHash,
  type Participant,
} from './participant.ts'
import { rewrite, rewriteCurl } from './playground-document.ts'
import { PlaygroundSession, type ConnectionStatus as Standings } from './playground-session.ts'

/**
 * Event handler that keeps the focus in the text while a button is pressed. Without the focus, other users
 * would not see the cursor.
 */
const keepFocus = (event: Event): void => event.preventDefault()

const isApple = /Mac|iPhone|iPad/.test(navigator.platform)
const keyText = (key: string): string => key.replace('Mod', isApple ? '⌘' : 'Ctrl').replaceAll('-', '+')

function Toolbar({ session }: { readonly session: PlaygroundSession }) {
  const { state } = session
  return (
    <fieldset class="tools" aria-label="Formatting">
      {tools.map((tool) => (
        <button
          key={tool.name}
          type="button"
          class="button"
          title={keyText(tool.key)}
          aria-pressed={tool.isOn === undefined || state === null ? undefined : tool.isOn(state)}
          onMouseDown={keepFocus}
          onClick={() => session.run(tool)}
        >
          {tool.name}
        </button>
      ))}
    </fieldset>
  )
}

const ParticipantList = ({ people }: { readonly people: readonly ListedParticipant[] }) => (
  <ul class="people" aria-label="Who is here">
    {people.map(({ clientId, name, isSelf }) => (
      <li key={clientId} class={colorClass(clientId)}>
        {name}
        {isSelf && ' (you)'}
      </li>
    ))}
  </ul>
)

const statusTexts = {
  connecting: 'Connecting…',
  saved: 'Saved on the server',
  saving: 'Saving…',
  away: 'Not connected; retrying. This window keeps your edits.',
} as const

function ConnectionBadge({ standing }: { readonly standing: Standings }) {
  if (typeof standing === 'string') return <p class={`standing ${standing}`}>{statusTexts[standing]}</p>
  return (
    <Notice kind="bad">
      The server closed the connection: {standing.refused}.{' '}
      <Button
        onClick={() => {
          forgetIdentity()
          location.reload()
        }}
      >
        Come in again
      </Button>
    </Notice>
  )
}

/**
 * Opens a second window in the right half of the screen. Also resizes this window if the browser allows it,
 * so that both windows are visible.
 */
function openSecond(): void {
  const { availWidth, availHeight } = screen
  const half = Math.floor(availWidth / 2)
  const features = `popup,left=${half},top=0,width=${half},height=${availHeight}`
  if (window.open(playgroundPath + otherParticipantHash, '_blank', features) !== null)
    window.resizeTo(half, availHeight)
}

/**
 * Copies a text to the clipboard, and returns whether this succeeded. The browser denies access to the
 * clipboard if the page has neither HTTPS nor a local address.
 */
async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

interface InvitationProps {
  readonly participant: Participant
  readonly api: ApiClient | null
}

/** Explains how a visitor can see two users at work. */
function Invitation({ participant, api }: InvitationProps) {
  // The invitation link, if it could not be copied; otherwise null.
  const [link, setLink] = useState<string | null>(null)
  const copy = useAction(async () => {
    const invited = api === null ? participant : await newParticipant(api)
    const made = location.origin + playgroundPath + identityHash(invited)
    const isCopied = await copied(made)
    setLink(isCopied ? null : made)
    return `${isCopied ? 'The link is copied.' : 'Copy the link.'} Anyone with the link may edit this document for two days.`
  })
  return (
    <section class="card">
      <h2>Be two</h2>
      <p>A second window acts as another user. Place both windows side by side, and type.</p>
      <div class="row">
        <Button kind="primary" onClick={openSecond}>
          Open a second window
        </Button>
        <Button busy={copy.busy} onClick={() => void copy.run()}>
          Copy an invitation link
        </Button>
      </div>
      <ActionOutcome {...copy} />
      {link !== null && <SecretField label="Link" value={link} open />}
    </section>
  )
}

/** Demonstrates how a backend or a language model changes a text that users are editing. */
function RewritePanel({ api }: { readonly api: ApiClient | null }) {
  /** The data of the last call; null before the first one. */
  const [written, setWritten] = useState<object | null>(null)
  const writing = useAction(async () => {
    if (api !== null) setWritten(await rewrite(api, new Date()))
    return 'The sentence was written. Cursors stayed at their words.'
  })
  return (
    <section class="card">
      <h2>Rewrite by REST</h2>
      <p>
        A backend sends the edit of one sentence. Weft changes only this sentence, so all other text and all
        cursors stay in place.
      </p>
      {api === null ? (
        <p class="hint">Open this window from the console to try it with one click.</p>
      ) : (
        <p>
          <button
            type="button"
            class="button"
            disabled={writing.busy}
            onMouseDown={keepFocus}
            onClick={() => void writing.run()}
          >
            Rewrite by REST
          </button>
        </p>
      )}
      <ActionOutcome {...writing} />
      {written !== null && (
        <details>
          <summary>The call that this window made, with curl</summary>
          <pre>{rewriteCurl(location.origin, written)}</pre>
        </details>
      )}
    </section>
  )
}

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

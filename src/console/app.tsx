import { useEffect, useMemo, useState } from 'preact/hooks'
import { Api } from './api.ts'
import { ApiContext } from './calls.ts'
import { type Credentials, credentialsOfLink, keepCredentials, keptCredentials } from './credentials.ts'
import { href, useRoute } from './route.ts'
import { SectionPage, sections } from './sections.tsx'
import { EnterContext } from './session.ts'
import { SignIn } from './sign-in.tsx'
import { Button } from './ui/controls.tsx'

/** Signed in or not, and if so where. */
export function App() {
  const [credentials, setCredentials] = useState(() => credentialsOfLink() ?? keptCredentials())
  const enter = (given: Credentials | null) => {
    keepCredentials(given)
    setCredentials(given)
  }
  // Those of a link, too, are there after the page has been read again.
  useEffect(() => keepCredentials(credentials), [])
  const api = useMemo(() => (credentials === null ? null : new Api(credentials)), [credentials])
  if (api === null) return <SignIn onSignedIn={enter} />
  return (
    <ApiContext.Provider value={api}>
      <EnterContext.Provider value={enter}>
        {/* Of another API key everything is read anew. */}
        <Shell key={api.credentials.apiKey ?? ''} onSignOut={() => enter(null)} />
      </EnterContext.Provider>
    </ApiContext.Provider>
  )
}

function Shell({ onSignOut }: { readonly onSignOut: () => void }) {
  const [name = 'overview', ...rest] = useRoute()
  const section = sections.find((each) => each.name === name)
  const title = section?.title ?? 'Not found'
  useEffect(() => {
    document.title = `${title} · Weft`
  }, [title])
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => document.getElementById('content')?.focus()}>
        Skip to content
      </button>
      <Menu current={name} onSignOut={onSignOut} />
      <main id="content" tabIndex={-1}>
        {section === undefined ? <NotFound /> : <SectionPage section={section} rest={rest} />}
      </main>
    </div>
  )
}

const Menu = ({ current, onSignOut }: { readonly current: string; readonly onSignOut: () => void }) => (
  <header class="menu">
    <a class="brand" href={href('overview')}>
      <img src="/console/icon.svg" alt="" width="28" height="28" />
      Weft
    </a>
    <nav aria-label="Sections">
      <ul>
        {sections.map(({ name, title }) => (
          <li key={name}>
            <a href={href(name)} aria-current={name === current ? 'page' : undefined}>
              {title}
            </a>
          </li>
        ))}
        <li>
          <a href="/docs">Documentation</a>
        </li>
      </ul>
    </nav>
    <Button onClick={onSignOut}>Sign out</Button>
  </header>
)

const NotFound = () => (
  <>
    <h1>Not found</h1>
    <p>
      There is nothing at this address. <a href={href('overview')}>Overview</a>
    </p>
  </>
)

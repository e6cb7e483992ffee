import type { ComponentType } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { ApiClient } from './api/client.ts'
import {
  type ConsoleCredentials,
  loadCredentials,
  saveCredentials,
  takeCredentialsFromLink,
} from './api/credentials.ts'
import { ApiContext, SignInContext } from './api/hooks.ts'
import { forgetValues, keepValues, sessionValues } from './api/session-values.ts'
import { SignIn } from './auth/sign-in.tsx'
import { href, type PageProps, type Route, useRoute } from './routing/route.ts'
import { Button } from './ui/controls.tsx'
import { lazy } from './ui/lazy.tsx'

interface Section {
  readonly name: string
  readonly title: string
  readonly Page: ComponentType<PageProps>
  /** True if the section is not in the menu. Other pages then link to it. */
  readonly isUnlisted?: true
}

type PageModule = Promise<{ readonly default: ComponentType<PageProps> }>

/** @param sheet name of the style sheet of the section; null if it has none */
const page = (load: () => PageModule, sheet: string | null = null): ComponentType<PageProps> =>
  lazy(async () => {
    const [module] = await Promise.all([load(), sheet === null ? null : readSheet(sheet)])
    return module.default
  })

/** Adds a style sheet to the page. Resolves when the style sheet is loaded. */
const readSheet = (name: string): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const link = Object.assign(document.createElement('link'), {
      rel: 'stylesheet',
      href: `/console/${name}.css`,
    })
    link.addEventListener('load', resolve)
    link.addEventListener('error', reject)
    document.head.append(link)
  })

/** All sections of the console, in the order of the menu. */
const sections: readonly Section[] = [
  {
    name: 'overview',
    title: 'Overview',
    Page: page(() => import('./overview/overview-page.tsx'), 'overview'),
  },
  {
    name: 'documents',
    title: 'Documents',
    Page: page(() => import('./documents/documents-page.tsx'), 'documents'),
  },
  {
    name: 'connections',
    title: 'Connections',
    Page: page(() => import('./connections/connections-page.tsx')),
  },
  {
    name: 'connect',
    title: 'Connect',
    isUnlisted: true,
    Page: page(() => import('./connect/connect-page.tsx')),
  },
  {
    name: 'presence',
    title: 'Who is where',
    isUnlisted: true,
    Page: page(() => import('./presence/presence-page.tsx')),
  },
  { name: 'folders', title: 'Folders', Page: page(() => import('./folders/folders-page.tsx')) },
  { name: 'users', title: 'Users and groups', Page: page(() => import('./users/users-page.tsx')) },
  { name: 'activity', title: 'Activity', Page: page(() => import('./activity/activity-page.tsx')) },
  { name: 'webhooks', title: 'Webhooks', Page: page(() => import('./webhooks/webhooks-page.tsx')) },
  { name: 'deleted', title: 'Deleted', Page: page(() => import('./deleted/deleted-page.tsx')) },
  { name: 'keys', title: 'Keys and domains', Page: page(() => import('./keys/keys-page.tsx')) },
]

interface LinkOfferProps {
  /** Credentials that the link contains. */
  readonly offered: ConsoleCredentials
  /** API key with which this tab is signed in; null if the visitor is not signed in. */
  readonly currentKey: string | null
  readonly onAccept: () => void
  readonly onDecline: () => void
}

/**
 * Asks the visitor whether the link may sign in. Without this question, a stranger's link could sign a
 * visitor in with the API key of the stranger (login CSRF). The visitor would then store content there. Each
 * tab asks, because each tab has its own session.
 */
const LinkOffer = ({ offered, currentKey, onAccept, onDecline }: LinkOfferProps) => (
  <main class="sign-in">
    <h1>Sign in by this link?</h1>
    <p>
      The link signs in to <strong>{location.host}</strong> with the API key{' '}
      <code class="offered-key">{offered.apiKey}</code>. Continue only if you know this key or printed the
      link yourself.
    </p>
    {currentKey !== null && (
      <p>
        This tab is signed in with the API key <code>{currentKey}</code>. The link replaces it.
      </p>
    )}
    <p class="row">
      <Button kind="primary" onClick={onAccept}>
        Sign in with this key
      </Button>
      <Button onClick={onDecline}>Do not sign in</Button>
    </p>
  </main>
)

/** Shows the sign-in page. If the user is signed in, shows the current page of the session instead. */
export function App() {
  // Runs first, so that the credentials in a link are removed from the address before other code runs.
  const [offered, setOffered] = useState(takeCredentialsFromLink)
  const [credentials, setCredentials] = useState(loadCredentials)
  const enter = (given: ConsoleCredentials | null) => {
    if (given?.apiKey !== loadCredentials()?.apiKey) forgetValues()
    saveCredentials(given)
    setCredentials(given)
  }
  // Handles a sign-in link that is opened in a tab of the console. The browser then changes only the address,
  // and does not load the page again.
  useEffect(() => {
    const follow = () => {
      const brought = takeCredentialsFromLink()
      if (brought !== null) setOffered(brought)
    }
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  const api = useMemo(() => (credentials === null ? null : new ApiClient(credentials)), [credentials])
  if (offered !== null) {
    const decide = (isAccepted: boolean) => {
      if (isAccepted) enter(offered)
      setOffered(null)
    }
    return (
      <LinkOffer
        offered={offered}
        currentKey={credentials === null ? null : (credentials.apiKey ?? 'none')}
        onAccept={() => decide(true)}
        onDecline={() => decide(false)}
      />
    )
  }
  if (api === null) return <SignIn onSignedIn={enter} />
  return (
    <ApiContext.Provider value={api}>
      <SignInContext.Provider value={enter}>
        {/* The key changes with the API key, so that all pages read their data again. */}
        <Shell key={api.credentials.apiKey ?? ''} onSignOut={() => enter(null)} />
      </SignInContext.Provider>
    </ApiContext.Provider>
  )
}

/** Returns the organization and the document that an address selects; null if it selects none. */
function chosenIn(name: string, [organizationId, second]: Route) {
  if (organizationId === undefined || second === 'log') return null
  switch (name) {
    case 'documents':
    case 'connect':
      return { organizationId, documentId: second }
    case 'folders':
    case 'users':
    case 'activity':
      return organizationId === sessionValues().organizationId
        ? null
        : { organizationId, documentId: undefined }
    default:
      return null
  }
}

function Shell({ onSignOut }: { readonly onSignOut: () => void }) {
  const [name = 'overview', ...rest] = useRoute()
  const section = sections.find((each) => each.name === name)
  const title = section?.title ?? 'Not found'
  const chosen = chosenIn(name, rest)
  // Before the menu and the page are rendered, because both use it.
  if (chosen !== null) keepValues(chosen)
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
        {section === undefined ? <NotFound /> : <section.Page key={name} rest={rest} />}
      </main>
    </div>
  )
}

/** Returns the address of the document that was open last, or of the list of documents. */
function documentsHref(): string {
  const { organizationId, documentId } = sessionValues()
  if (organizationId === undefined) return href('documents')
  return href('documents', organizationId, ...(documentId === undefined ? [] : [documentId]))
}

const listedSections = sections.filter(({ isUnlisted }) => isUnlisted !== true)

function Menu({ current, onSignOut }: { readonly current: string; readonly onSignOut: () => void }) {
  const links = useRef<HTMLUListElement>(null)
  // The menu of a phone shows only a part of the links.
  useEffect(() => {
    links.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [current])
  return (
    <header class="menu">
      <a class="brand" href={href('overview')}>
        <img src="/console/icon.svg" alt="" width="28" height="28" />
        Weft
      </a>
      <nav aria-label="Sections">
        <ul ref={links}>
          {listedSections.map(({ name, title }) => (
            <li key={name}>
              <a
                href={name === 'documents' && name !== current ? documentsHref() : href(name)}
                aria-current={name === current ? 'page' : undefined}
              >
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
}

const NotFound = () => (
  <>
    <h1>Not found</h1>
    <p>
      There is nothing at this address. <a href={href('overview')}>Overview</a>
    </p>
  </>
)

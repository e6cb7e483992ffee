import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { PageProps, Route } from './routing/route.ts'
import { Button } from './ui/controls.tsx'
import { Notice } from './ui/notice.tsx'

interface Section {
  readonly name: string
  readonly title: string
  /** Loads the code of the section. Called when the section is shown for the first time. */
  readonly load: () => Promise<{ readonly default: ComponentType<PageProps> }>
  /** True if the section is not in the menu. Other pages then link to it. */
  readonly isUnlisted?: true
  /** True if the section has its own style sheet. The file has the name of the section. */
  readonly hasSheet?: true
}

/** All sections of the console, in the order of the menu. */
export const sections: readonly Section[] = [
  {
    name: 'overview',
    title: 'Overview',
    load: () => import('./overview/overview-page.tsx'),
    hasSheet: true,
  },
  {
    name: 'documents',
    title: 'Documents',
    load: () => import('./documents/documents-page.tsx'),
    hasSheet: true,
  },
  {
    name: 'connections',
    title: 'Connections',
    load: () => import('./connections/connections-page.tsx'),
  },
  {
    name: 'connect',
    title: 'Connect',
    isUnlisted: true,
    load: () => import('./connect/connect-page.tsx'),
  },
  { name: 'folders', title: 'Folders', load: () => import('./folders/folders-page.tsx') },
  { name: 'users', title: 'Users and groups', load: () => import('./users/users-page.tsx') },
  { name: 'activity', title: 'Activity', load: () => import('./activity/activity-page.tsx') },
  { name: 'webhooks', title: 'Webhooks', load: () => import('./webhooks/webhooks-page.tsx') },
  { name: 'keys', title: 'Keys and domains', load: () => import('./keys/keys-page.tsx') },
]

async function read({ name, load, hasSheet }: Section): Promise<ComponentType<PageProps>> {
  const [module] = await Promise.all([load(), hasSheet ? readSheet(name) : null])
  return module.default
}

/** Adds the style sheet of a section to the page. Resolves when the style sheet is loaded. */
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

const loaded = new Map<string, ComponentType<PageProps>>()

/** Shows the page of a section when the code of the section is loaded. */
export function SectionPage({ section, rest }: { readonly section: Section; readonly rest: Route }) {
  const { name } = section
  const [failed, setFailed] = useState(false)
  const [, setCount] = useState(0)
  useEffect(() => {
    if (loaded.has(name)) return
    setFailed(false)
    read(section).then(
      (page) => {
        loaded.set(name, page)
        setCount((count) => count + 1)
      },
      () => setFailed(true),
    )
  }, [name])
  const Page = loaded.get(name)
  if (Page !== undefined) return <Page rest={rest} />
  return failed ? <Unread /> : <p class="hint">Reading…</p>
}

/**
 * Shows that the code of a section could not be loaded. Either the server is not available, or a newer
 * version of the server has other files. The user must then reload the whole console.
 */
const Unread = () => (
  <Notice kind="bad">
    The server did not return this page. The server may have been updated, or may not be running.{' '}
    <Button onClick={() => location.reload()}>Reload</Button>
  </Notice>
)

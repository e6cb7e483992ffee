import type { ComponentType } from 'preact'
import type { PageProps } from './routing/route.ts'
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
export const sections: readonly Section[] = [
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
  { name: 'folders', title: 'Folders', Page: page(() => import('./folders/folders-page.tsx')) },
  { name: 'users', title: 'Users and groups', Page: page(() => import('./users/users-page.tsx')) },
  { name: 'activity', title: 'Activity', Page: page(() => import('./activity/activity-page.tsx')) },
  { name: 'webhooks', title: 'Webhooks', Page: page(() => import('./webhooks/webhooks-page.tsx')) },
  { name: 'keys', title: 'Keys and domains', Page: page(() => import('./keys/keys-page.tsx')) },
]

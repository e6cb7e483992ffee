/** A page of the documentation: `src/docs/<name>.md` in the repository, `/docs/<name>` on a server. */
export interface Chapter {
  readonly name: string
  /** Its first heading. */
  readonly title: string
}

/** The page at `/docs`. The repository shows it for the folder. */
export const index: Chapter = { name: 'README', title: 'Weft' }

/** Each error code also has a page of its own. */
export const errorChapter: Chapter = { name: 'errors', title: 'Errors' }

/** Chapters for one kind of reader. */
export interface ChapterGroup {
  readonly title: string
  /** In reading order. */
  readonly chapters: readonly Chapter[]
}

export const chapterGroups: readonly ChapterGroup[] = [
  {
    title: 'Get started',
    chapters: [
      { name: 'concepts', title: 'Concepts' },
      { name: 'editors', title: 'Connect an editor (y-websocket, Hocuspocus, Y-Sweet)' },
      { name: 'console', title: 'Admin console' },
      { name: 'commands', title: 'Command-line reference' },
      { name: 'guarantees', title: 'Guarantees' },
      { name: 'comparison', title: 'Comparison with other servers' },
    ],
  },
  {
    title: 'Tutorials',
    chapters: [
      { name: 'tutorial-tiptap-nextjs', title: 'Tutorial: Tiptap and Next.js' },
      { name: 'tutorial-agent', title: 'Tutorial: an agent that edits' },
      { name: 'tutorial-hocuspocus', title: 'Tutorial: migrate from Hocuspocus' },
      { name: 'tutorial-production', title: 'Tutorial: first production deployment' },
    ],
  },
  {
    title: 'Build',
    chapters: [
      { name: 'rest', title: 'REST API overview' },
      errorChapter,
      { name: 'replacement', title: 'Replace content' },
      { name: 'idempotency', title: 'Idempotent requests' },
      { name: 'versions', title: 'Version history' },
      { name: 'presence', title: 'Presence and awareness' },
      { name: 'comments', title: 'Comments, activity feed, notifications' },
      { name: 'webhooks', title: 'Webhooks' },
      { name: 'decisions', title: 'Decision suggestions' },
    ],
  },
  {
    title: 'Users and security',
    chapters: [
      { name: 'permissions', title: 'Authentication and permissions' },
      { name: 'userdata', title: 'User data export and erasure (GDPR)' },
      { name: 'audit', title: 'Audit log' },
      { name: 'security', title: 'Security model' },
      { name: 'encryption', title: 'Encryption at rest' },
    ],
  },
  {
    title: 'Operate',
    chapters: [
      { name: 'operations', title: 'Deployment and operations' },
      { name: 'configuration', title: 'Configuration reference' },
      { name: 'limits', title: 'Limits and quotas' },
      { name: 'proxies', title: 'TLS and reverse proxies' },
      { name: 'corruption', title: 'Data corruption and recovery' },
      { name: 'postgres', title: 'PostgreSQL storage' },
      { name: 'cluster', title: 'Clustering' },
    ],
  },
  {
    title: 'Migrate',
    chapters: [
      { name: 'migration', title: 'Migrate from another server' },
      { name: 'import-export', title: 'Import, export and live mirror' },
    ],
  },
]

/** In reading order. */
export const chapters: readonly Chapter[] = chapterGroups.flatMap((group) => group.chapters)

/** Pages that are generated from the operations. They have no file. */
export const referenceChapter: Chapter = { name: 'reference', title: 'API reference' }

/** Images of chapters, in `src/docs/pictures`. `npm run pictures` takes them. */
export const pictures: readonly string[] = ['overview.png', 'two-windows.png', 'weft.png']

/** The path of a page on a server. */
export const pathOf = ({ name }: Chapter): string => (name === index.name ? '/docs' : `/docs/${name}`)

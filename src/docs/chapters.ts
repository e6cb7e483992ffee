/** A page of the documentation: `src/docs/<name>.md` in the repository, `/docs/<name>` on a server. */
export interface Chapter {
  readonly name: string
  /** First heading of the page. */
  readonly title: string
}

/** The page at `/docs`. In the repository, it is the README of the folder. */
export const index: Chapter = { name: 'README', title: 'Weft' }

/** The chapter with the list of all error codes. Each error code also has a separate page. */
export const errorChapter: Chapter = { name: 'errors', title: 'Errors' }

/** The API reference. Its pages are generated from the operations, and have no file in the repository. */
export const referenceChapter: Chapter = { name: 'reference', title: 'API reference' }

/** Chapters for one kind of reader. */
export interface ChapterGroup {
  readonly title: string
  /** Chapters in reading order. */
  readonly chapters: readonly Chapter[]
}

/** All groups in reading order. */
export const chapterGroups: readonly ChapterGroup[] = [
  {
    title: 'Start',
    chapters: [
      { name: 'console', title: 'Admin console' },
      { name: 'comparison', title: 'Comparison with other servers' },
      { name: 'migration', title: 'Migrate from another server' },
    ],
  },
  {
    title: 'Guides: front end',
    chapters: [
      { name: 'editors', title: 'Connect an editor (y-websocket, Hocuspocus, Y-Sweet)' },
      { name: 'presence', title: 'Presence and awareness' },
      { name: 'comments', title: 'Comments, notifications, decisions' },
    ],
  },
  {
    title: 'Guides: backend and AI',
    chapters: [
      { name: 'rest', title: 'REST API overview' },
      { name: 'library', title: 'Use Weft as a library' },
      { name: 'client', title: 'Client packages' },
      { name: 'permissions', title: 'Authentication and permissions' },
      { name: 'edits', title: 'Edit and replace content' },
      { name: 'agents', title: 'Agents' },
      { name: 'formats', title: 'Formats and schemas' },
      { name: 'history', title: 'History, authors, suggestions' },
      { name: 'webhooks', title: 'Webhooks, change feed, callbacks' },
    ],
  },
  {
    title: 'Concepts',
    chapters: [
      { name: 'concepts', title: 'Concepts' },
      { name: 'guarantees', title: 'Guarantees' },
      { name: 'security', title: 'Security model' },
    ],
  },
  {
    title: 'Reference',
    chapters: [
      referenceChapter,
      errorChapter,
      { name: 'limits', title: 'Limits and quotas' },
      { name: 'configuration', title: 'Configuration reference' },
      { name: 'commands', title: 'Command-line reference' },
    ],
  },
  {
    title: 'Operating',
    chapters: [
      { name: 'deployment', title: 'Deployment' },
      { name: 'operations', title: 'Operations' },
      { name: 'compatibility', title: 'Compatibility' },
      { name: 'backups', title: 'Backups, corruption, encryption' },
      { name: 'troubleshooting', title: 'Troubleshooting' },
      { name: 'monitoring', title: 'Audit log, usage, traces' },
      { name: 'cluster', title: 'PostgreSQL and clusters' },
    ],
  },
  {
    title: 'Contributing',
    chapters: [{ name: 'contributing', title: 'Contributing' }],
  },
]

/** All pages of the documentation, in reading order. */
export const readingOrder: readonly Chapter[] = [index, ...chapterGroups.flatMap((group) => group.chapters)]

/** The pages that have a file, without the index. */
export const chapters: readonly Chapter[] = readingOrder.filter(
  (chapter) => chapter !== index && chapter !== referenceChapter,
)

/** File names of the images in chapters, in `src/docs/pictures`. `npm run pictures` creates these files. */
export const pictures: readonly string[] = ['overview.png', 'two-windows.png', 'weft.png']

/** Returns the path of a page on a server. */
export const pathOf = ({ name }: Chapter): string => (name === index.name ? '/docs' : `/docs/${name}`)

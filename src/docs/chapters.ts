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
    title: 'Host editors',
    chapters: [
      { name: 'concepts', title: 'Concepts' },
      { name: 'editors', title: 'Connect an editor (y-websocket, Hocuspocus, Y-Sweet)' },
      { name: 'client', title: 'Client packages' },
      { name: 'library', title: 'Use Weft as a library' },
      { name: 'permissions', title: 'Authentication and permissions' },
      { name: 'presence', title: 'Presence and awareness' },
      { name: 'comments', title: 'Comments, notifications, decisions' },
      { name: 'migration', title: 'Migrate from another server' },
    ],
  },
  {
    title: 'Write from a server or an agent',
    chapters: [
      { name: 'rest', title: 'REST API overview' },
      { name: 'edits', title: 'Edit and replace content' },
      { name: 'formats', title: 'Formats and schemas' },
      { name: 'agents', title: 'Agents' },
      { name: 'history', title: 'History, authors, suggestions' },
      { name: 'webhooks', title: 'Webhooks, change feed, callbacks' },
      referenceChapter,
      errorChapter,
    ],
  },
  {
    title: 'Measure',
    chapters: [
      { name: 'measure', title: 'Measure' },
      { name: 'guarantees', title: 'Guarantees' },
      { name: 'comparison', title: 'Comparison with other servers' },
      { name: 'limits', title: 'Limits and quotas' },
      { name: 'monitoring', title: 'Audit log, usage, traces' },
      { name: 'security', title: 'Security model' },
      { name: 'compatibility', title: 'Compatibility' },
    ],
  },
  {
    title: 'Operate',
    chapters: [
      { name: 'deployment', title: 'Deployment' },
      { name: 'operations', title: 'Operations' },
      { name: 'backups', title: 'Backups, corruption, encryption' },
      { name: 'cluster', title: 'PostgreSQL and clusters' },
      { name: 'configuration', title: 'Configuration reference' },
      { name: 'commands', title: 'Command-line reference' },
      { name: 'console', title: 'Admin console' },
      { name: 'troubleshooting', title: 'Troubleshooting' },
    ],
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

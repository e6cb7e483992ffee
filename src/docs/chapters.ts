/** A page of the documentation: `src/docs/<name>.md` in the repository, `/docs/<name>` at a server. */
export interface Chapter {
  readonly name: string
  /** As its first heading says. */
  readonly title: string
}

/** What `/docs` itself is: in the repository the page that is shown for the folder. */
export const index: Chapter = { name: 'README', title: 'Weft' }

/** Each of its codes has a page of its own, too. */
export const errorChapter: Chapter = { name: 'errors', title: 'Errors' }

/** In the order in which they are read. */
export const chapters: readonly Chapter[] = [
  { name: 'concepts', title: 'Concepts' },
  { name: 'rest', title: 'The REST service' },
  errorChapter,
  { name: 'idempotency', title: 'Calls that are made again' },
  { name: 'editors', title: 'Connecting editors' },
  { name: 'replacement', title: 'Replacing content' },
  { name: 'versions', title: 'Versions' },
  { name: 'permissions', title: 'Tokens and permissions' },
  { name: 'presence', title: 'Presence' },
  { name: 'comments', title: 'Comments, activities, notifications' },
  { name: 'webhooks', title: 'Webhooks' },
  { name: 'memory', title: 'Decision suggestion' },
  { name: 'userdata', title: 'One user’s data' },
  { name: 'console', title: 'The console' },
  { name: 'commands', title: 'The command line' },
  { name: 'migration', title: 'Migration' },
  { name: 'moving', title: 'Importing and exporting' },
  { name: 'operating', title: 'Operating' },
  { name: 'damage', title: 'Damaged stores' },
  { name: 'audit', title: 'The audit log' },
  { name: 'security', title: 'Security' },
  { name: 'proxies', title: 'TLS and reverse proxies' },
  { name: 'encryption', title: 'Encryption at rest' },
  { name: 'postgres', title: 'Documents in PostgreSQL' },
  { name: 'cluster', title: 'Several servers' },
  { name: 'limits', title: 'Limits' },
  { name: 'configuration', title: 'Configuration' },
]

/** Pages that are made of the operations, and are in no file. */
export const references: readonly Chapter[] = [
  { name: 'reference', title: 'API reference' },
  { name: 'api', title: 'Try the API' },
]

/** What chapters show, in `src/docs/pictures`; made by `npm run pictures`. */
export const pictures: readonly string[] = ['overview.png', 'weft.png']

/** Where a page is at a server. */
export const pathOf = ({ name }: Chapter): string => (name === index.name ? '/docs' : `/docs/${name}`)

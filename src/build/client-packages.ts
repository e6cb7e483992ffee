/** Sources of the entry points for pages and backends, by the names of their files in the package. */
export const clientEntryPoints = {
  client: 'src/client/rest/index.ts',
  provider: 'src/client/provider/index.ts',
  react: 'src/client/react/index.ts',
} as const

/** Sources of all entry points of the package. */
export const entryPoints = { server: 'src/server/library/index.ts', ...clientEntryPoints } as const

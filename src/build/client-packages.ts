/** A package for pages and backends, which is published beside the server. */
export interface ClientPackage {
  readonly name: string
  readonly description: string
  /** Source of its only entry point. */
  readonly source: string
  readonly dependencies: readonly string[]
  /** Packages that an application and its editors must share. */
  readonly peers: readonly string[]
}

const providerName = '@weft/provider'

/**
 * The published packages for pages and backends. Each is also an entry point of the package of the server, below its
 * name in this list. Their public names are only here and in the documentation.
 */
export const clientPackages = {
  client: {
    name: '@weft/client',
    description: 'Typed client for the REST API of Weft, for backends, edge runtimes and browsers',
    source: 'src/client/rest/index.ts',
    dependencies: [],
    peers: [],
  },
  provider: {
    name: providerName,
    description: 'Connects a Yjs document of a page to Weft: tokens, offline use, roles, presence',
    source: 'src/client/provider/index.ts',
    dependencies: ['lib0'],
    peers: ['y-protocols', 'yjs'],
  },
  react: {
    name: '@weft/react',
    description: 'Components and hooks of React for documents, presence and comments in Weft',
    source: 'src/client/react/index.ts',
    dependencies: [providerName],
    peers: ['react', 'y-protocols', 'yjs'],
  },
  suggestions: {
    name: '@weft/suggestions',
    description:
      'Shows the suggestions of users in the text of ProseMirror, Tiptap and BlockNote, and decides them',
    source: 'src/client/suggestions/index.ts',
    dependencies: [],
    peers: ['prosemirror-state', 'prosemirror-view', 'yjs'],
  },
} as const satisfies Readonly<Record<string, ClientPackage>>

/** Sources of the entry points for pages and backends, by the names of their files. */
export const clientEntryPoints = Object.fromEntries(
  Object.entries(clientPackages).map(([entry, { source }]) => [entry, source]),
)

/** Sources of all entry points of the package of the server. */
export const entryPoints = { server: 'src/server/library/index.ts', ...clientEntryPoints }

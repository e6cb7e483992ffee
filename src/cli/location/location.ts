import { type Command, Option } from 'commander'
import type { Catalog } from '../../capabilities/transfer/documents/catalog.ts'
import type { OnlineServer, OnlineWorkspace } from '../../capabilities/transfer/documents/rest-client.ts'
import type { ClientOptions } from '../../client/rest/client-options.ts'
import { ConfigError } from '../../core/config/read-config.ts'
import { readableTypes } from '../../core/content/content-type-names.ts'
import { restCredentialsOf, workspaceCredentialsOf } from '../../core/directory/tenants/credentials-file.ts'
import { threadJobMsOf } from '../../server/limits-from-config.ts'
import { configOf } from '../command-line/command-io.ts'
import { storeLocation, tenantOf } from './store-location.ts'

/** Flags that select a running server and its API key. */
export interface ServerFlags {
  readonly dataDir?: string
  readonly url?: string
  readonly apiKey?: string
}

/** Flags that select a server or a store, and the tenant of the documents. */
export interface LocationFlags extends ServerFlags {
  readonly workspace?: string
}

const formats = ['update', 'json', ...readableTypes] as const

export type ReadFormat = (typeof formats)[number]

export interface ReadingFlags {
  readonly format: ReadFormat
  readonly contentKey?: string
}

export const withLocationFlags = (command: Command): Command =>
  command
    .option(
      '--data-dir <directory>',
      'Data directory of the stopped server, instead of WEFT_URL and of the configured store (default: WEFT_DATA_DIR, else ./data); its credentials are used.',
    )
    .option('--url <url>', 'URL of a running server; the command then uses its REST API (default: WEFT_URL).')
    .option('--workspace <id>', 'Workspace (default: WEFT_WORKSPACE_ID, else that of the data directory).')
    .option('--api-key <key>', 'API key (default: WEFT_API_KEY, else that of the data directory).')

/** Adds the flags of a command that needs a running server. */
export const withServerFlags = (command: Command): Command =>
  command
    .option('--url <url>', 'URL of the running server (default: WEFT_URL).')
    .option('--api-key <key>', 'API key (default: WEFT_API_KEY, else that of the data directory).')
    .option(
      '--data-dir <directory>',
      'Data directory of the server, for its credentials (default: WEFT_DATA_DIR, else ./data).',
    )

export const formatOption = (description: string): Option =>
  new Option('--format <format>', description).choices([...formats])

export const withReadFlags = (command: Command): Command =>
  withContentKey(command.addOption(formatOption('Form of the content.').default('json')))

export const withContentKey = (command: Command): Command =>
  command.option('--content-key <name>', 'Name of the root (default: the only root, else `content`).')

/** Adds the calls of the client of the package, whose code is loaded with the first call. */
const withCalls = <T extends ClientOptions>(server: T): T & Pick<OnlineServer, 'send'> => ({
  ...server,
  async send(path, data) {
    const { sendOnce } = await import('../../client/rest/send-by-path.ts')
    return checkedOptions(() => sendOnce(server, path, data))
  },
})

/** Converts the error of invalid options to an error for the operator. @throws ConfigError */
export function checkedOptions<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof TypeError) throw new ConfigError(error.message)
    throw error
  }
}

const configFor = ({ dataDir }: ServerFlags) => configOf({ dataDir }).config

/**
 * Returns the URL of the selected running server. Returns undefined if `--data-dir` selects a stopped server,
 * or if no URL is given.
 */
const urlOf = ({ url, dataDir: data }: LocationFlags): string | undefined =>
  url ?? (data === undefined ? process.env.WEFT_URL : undefined)

/**
 * Returns the selected running server; null if the flags select a stopped server.
 * @throws ConfigError
 */
export async function onlineServerOf(flags: LocationFlags): Promise<OnlineServer | null> {
  const url = urlOf(flags)
  return url === undefined ? null : onlineServerAt(url, flags)
}

/**
 * Returns the running server for a command that needs a running server.
 * @throws ConfigError
 */
export const requireServer = async (flags: ServerFlags): Promise<OnlineServer> =>
  onlineServerAt(requireUrl(flags), flags)

/**
 * Returns the running server for a command that reads a workspace.
 * @throws ConfigError
 */
export async function requireWorkspace(flags: Omit<LocationFlags, 'apiKey'>): Promise<OnlineWorkspace> {
  const url = requireUrl(flags)
  return withCalls({ url, ...(await workspaceCredentialsOf(configFor(flags), flags)) })
}

const onlineServerAt = async (url: string, flags: ServerFlags): Promise<OnlineServer> =>
  withCalls({ url: checkedUrl(url), ...(await restCredentialsOf(configFor(flags), flags)) })

/** Returns the URL of the selected running server. @throws ConfigError */
export function requireUrl({ url = process.env.WEFT_URL }: Pick<ServerFlags, 'url'>): string {
  if (url !== undefined) return checkedUrl(url)
  throw new ConfigError('the URL of a running server is missing', {
    hint: 'name it: --url URL, or WEFT_URL',
  })
}

/** Returns the URL of a server if it is valid. @throws ConfigError */
export function checkedUrl(url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url
  throw new ConfigError(`${JSON.stringify(url)} is not a URL; expected a URL such as http://localhost:8787`)
}

/** Opens the catalog of the selected location, runs `work`, and closes the catalog. */
export async function withCatalog<T>(
  flags: LocationFlags,
  work: (catalog: Catalog) => Promise<T>,
): Promise<T> {
  const catalog = await openCatalog(flags)
  try {
    return await work(catalog)
  } finally {
    await catalog.close()
  }
}

/** Opens the catalog. Loads its code only when it is needed. */
async function openCatalog(flags: LocationFlags): Promise<Catalog> {
  const server = await onlineServerOf(flags)
  if (server !== null)
    return (await import('../../capabilities/transfer/documents/catalog-online.ts')).onlineCatalog(server)
  const { config } = configOf({})
  const limits = {
    documentBytesMax: config.maxDocumentBytes,
    documentMsMax: threadJobMsOf(config),
    defaultAccess: config.defaultAccess,
  }
  const tenant = await tenantOf(configFor(flags), flags)
  return (await import('../../capabilities/transfer/documents/catalog-offline.ts')).offlineCatalog(
    storeLocation(flags.dataDir),
    tenant,
    limits,
  )
}

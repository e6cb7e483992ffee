import { type Command, Option } from 'commander'
import { ConfigError } from '../config/read.ts'
import type { StorePlace } from '../storage/stopped.ts'
import type { Catalogue } from '../transfer/catalogue.ts'
import type { ServingServer } from '../transfer/serving.ts'
import { callKeyOf, tenantOf } from './credentials.ts'
import { configOf } from './options.ts'
import { storePlace } from './store-place.ts'

/** Where the documents are, and whose. */
export interface PlaceFlags {
  readonly data?: string
  readonly url?: string
  readonly workspace?: string
  readonly apiKey?: string
}

export type Format = 'update' | 'json' | 'text' | 'xml'

export interface ReadingFlags {
  readonly format: Format
  readonly contentKey?: string
}

export const withPlace = (command: Command): Command =>
  command
    .option('--data <directory>', 'Data directory of the stopped server; its credentials are used.')
    .option('--url <url>', 'The server that serves, instead of WEFT_URL; then its REST API is used.')
    .option('--workspace <id>', 'Workspace, instead of that of the data directory.')
    .option('--api-key <key>', 'API key, instead of that of the data directory.')

export const withReading = (command: Command, format: Format): Command =>
  command
    .addOption(
      new Option('--format <format>', 'Form of the content.')
        .choices(['update', 'json', 'text', 'xml'])
        .default(format),
    )
    .option(
      '--content-key <name>',
      'Name of the shared type; `content`, or the only one there is, unless given.',
    )

const configFor = ({ data }: PlaceFlags) => configOf({ data }).config

/** Null: the server is stopped. @throws ConfigError */
export async function serverOf(flags: PlaceFlags): Promise<ServingServer | null> {
  const url = flags.url ?? process.env.WEFT_URL
  if (url === undefined) return null
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new ConfigError(`${JSON.stringify(url)} is no URL such as http://localhost:8787`)
  return { url, ...(await callKeyOf(configFor(flags), flags)) }
}

export const placeOf = ({ data }: PlaceFlags): StorePlace => storePlace(data)

export const ownerOf = (flags: PlaceFlags) => tenantOf(configFor(flags), flags)

/** Opens what is meant, and closes it afterwards. */
export async function withCatalogue<T>(
  flags: PlaceFlags,
  work: (catalogue: Catalogue) => Promise<T>,
): Promise<T> {
  const catalogue = await openCatalogue(flags)
  try {
    return await work(catalogue)
  } finally {
    await catalogue.close()
  }
}

/** Loaded when asked for. */
async function openCatalogue(flags: PlaceFlags): Promise<Catalogue> {
  const server = await serverOf(flags)
  if (server !== null) return (await import('../transfer/catalogue-rest.ts')).catalogueOfServing(server)
  const tenant = await ownerOf(flags)
  return (await import('../transfer/catalogue-stopped.ts')).catalogueOfStopped(placeOf(flags), tenant)
}

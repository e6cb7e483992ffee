import { readFile, writeFile } from 'node:fs/promises'
import { Command, Option } from 'commander'
import { ConfigError } from '../config/read.ts'
import type { Reading } from '../content/reading.ts'
import { contentTypeNames } from '../content/types.ts'
import { readCredentials } from '../directory/credentials-file.ts'
import { messageOf } from '../errors.ts'
import { type DocumentPath, documentAddress, type Tenant } from '../model/address.ts'
import { StorageError } from '../storage/problem.ts'
import { getStopped, parsePath, putStopped, type ShownDocument } from '../transfer/document.ts'
import {
  getServing,
  putContentServing,
  putUpdateServing,
  type ServingServer,
} from '../transfer/document-rest.ts'
import { configOf, print } from './options.ts'

type Format = 'update' | 'json' | 'text' | 'xml'

interface Flags {
  readonly data?: string
  readonly url?: string
  readonly workspace?: string
  readonly apiKey?: string
  readonly format: Format
  readonly contentKey?: string
}

interface GetFlags extends Flags {
  readonly out?: string
}

interface PutFlags extends Flags {
  readonly type?: string
}

/** `weft doc get` and `weft doc put`: one document, of a stopped server or of one that serves. */
export function docCommand(): Command {
  const get = withPlace(new Command('get'), 'json')
    .description(
      'Print one document: as JSON what `doc put` takes, or its Yjs state, or the text or XML of a root.',
    )
    .argument('<address>', 'organization/document/editor, each percent-encoded.')
    .option('--out <file>', 'File to write; it must not be there.')
    .action(async (address: string, flags: GetFlags) => {
      const shown = await read(parsePath(address), flags)
      await write(rendered(shown, flags.format), flags.out)
    })
  const put = withPlace(new Command('put'), 'update')
    .description(
      'Merge a Yjs update into a document, or replace what a root holds; makes the document if need be.',
    )
    .argument('<address>', 'organization/document/editor, each percent-encoded.')
    .argument('<file>', 'What `doc get` prints, or with --type the content alone.')
    .addOption(new Option('--type <type>', 'Of the content in a JSON file.').choices([...contentTypeNames]))
    .action(async (address: string, file: string, flags: PutFlags) => {
      const outcome = await store(parsePath(address), await readInput(file), flags)
      print(outcome === 'there' ? 'all of it was there already' : 'written')
    })
  return new Command('doc').description('Read or write one document.').addCommand(get).addCommand(put)
}

function withPlace(command: Command, format: Format): Command {
  return command
    .addOption(
      new Option('--format <format>', 'Form of the content.')
        .choices(['update', 'json', 'text', 'xml'])
        .default(format),
    )
    .option(
      '--content-key <name>',
      'Name of the shared type; `content`, or the only one there is, unless given.',
    )
    .option('--data <directory>', 'Data directory of the stopped server; its credentials are used.')
    .option('--url <url>', 'The server that serves, instead of WEFT_URL; then its REST API is used.')
    .option('--workspace <id>', 'Workspace, instead of that of the data directory.')
    .option('--api-key <key>', 'API key, instead of that of the data directory.')
}

async function read(path: DocumentPath, flags: Flags): Promise<ShownDocument> {
  const reading: Reading = { format: flags.format, contentKey: flags.contentKey }
  const server = await serverOf(flags)
  if (server !== null) return getServing(server, path, reading)
  return getStopped(directoryOf(flags), documentAddress(await tenantOf(flags), path), reading)
}

async function store(path: DocumentPath, bytes: Buffer, flags: PutFlags): Promise<string> {
  const server = await serverOf(flags)
  if (server !== null && flags.format === 'update') return putUpdateServing(server, path, bytes)
  if (server !== null) return putContentServing(server, path, contentOf(bytes, flags))
  if (flags.format === 'update') {
    const { maxDocumentBytes: documentBytesMax, allowSubdocuments } = configOf({}).config
    const address = documentAddress(await tenantOf(flags), path)
    return putStopped(directoryOf(flags), address, bytes, { documentBytesMax, allowSubdocuments })
  }
  throw new ConfigError('the server is needed to make JSON, text or XML a change of a document: --url')
}

const directoryOf = ({ data }: Flags): string => data ?? configOf({}).config.data

/** Configured, or those that the server has kept. */
async function credentialsOf(flags: Flags) {
  const { config } = configOf({})
  const kept = (await readCredentials(directoryOf(flags))) ?? {}
  return {
    workspaceId: flags.workspace ?? config.workspaceId ?? kept.workspaceId,
    apiKey: flags.apiKey ?? config.apiKey ?? kept.apiKey,
    authToken: config.authToken ?? kept.authToken,
  }
}

async function tenantOf(flags: Flags): Promise<Tenant> {
  const { workspaceId, apiKey } = await credentialsOf(flags)
  if (workspaceId !== undefined && apiKey !== undefined) return { workspaceId, apiKey }
  throw new ConfigError(`${directoryOf(flags)} has no credentials: name --workspace and --api-key`)
}

/** Null: the server is stopped. */
async function serverOf(flags: Flags): Promise<ServingServer | null> {
  const url = flags.url ?? process.env.WEFT_URL
  if (url === undefined) return null
  if (!URL.canParse(url)) throw new ConfigError(`${JSON.stringify(url)} is no URL`)
  const { apiKey, authToken } = await credentialsOf(flags)
  if (apiKey !== undefined && authToken !== undefined) return { url, apiKey, authToken }
  throw new ConfigError(
    `${directoryOf(flags)} has no credentials: set WEFT_API_KEY and WEFT_AUTH_TOKEN, or name the data directory`,
  )
}

function rendered({ type, contentKey, data }: ShownDocument, format: Format): string | Buffer {
  if (format === 'update') return Buffer.from(data as string, 'base64')
  return format === 'json' ? `${JSON.stringify({ type, contentKey, data }, null, 2)}\n` : (data as string)
}

async function write(content: string | Buffer, out: string | undefined): Promise<void> {
  if (out === undefined) {
    process.stdout.write(content)
    return
  }
  await writeFile(out, content, { flag: 'wx' }).catch((error: unknown) => {
    throw new StorageError(`${out} cannot be written: ${messageOf(error)}`)
  })
}

const readInput = (file: string): Promise<Buffer> =>
  readFile(file).catch((error: unknown) => {
    throw new StorageError(`${file} cannot be read: ${messageOf(error)}`)
  })

/** What a file holds that is no update. */
function contentOf(bytes: Buffer, { format, type, contentKey }: PutFlags): ShownDocument {
  const text = bytes.toString()
  if (format !== 'json') return { type: format, contentKey: contentKey ?? 'content', data: text }
  const json = parseJson(text)
  if (type !== undefined) return { type, contentKey: contentKey ?? 'content', data: json }
  const shown = json as Partial<ShownDocument> | null
  if (shown?.type === undefined || shown.data === undefined)
    throw new StorageError('the file holds no `type` and `data`: name the --type of its content')
  return { type: shown.type, contentKey: contentKey ?? shown.contentKey ?? 'content', data: shown.data }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new StorageError(`the file is no JSON: ${messageOf(error)}`, { cause: error })
  }
}

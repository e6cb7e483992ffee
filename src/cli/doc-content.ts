import { readFile, writeFile } from 'node:fs/promises'
import { Command, Option } from 'commander'
import { ConfigError } from '../config/read.ts'
import type { Reading } from '../content/reading.ts'
import { contentTypeNames } from '../content/types.ts'
import { messageOf } from '../errors.ts'
import { type DocumentPath, documentAddress } from '../model/address.ts'
import { StorageError } from '../storage/problem.ts'
import { getStopped, parsePath, putStopped, type ShownDocument } from '../transfer/document.ts'
import { getServing, putContentServing, putUpdateServing } from '../transfer/document-rest.ts'
import {
  type Format,
  ownerOf,
  type PlaceFlags,
  placeOf,
  type ReadingFlags,
  serverOf,
  withPlace,
  withReading,
} from './doc-place.ts'
import { configOf, print } from './options.ts'

interface Flags extends PlaceFlags, ReadingFlags {
  readonly json?: true
}

interface GetFlags extends Flags {
  readonly out?: string
}

interface PutFlags extends Flags {
  readonly type?: string
}

export const addressHelp = 'organization/document/editor, each percent-encoded.'

/** `weft doc get`. */
export function docGetCommand(): Command {
  return withPlace(withReading(new Command('get'), 'json'))
    .description(
      'Print one document: as JSON what `doc put` takes, or its Yjs state, or the text or XML of a root.',
    )
    .argument('<address>', addressHelp)
    .option('--out <file>', 'File to write; it must not be there.')
    .option('--json', 'Print for machines: one line of JSON.')
    .action(async (address: string, flags: GetFlags) => {
      const shown = await read(parsePath(address), flags)
      await write(flags.json ? `${JSON.stringify(shown)}\n` : rendered(shown, flags.format), flags.out)
    })
}

/** `weft doc put`. */
export function docPutCommand(): Command {
  return withPlace(withReading(new Command('put'), 'update'))
    .description(
      'Merge a Yjs update into a document, or replace what a root holds; makes the document if need be.',
    )
    .argument('<address>', addressHelp)
    .argument('<file>', 'What `doc get` prints, or with --type the content alone.')
    .addOption(new Option('--type <type>', 'Of the content in a JSON file.').choices([...contentTypeNames]))
    .option('--json', 'Print for machines.')
    .action(async (address: string, file: string, flags: PutFlags) => {
      const outcome = await store(parsePath(address), await readInput(file), flags)
      const changed = outcome !== 'there'
      if (flags.json) return print(JSON.stringify({ ok: true, changed }))
      print(changed ? 'written' : 'all of it was there already')
    })
}

async function read(path: DocumentPath, flags: Flags): Promise<ShownDocument> {
  const reading: Reading = { format: flags.format, contentKey: flags.contentKey }
  const server = await serverOf(flags)
  const { type, contentKey, data } =
    server !== null
      ? await getServing(server, path, reading)
      : await getStopped(placeOf(flags), documentAddress(await ownerOf(flags), path), reading)
  return { type, contentKey, data }
}

async function store(path: DocumentPath, bytes: Buffer, flags: PutFlags): Promise<string> {
  const server = await serverOf(flags)
  if (server !== null && flags.format === 'update') return putUpdateServing(server, path, bytes)
  if (server !== null) return putContentServing(server, path, contentOf(bytes, flags))
  if (flags.format === 'update') {
    const { maxDocumentBytes: documentBytesMax, allowSubdocuments } = configOf({}).config
    const address = documentAddress(await ownerOf(flags), path)
    return putStopped(placeOf(flags), address, bytes, { documentBytesMax, allowSubdocuments })
  }
  throw new ConfigError('the server is needed to make JSON, text or XML a change of a document: --url')
}

function rendered(shown: ShownDocument, format: Format): string | Buffer {
  if (format === 'update') return Buffer.from(shown.data as string, 'base64')
  return format === 'json' ? `${JSON.stringify(shown, null, 2)}\n` : (shown.data as string)
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

import { readFile, writeFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { Command, Option } from 'commander'
import { StorageError } from '../../capabilities/backups/storage/storage-error.ts'
import {
  type Catalog,
  type DocumentRoot,
  type PutReport,
  parsePath,
} from '../../capabilities/transfer/documents/catalog.ts'
import { errorMessage } from '../../core/base/errors.ts'
import { contentTypeNames } from '../../core/content/content-type-names.ts'
import type { DeltaInsert } from '../../core/content/delta/delta.ts'
import type { DocumentReading } from '../../core/content/read-document.ts'
import type { ContentTarget } from '../../core/content/replace.ts'
import type { DocumentPath } from '../../core/model/address.ts'
import { printResult } from '../command-line/command-io.ts'
import {
  formatOption,
  type LocationFlags,
  type ReadFormat,
  type ReadingFlags,
  withCatalog,
  withContentKey,
  withLocationFlags,
  withReadFlags,
} from '../location/location.ts'
import { checkUpdate, fileFormat, parseFileContent } from './file.ts'

interface Flags extends LocationFlags, ReadingFlags {
  readonly json?: true
}

interface GetFlags extends Flags {
  readonly out?: string
}

interface PutFlags extends LocationFlags, Pick<ReadingFlags, 'contentKey'> {
  readonly format?: ReadFormat
  readonly type?: string
  readonly json?: true
}

const addressHelp = 'organization/document/editor, each percent-encoded.'

export function docGetCommand(): Command {
  return withLocationFlags(withReadFlags(new Command('get')))
    .description(
      'Print one document: as JSON what `doc put` takes, or its Yjs state, or the content of a root in a format. ' +
        'Text with formatting is printed as JSON of the type `delta`.',
    )
    .argument('<address>', addressHelp)
    .option('--out <file>', 'File to write; it must not exist.')
    .option('--json', 'Print one line of JSON.')
    .action(async (address: string, flags: GetFlags) => {
      const path = parsePath(address)
      const found = await withCatalog(flags, (catalog) => read(catalog, path, flags))
      // Adds the type by which `doc put` recognizes a state.
      const shown = flags.format === 'update' ? { ...found, type: 'update' } : found
      await write(flags.json ? `${JSON.stringify(shown)}\n` : rendered(shown, flags.format), flags.out)
    })
}

export function docPutCommand(): Command {
  return withLocationFlags(withContentKey(new Command('put')))
    .description(
      'Merge a Yjs update into a document, or replace the content of a root; creates the document if necessary.',
    )
    .argument('<address>', addressHelp)
    .argument('[file]', 'Output of `doc get`, or with --type only the content; - is standard input.', '-')
    .addOption(
      formatOption(
        'Form of the file (default: by its extension .json, .xml, .html, .txt, or .md, which is `text`; else `json` if it is what `doc get` prints, else `update`).',
      ),
    )
    .addOption(
      new Option('--type <type>', 'Type of the content in a JSON file.').choices([...contentTypeNames]),
    )
    .option('--json', 'Print JSON.')
    .action(async (address: string, file: string, flags: PutFlags) => {
      const format = fileFormat(file, flags)
      const given = { ...flags, ...(format !== undefined && { format }) }
      const report = await store(parsePath(address), await readInput(file), given)
      printResult(flags.json ? JSON.stringify({ ok: true, ...report }) : describe(report))
    })
}

function describe({ created, changed, bytes, insertions, deletions }: PutReport): string {
  if (created && insertions === 0) return `created: ${bytes} bytes`
  if (!changed) return 'the document already has this update'
  if (insertions === undefined || deletions === undefined) return `written: ${bytes} bytes`
  return `written: ${insertions} inserted, ${deletions} deleted, ${bytes} bytes`
}

/**
 * Reads a root. Returns a text with formatting as a delta, because the type `text` loses formatting, which
 * `doc put` could not restore.
 */
async function read(
  catalog: Catalog,
  path: DocumentPath,
  { format, contentKey }: ReadingFlags,
): Promise<DocumentRoot> {
  const readAs = async (reading: DocumentReading): Promise<DocumentRoot> => {
    const { type, contentKey, data } = await catalog.content(path, reading)
    return { type, contentKey, data }
  }
  const shown = await readAs({ format, contentKey })
  if (format !== 'json' || shown.type !== 'text') return shown
  const delta = await readAs({ format: 'delta', contentKey: shown.contentKey })
  return isFormatted(delta.data) ? delta : shown
}

const isFormatted = (delta: unknown): boolean =>
  Array.isArray(delta) &&
  delta.some((op: DeltaInsert) => typeof op.insert !== 'string' || op.attributes !== undefined)

async function store(path: DocumentPath, bytes: Buffer, flags: PutFlags): Promise<PutReport> {
  const content = parseFileContent(bytes, flags)
  if (content === null && flags.format === undefined) checkUpdate(bytes)
  return withCatalog(flags, (catalog) => {
    if (content === null) return catalog.apply(path, bytes)
    return content.type === 'update' ? catalog.apply(path, stateOf(content)) : catalog.replace(path, content)
  })
}

function rendered(shown: DocumentRoot, format: ReadFormat): string | Buffer {
  if (format === 'update') return Buffer.from(shown.data as string, 'base64')
  const content = format === 'json' ? shown : shown.data
  return typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`
}

async function write(content: string | Buffer, out: string | undefined): Promise<void> {
  if (out === undefined) {
    process.stdout.write(content)
    return
  }
  await writeFile(out, content, { flag: 'wx' }).catch((error: unknown) => {
    throw new StorageError(`${out} cannot be written: ${errorMessage(error)}`)
  })
}

async function readInput(file: string): Promise<Buffer> {
  if (file === '-') return buffer(process.stdin)
  return readFile(file).catch((error: unknown) => {
    throw new StorageError(`${file} cannot be read: ${errorMessage(error)}`)
  })
}

/**
 * Decodes a state that `doc get --format update --json` printed.
 * @throws StorageError
 */
function stateOf({ data }: ContentTarget): Buffer {
  if (typeof data === 'string') return Buffer.from(data, 'base64')
  throw new StorageError(
    'the `data` of an update must be base64: use what `doc get --format update --json` prints',
  )
}

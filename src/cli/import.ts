import { Argument, Command, Option } from 'commander'
import type { DocumentImportResult, ImportSource } from '../capabilities/transfer/import-documents.ts'
import { type NameMapping, readNameMap } from '../capabilities/transfer/name-mapping.ts'
import { type UpdateEncoding, updateEncodings } from '../core/content/read-document.ts'
import type { DocumentPath } from '../core/model/address.ts'
import { threadJobMsOf } from '../server/limits-from-config.ts'
import { configOf, parseIdOption, printResult, showProgress } from './command-line/command-io.ts'
import { exitCodes } from './command-line/run-command.ts'
import { tenantOf } from './location/store-location.ts'

interface Flags {
  readonly dataDir?: string
  readonly config?: string
  readonly workspace?: string
  readonly apiKey?: string
  readonly organization?: string
  readonly editor: string
  readonly encoding?: UpdateEncoding
  readonly nameMap?: string
  readonly recreateDeleted?: true
  readonly dryRun?: true
  readonly json?: true
}

/**
 * Opens a source. Each source loads its own library when it is opened. `bytesMax`: maximum bytes of the updates of one
 * document
 */
type Open = (path: string, bytesMax: number, flags: Flags) => Promise<ImportSource>

const sources: Readonly<Record<string, Open>> = {
  'y-leveldb': async (path, bytesMax) =>
    (await import('../capabilities/transfer/sources/y-leveldb.ts')).openYLeveldb(path, bytesMax),
  'hocuspocus-sqlite': async (path, bytesMax) =>
    (await import('../capabilities/transfer/sources/hocuspocus-sqlite.ts')).openHocuspocusSqlite(
      path,
      bytesMax,
    ),
  updates: async (path, bytesMax, { encoding }) =>
    (await import('../capabilities/transfer/sources/updates.ts')).openUpdates(path, bytesMax, encoding),
}

/**
 * Creates the command `weft import`. It imports all accepted documents; its exit code is 1 if a document was
 * rejected.
 */
export const importCommand = (): Command =>
  new Command('import')
    .description(
      'Merge each document of another server into the document with its address in the store of a stopped Weft server; existing content stays.',
    )
    .addArgument(new Argument('<source>', 'Form of the documents.').choices(Object.keys(sources)))
    .argument(
      '<path>',
      'y-leveldb: a copy of its folder, because opening a LevelDB may rewrite its files. hocuspocus-sqlite: the database of @hocuspocus/extension-sqlite. updates: a folder of Yjs updates, one file, or lines of JSON (.jsonl).',
    )
    .addOption(
      new Option('--encoding <encoding>', 'Encoding of `updates`.').choices(updateEncodings).default('v1'),
    )
    .option(
      '--data-dir <directory>',
      'Data directory of the stopped server (default: WEFT_DATA_DIR, else ./data).',
    )
    .option('--config <file>', 'Configuration file (default: WEFT_CONFIG, else weft.config.json).')
    .option('--workspace <id>', 'Workspace (default: WEFT_WORKSPACE_ID, else that of credentials.json).')
    .option('--api-key <id>', 'API key (default: WEFT_API_KEY, else that of credentials.json).')
    .option(
      '--organization <id>',
      'Organization for names that are not organization/document/editor.',
      parseIdOption,
    )
    .option(
      '--editor <id>',
      'Editor for names that are not organization/document/editor.',
      parseIdOption,
      'main',
    )
    .option('--name-map <file>', 'File with lines of JSON: name, organizationId, documentId, editorId.')
    .option('--recreate-deleted', 'Create documents again that were deleted here.')
    .option('--dry-run', 'Write nothing; report the changes.')
    .option('--json', 'Print JSON.')
    .action((name: string, path: string, flags: Flags) => {
      const open = sources[name] as Open
      return run(name, (bytesMax) => open(path, bytesMax, flags), flags)
    })

/** Maximum bytes of the updates of a document, as a multiple of the maximum bytes of a document. */
const updatesPerDocument = 4

/** Runs an import. Loads the code of the import only when it is needed. */
async function run(
  name: string,
  open: (bytesMax: number) => Promise<ImportSource>,
  flags: Flags,
): Promise<void> {
  const { config } = configOf({ dataDir: flags.dataDir, config: flags.config })
  const naming = await namingOf(flags)
  const tenant = await tenantOf(config, flags)
  const { importInto, dryRunImport } = await import('../capabilities/transfer/import-documents.ts')
  const progress = showProgress(`import ${name}`, flags.json ? 'json' : 'text')
  const updatesBytesMax = updatesPerDocument * config.maxDocumentBytes
  const work = { open: () => open(updatesBytesMax), naming, onProgress: progress.at }
  const limits = {
    documentBytesMax: config.maxDocumentBytes,
    documentMsMax: threadJobMsOf(config),
    defaultAccess: config.defaultAccess,
  }
  const deleted = flags.recreateDeleted ? 'recreate' : 'refuse'
  const doing = flags.dryRun
    ? dryRunImport(work, limits)
    : importInto({ directory: config.dataDir, tenant }, work, { ...limits, deleted })
  const done = await doing.finally(progress.end)
  const how = flags.dryRun ? 'look' : 'write'
  printResult(flags.json ? importAsJson(done, how) : formatImport(done, how))
  if (done.problems.length > 0) process.exitCode = exitCodes.fault
}

/**
 * Returns the rules by which the names of documents become addresses.
 * @throws StorageError
 */
async function namingOf({ nameMap, organization, editor }: Flags): Promise<NameMapping> {
  return {
    map: nameMap === undefined ? new Map<string, DocumentPath>() : await readNameMap(nameMap),
    organizationId: organization ?? null,
    editorId: editor,
  }
}

/**
 * Maximum numbers of lines about rejected or unknown documents, and about addresses. `--json` prints all of
 * them.
 */
const linesMax = 50
const mappingLinesMax = 10

/** Describes the result of an import, or of a dry run. */
export function formatImport(done: DocumentImportResult, how: 'look' | 'write'): string {
  const { documents, problems, bytes, made, added, there } = done
  const refused = problems.map(({ name, problem }) => `${JSON.stringify(name)} is rejected: ${problem}`)
  const unknown = done.unknown.map((name) => `the map names ${JSON.stringify(name)}, which does not exist`)
  const taken = documents - problems.length
  if (how === 'look')
    return [
      ...firstLines(refused),
      ...firstLines(unknown),
      ...firstLines(mappingLines(done), mappingLinesMax),
      `${taken} of ${documents} documents would be imported (${bytes} bytes), ${problems.length} rejected; nothing was written`,
    ].join('\n')
  return [
    ...firstLines(refused),
    ...firstLines(unknown),
    `${taken} of ${documents} documents are in the store (${bytes} bytes): ${made} created, ${added} merged into existing ones, ${there} unchanged; ${problems.length} rejected`,
  ].join('\n')
}

function importAsJson(done: DocumentImportResult, how: 'look' | 'write'): string {
  const { made, added, there, mapping, ...both } = done
  const ok = done.problems.length === 0
  return JSON.stringify(
    how === 'look'
      ? { ok, dryRun: true, ...both, mapping }
      : { ok, dryRun: false, ...both, made, added, there },
  )
}

function firstLines(lines: readonly string[], max = linesMax): readonly string[] {
  if (lines.length <= max) return lines
  return [...lines.slice(0, max), `… and ${lines.length - max} more: see --json`]
}

function mappingLines({ mapping }: DocumentImportResult): readonly string[] {
  return mapping.map(({ name, organizationId, documentId, editorId }) => {
    const path = [organizationId, documentId, editorId].map(encodeURIComponent).join('/')
    return `${JSON.stringify(name)} → ${path}`
  })
}

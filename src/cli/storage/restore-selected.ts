import { mkdtempSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { BackupPart } from '../../capabilities/backups/storage/backup-file.ts'
import { restoreParts } from '../../capabilities/backups/storage/restore.ts'
import { StorageError } from '../../capabilities/backups/storage/storage-error.ts'
import { parseAddressIds } from '../../capabilities/transfer/documents/catalog.ts'
import type { OneRestored } from '../../capabilities/transfer/restore/restore-online.ts'
import type { RestoreSelection } from '../../capabilities/transfer/restore/restore-selection.ts'
import { escapeControls } from '../../core/base/text.ts'
import type { ByteRange } from '../../core/store/key-encoding.ts'
import { printResult } from '../command-line/command-io.ts'
import { exitCodes } from '../command-line/run-command.ts'
import { requireServer } from '../location/location.ts'
import { withRetries } from './retrying-server.ts'

/** Flags of a restore into a running server. */
export interface SelectionFlags {
  readonly to?: string
  readonly document?: string
  readonly folder?: string
  readonly organization?: string
  readonly dryRun?: true
  readonly wait?: number
  readonly apiKey?: string
  readonly fromApiKey?: string
  readonly dataDir?: string
  readonly json?: true
}

/** A backup file, or a backup of a repository. */
export interface BackupSource {
  readonly name: string
  /** Reads the parts; see `ReadBackup`. Without ranges, reads the whole backup. */
  readonly parts: (ranges?: readonly ByteRange[]) => AsyncIterable<BackupPart>
  /** Returns the numbers of chunks that were read so far, and of all chunks; null for a file. */
  readonly chunks: () => { readonly read: number; readonly total: number } | null
}

/** A running server, and the documents that it gets. */
interface OnlineTarget {
  readonly to: string
  readonly selection: RestoreSelection
}

const waitSecondsDefault = 300

function parseWait(text: string): number {
  const seconds = Number(text)
  if (!/^\d+$/.test(text) || seconds > 3600)
    throw new InvalidArgumentError('Expected a whole number from 0 to 3600.')
  return seconds
}

export const withSelectionFlags = (command: Command): Command =>
  command
    .option('--to <url>', 'URL of a running server, which gets only the selected documents.')
    .option('--document <address>', 'Document to restore: organization/document, each percent-encoded.')
    .option('--folder <address>', 'Folder to restore: organization/folder, each percent-encoded.')
    .option('--organization <id>', 'Organization to restore, percent-encoded.')
    .option('--dry-run', 'With --to: change nothing, and print what the restore would do.')
    .addOption(
      new Option(
        '--wait <seconds>',
        `With --to: seconds for which a call waits for a busy server (default: ${waitSecondsDefault}).`,
      ).argParser(parseWait),
    )
    .option('--api-key <key>', 'With --to: API key (default: WEFT_API_KEY, else that of the data directory).')
    .option('--from-api-key <key>', 'With --to: API key in the backup (default: that of the server).')
    .option(
      '--data-dir <directory>',
      'With --to: data directory of the server, for its credentials (default: WEFT_DATA_DIR, else ./data).',
    )

/**
 * Returns what the flags select; null if the whole backup is restored.
 * @throws StorageError if flags are missing, or if they exclude each other
 */
export function onlineTargetOf(flags: SelectionFlags, directory: string | undefined): OnlineTarget | null {
  const { to, document, folder, organization, dryRun, wait, apiKey, fromApiKey, dataDir } = flags
  if (to === undefined) {
    const others = [document, folder, organization, dryRun, wait, apiKey, fromApiKey, dataDir]
    if (others.every((flag) => flag === undefined)) return null
    throw new StorageError('the running server is missing', {
      hint: 'name its URL with --to; without --to, the whole backup is restored, into a new directory',
    })
  }
  if (directory !== undefined)
    throw new StorageError('--to restores into a running server, so no directory can be named')
  const selections: RestoreSelection[] = []
  if (document !== undefined) {
    const [organizationId = '', documentId = ''] = parseAddressIds(document, 'organization/document')
    selections.push({ type: 'document', organizationId, documentId })
  }
  if (folder !== undefined) {
    const [organizationId = '', folderId = ''] = parseAddressIds(folder, 'organization/folder')
    selections.push({ type: 'folder', organizationId, folderId })
  }
  if (organization !== undefined) {
    const [organizationId = ''] = parseAddressIds(organization, 'organization')
    selections.push({ type: 'organization', organizationId })
  }
  const [selection, ...others] = selections
  if (selection !== undefined && others.length === 0) return { to, selection }
  throw new StorageError('--to needs exactly one of --document, --folder and --organization', {
    hint: 'to restore everything, restore into a new directory',
  })
}

/**
 * Restores the selected documents of a backup into a running server, and prints the result of each. The exit code is 1
 * if one failed.
 * @throws StorageError, ConfigError
 */
export async function restoreSelected(
  { name, parts, chunks }: BackupSource,
  { to, selection }: OnlineTarget,
  { apiKey, fromApiKey, dataDir, dryRun, wait = waitSecondsDefault, json }: SelectionFlags,
  endProgress: () => void,
): Promise<void> {
  const configured = await requireServer({
    url: to,
    ...(apiKey !== undefined && { apiKey }),
    ...(dataDir !== undefined && { dataDir }),
  })
  const isDryRun = dryRun === true
  const counts = { created: 0, changed: 0, same: 0, failed: 0 }
  const restored: Record<string, number> = {}
  const leftOut: Record<string, number> = {}
  const { neededRanges, rangeFilter } = await import(
    '../../capabilities/transfer/restore/restore-selection.ts'
  )
  const { restoreIntoServer } = await import('../../capabilities/transfer/restore/restore-online.ts')
  await withTemporaryDirectory(async (directory, stop) => {
    const server = await withRetries(configured, {
      waitSeconds: wait,
      stop,
      onMessage: (message) => void process.stderr.write(`weft: ${message}\n`),
    })
    const read = (ranges: readonly ByteRange[]) => untilStopped(parts(ranges), stop)
    const { scope, ranges } = await neededRanges(read, fromApiKey ?? configured.apiKey, selection)
    const { madeAt } = await restoreParts(read(ranges), directory, name, rangeFilter(ranges))
    endProgress()
    for await (const each of restoreIntoServer(directory, { server, scope, selection, madeAt, isDryRun })) {
      counts[each.result] += 1
      addTo(restored, each.restored)
      addTo(leftOut, each.leftOut)
      printResult(json ? JSON.stringify(each) : lineOf(each))
      stop.throwIfAborted()
    }
    const ok = counts.failed === 0
    if (!ok) process.exitCode = exitCodes.fault
    const at = new Date(madeAt).toISOString()
    const { created, changed, same, failed } = counts
    const found = chunks()
    if (!json)
      for (const line of [sumLine('records restored', restored), sumLine('records not restored', leftOut)])
        printResult(line)
    printResult(
      json
        ? JSON.stringify({ ok, madeAt: at, dryRun: isDryRun, ...counts, restored, leftOut, chunks: found })
        : `${isDryRun ? 'dry run, nothing was changed: ' : ''}${created} created, ${changed} changed, ${same} same, ${failed} failed, from the backup of ${at}${found === null ? '' : `, of which ${found.read} of ${found.total} chunks were read`}`,
    )
  })
}

async function* untilStopped<T>(items: AsyncIterable<T>, stop: AbortSignal): AsyncGenerator<T> {
  for await (const item of items) {
    stop.throwIfAborted()
    yield item
  }
}

function lineOf({
  organizationId,
  documentId,
  result,
  editors,
  restored,
  leftOut,
  reason,
}: OneRestored): string {
  const address = [organizationId, documentId].map(encodeURIComponent).join('/')
  const names = editors.length === 0 ? '' : ` (${editors.join(', ')})`
  const [added, missing] = [listOf(restored), listOf(leftOut)]
  const records = `${added === '' ? '' : `, with ${added}`}${missing === '' ? '' : `, without ${missing}`}`
  return escapeControls(`${address}: ${result}${names}${records}${reason === undefined ? '' : `: ${reason}`}`)
}

const sumLine = (name: string, counts: object): string => `${name}: ${listOf(counts) || 'none'}`

/** Names of kinds of records that differ from the names of their members. */
const kindNames: Readonly<Record<string, string>> = {
  threads: 'comment threads',
  schemas: 'attached schemas',
  suggestions: 'decided suggestions',
  generations: 'contents replaced by prunes',
  settings: 'other access settings',
}

/** Returns the numbers that are not 0, such as `versions: 2, branches: 1`. */
const listOf = (counts: object): string =>
  Object.entries(counts)
    .filter(([, count]) => count !== 0)
    .map(([kind, count]) => `${kindNames[kind] ?? kind}: ${count}`)
    .join(', ')

function addTo(sum: Record<string, number>, counts: object): void {
  for (const [kind, count] of Object.entries(counts) as [string, number][])
    sum[kind] = (sum[kind] ?? 0) + count
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Calls `work` with a new directory in TMPDIR that only its owner can read. Removes the directory when `work` has ended.
 * A signal to this process aborts `stop`, and the process exits when `work` has ended: only then no thread of a store
 * creates files in the directory. After a second signal, the process exits immediately.
 */
async function withTemporaryDirectory<T>(
  work: (directory: string, stop: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController()
  let exitCode: number | null = null
  const onSignal = (signal: (typeof signals)[number]): void => {
    // The code that shells use for a process that a signal has ended.
    const code = 128 + constants.signals[signal]
    if (exitCode !== null) process.exit(code)
    exitCode = code
    stop.abort()
  }
  for (const signal of signals) process.on(signal, onSignal)
  const directory = mkdtempSync(join(tmpdir(), 'weft-restore-'))
  try {
    return await work(directory, stop.signal)
  } finally {
    rmSync(directory, { recursive: true, force: true })
    for (const signal of signals) process.off(signal, onSignal)
    if (exitCode !== null) process.exit(exitCode)
  }
}

import { stat } from 'node:fs/promises'
import { Command } from 'commander'
import { BackupDamageError, damageText } from '../../capabilities/backups/backup-damage.ts'
import { isAhead } from '../../capabilities/backups/manifest.ts'
import { isBucketUrl } from '../../capabilities/backups/open-object-store.ts'
import { locationName } from '../../capabilities/backups/storage/offline-store.ts'
import { partsOfFile, restoreParts } from '../../capabilities/backups/storage/restore.ts'
import { type Progress, StorageError } from '../../capabilities/backups/storage/storage-error.ts'
import { systemClock } from '../../core/base/clock.ts'
import { printResult, showProgress } from '../command-line/command-io.ts'
import { exitCodes } from '../command-line/run-command.ts'
import { storeLocation, storeOf } from '../location/store-location.ts'
import { openBackups } from './repository-commands.ts'
import {
  type BackupSource,
  onlineTargetOf,
  restoreSelected,
  type SelectionFlags,
  withSelectionFlags,
} from './restore-selected.ts'

interface Flags extends SelectionFlags {
  readonly keyFile?: string
  readonly at?: string
  readonly json?: true
}

export function restoreCommand(): Command {
  return withSelectionFlags(new Command('restore'))
    .description(
      'Create a data directory from a backup, or fill an empty schema of PostgreSQL. With --to, restore one document, ' +
        'folder or organization into a running server.',
    )
    .argument('<backup>', 'File, or backup repository: a folder, or s3://bucket/prefix.')
    .argument('[directory]', 'New or empty data directory (default: the configured store).')
    .option('--key-file <file>', 'Key of the repository.')
    .option('--at <time>', 'Newest backup at or before this time in ISO 8601 (default: the newest).')
    .option('--json', 'Print JSON; with --to, a line for each document, and then one for all.')
    .action(async (from: string, directory: string | undefined, flags: Flags) => {
      const target = onlineTargetOf(flags, directory)
      const progress = showProgress('restore', flags.json ? 'json' : 'text')
      await withBackup(from, flags, progress.at, (backup) =>
        target === null
          ? restoreAll(backup, directory, flags, progress.end)
          : restoreSelected(backup, target, flags, progress.end),
      ).finally(progress.end)
    })
}

async function restoreAll(
  { parts, name }: BackupSource,
  directory: string | undefined,
  { json }: Flags,
  endProgress: () => void,
): Promise<void> {
  const place = directory === undefined ? storeLocation(undefined) : storeOf(directory)
  const done = await restoreParts(parts(), place, name)
  endProgress()
  const madeAt = new Date(done.madeAt).toISOString()
  const ok = done.damaged.length === 0
  if (!ok) process.exitCode = exitCodes.fault
  if (json) return printResult(JSON.stringify({ ok, ...done, madeAt }))
  for (const each of done.damaged) printResult(`left out, because it is damaged in the backup: ${each}`)
  printResult(`restored ${done.records} records from the backup of ${madeAt} into ${locationName(place)}`)
}

/**
 * Calls `use` with a backup. If a needed part is damaged, prints all damages that were found.
 * @throws StorageError
 */
async function withBackup(
  from: string,
  { keyFile, at, json }: Flags,
  onProgress: Progress,
  use: (backup: BackupSource) => Promise<void>,
): Promise<void> {
  if (!(await isRepositoryPlace(from))) {
    if (at !== undefined || keyFile !== undefined)
      throw new StorageError(`${from} is not a backup repository, so it has no key and no times`)
    return use({ name: from, parts: () => partsOfFile(from, onProgress), chunks: () => null })
  }
  const repository = await openBackups(from, keyFile)
  const backup = await repository.open(at === undefined ? null : timeOf(at))
  const ahead = (await repository.list()).filter((each) => isAhead(each, systemClock.now()))
  if (ahead.length > 0) {
    const times = ahead.slice(0, 5).map((each) => new Date(each.at).toISOString())
    process.stderr.write(
      `weft: ${ahead.length} backups have times in the future, because a clock was wrong: ${times.join(', ')}; this restore uses the backup ${backup.id}; --at chooses another\n`,
    )
  }
  try {
    await use({
      name: backup.id,
      parts: (ranges) => backup.parts({ ranges, onProgress: (share) => onProgress('restore', share) }),
      chunks: () => ({ read: backup.chunksRead, total: backup.manifest.chunks.length }),
    })
  } catch (error) {
    if (!(error instanceof BackupDamageError)) throw error
    if (json) printResult(JSON.stringify({ ok: false, backup: backup.id, damages: error.damages }))
    else for (const damage of error.damages) process.stderr.write(`${damageText(damage)}\n`)
    throw error
  }
}

const isRepositoryPlace = async (from: string): Promise<boolean> =>
  isBucketUrl(from) || (await stat(from).catch(() => null))?.isDirectory() === true

/** @throws StorageError */
function timeOf(text: string): number {
  const ms = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/.test(text)
    ? Date.parse(text)
    : Number.NaN
  if (!Number.isNaN(ms)) return ms
  throw new StorageError(
    `${JSON.stringify(text)} is not a time; expected one with its time zone, such as 2026-01-31T12:00:00Z`,
  )
}

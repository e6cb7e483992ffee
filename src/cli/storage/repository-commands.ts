import { Command } from 'commander'
import { type BackupDamage, damageText } from '../../capabilities/backups/backup-damage.ts'
import { repositoryOf } from '../../capabilities/backups/backup-job.ts'
import { createBackupKeyFile, readBackupKey } from '../../capabilities/backups/object-sealer.ts'
import { type Pruned, parseKeep, pruneRepository } from '../../capabilities/backups/prune.ts'
import type { Repository } from '../../capabilities/backups/repository.ts'
import { type RepositoryCheck, verifyRepository } from '../../capabilities/backups/verify-repository.ts'
import { systemClock } from '../../core/base/clock.ts'
import { printResult, showProgress } from '../command-line/command-io.ts'
import { exitCodes } from '../command-line/run-command.ts'
import { requiredKeyFile } from './backup.ts'

interface Flags {
  readonly keyFile?: string
  readonly json?: true
}

export const backupsCommand = (): Command =>
  new Command('backups')
    .description('List, verify and delete the backups of a repository, and create its key.')
    .addCommand(listBackups())
    .addCommand(verifyBackups())
    .addCommand(pruneBackups())
    .addCommand(createKey())

const withRepository = (command: Command): Command =>
  command
    .argument('<repository>', 'Folder, or s3://bucket/prefix.')
    .option('--key-file <file>', 'Key of the repository.')
    .option('--json', 'Print JSON.')

/** Opens an existing repository. @throws StorageError, ConfigError */
export async function openBackups(to: string, keyFile: string | undefined): Promise<Repository> {
  const key = await readBackupKey(requiredKeyFile(keyFile))
  return repositoryOf({ to, key, clock: systemClock }, 'refuse')
}

function listBackups(): Command {
  return withRepository(new Command('list'))
    .description('List the backups, the newest first.')
    .action(async (to: string, { keyFile, json }: Flags) => {
      const repository = await openBackups(to, keyFile)
      const found = []
      for (const { id, at } of await repository.list()) {
        const read = await repository.readManifest(id)
        const time = new Date(at).toISOString()
        if (read.state === 'damaged') {
          found.push({ id, at: time, problem: read.problem })
          continue
        }
        const { pairs, bytes, chunks, version } = read.manifest
        found.push({ id, at: time, pairs, bytes, chunks: chunks.length, version })
      }
      if (json) return printResult(JSON.stringify(found))
      const lines = found.map((each) =>
        'problem' in each
          ? `${each.at}  ${each.id}  damaged: the manifest is ${each.problem}`
          : `${each.at}  ${each.id}  ${each.pairs} records (${each.bytes} bytes), Weft ${each.version}`,
      )
      printResult(lines.length === 0 ? `${to} has no backups` : lines.join('\n'))
    })
}

function verifyBackups(): Command {
  return withRepository(new Command('verify'))
    .description('Read and check all backups. Exit code 0: no damage; 1: damage; 2: they cannot be read.')
    .action(async (to: string, { keyFile, json }: Flags) => {
      const repository = await openBackups(to, keyFile)
      const progress = showProgress('backups', json ? 'json' : 'text')
      const found = await verifyRepository(repository, progress.at).finally(progress.end)
      const ok = found.damages.length === 0 && !found.isRootDamaged
      if (!ok) process.exitCode = exitCodes.fault
      printResult(json ? JSON.stringify({ ok, ...found }) : verifiedText(to, found))
    })
}

function verifiedText(to: string, found: RepositoryCheck): string {
  const { backups, chunks, storedBytes, damages, unusedChunks, isRootDamaged } = found
  const read = `${backups} backups, ${chunks} chunks (${storedBytes} bytes), ${unusedChunks} unused chunks`
  const lines = damages.map(damageText)
  if (isRootDamaged) lines.push('repository is missing or changed: the next backup writes it again')
  const result =
    lines.length === 0
      ? `${to} is sound: ${read}`
      : `${to} is damaged in ${lines.length} places; read: ${read}`
  return [...lines, result].join('\n')
}

interface PruneFlags extends Flags {
  readonly keep?: string
  readonly dropDamaged?: boolean
}

function pruneBackups(): Command {
  return withRepository(new Command('prune'))
    .description('Delete old backups, and the chunks that no backup needs.')
    .option('--keep <rule>', 'Backups to keep, such as 7d,4w,12m (default: all).')
    .option('--drop-damaged', 'Also delete backups whose manifest is damaged.')
    .action(async (to: string, { keyFile, json, keep, dropDamaged = false }: PruneFlags) => {
      const rule = keep === undefined ? null : parseKeep(keep)
      const pruned = await pruneRepository(await openBackups(to, keyFile), { keep: rule, dropDamaged })
      const ok = pruned.damages.length === 0
      if (!ok) process.exitCode = exitCodes.fault
      printResult(json ? JSON.stringify({ ok, ...pruned }) : prunedText(to, pruned))
    })
}

function prunedText(to: string, { kept, removed, removedChunks, removedBytes, damages }: Pruned): string {
  const done = `${to} has ${kept.length} backups; deleted ${removed.length} backups and ${removedChunks} chunks (${removedBytes} bytes)`
  return [...damages.map(damageText), ...leftText(damages), done].join('\n')
}

const leftText = (damages: readonly BackupDamage[]): readonly string[] =>
  damages.length === 0 ? [] : ['no chunk was deleted, because these backups may need it; see --drop-damaged']

function createKey(): Command {
  return new Command('key')
    .description('Create a key for backup repositories in a new file.')
    .argument('<file>', 'File to write; only its owner can read it.')
    .option('--json', 'Print JSON.')
    .action(async (file: string, { json }: Flags) => {
      await createBackupKeyFile(file)
      if (json) return printResult(JSON.stringify({ ok: true, file }))
      printResult(`${file} has a new key; keep a copy at another place: without it, the backups are lost`)
    })
}

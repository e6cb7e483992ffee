import { setTimeout as sleep } from 'node:timers/promises'
import { damageText } from '../../capabilities/backups/backup-damage.ts'
import {
  type BackupJob,
  type BackupJobResult,
  backupTimerMsMax,
  firstBackupAt,
  newestBackupAt,
  nextBackupAt,
  parseEvery,
  runBackupJob,
  withinInterval,
} from '../../capabilities/backups/backup-job.ts'
import { readBackupKey } from '../../capabilities/backups/backup-key.ts'
import { openObjectStore } from '../../capabilities/backups/open-object-store.ts'
import { parseKeep } from '../../capabilities/backups/retention.ts'
import { readBackupParts } from '../../capabilities/backups/storage/backup-file.ts'
import { StorageError } from '../../capabilities/backups/storage/storage-error.ts'
import { systemClock } from '../../core/base/clock.ts'
import { errorMessage } from '../../core/base/errors.ts'
import { readPackageVersion } from '../../core/base/package-version.ts'
import { printResult } from '../command-line/command-io.ts'
import { showProgress } from '../command-line/progress.ts'
import { exitCodes } from '../command-line/run-command.ts'

export interface RepositoryFlags {
  readonly to: string
  readonly keyFile?: string
  readonly every?: string
  readonly keep?: string
  readonly verify?: string
  readonly otherStore?: true
  readonly json?: true
}

/**
 * Makes a backup in a repository, or several at an interval until SIGINT or SIGTERM. The exit code is then 1 if the
 * last attempt failed.
 * @param source returns the bytes of a new backup
 */
export async function backUpToRepository(
  source: () => AsyncIterable<Uint8Array>,
  flags: RepositoryFlags,
): Promise<void> {
  const { to, keep, verify = 'all', every } = flags
  if (verify !== 'all' && verify !== 'new') throw new StorageError('--verify must be all or new')
  const everyMs = every === undefined ? null : parseEvery(every)
  const job: BackupJob = {
    to,
    key: await readBackupKey(requiredKeyFile(flags.keyFile)),
    keep: keep === undefined ? null : parseKeep(keep),
    verify,
    otherStore: flags.otherStore === true,
    version: readPackageVersion(),
    clock: systemClock,
  }
  // Rejects a wrong place and missing settings before the first attempt.
  await openObjectStore(to, systemClock)
  const stop = new AbortController()
  const onSignal = (): void => stop.abort()
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal)
  const progress = showProgress('backup', flags.json || everyMs !== null ? 'json' : 'text')
  const run = async (each: BackupJob): Promise<string | null> => {
    const options = { onProgress: progress.at, signal: stop.signal }
    const done = await runBackupJob(each, readBackupParts(source()), options).finally(progress.end)
    const problem = problemOf(done)
    printResult(flags.json ? JSON.stringify({ ok: problem === null, to, ...done }) : asText(to, done))
    return problem
  }
  try {
    if (everyMs !== null) return await repeat(run, job, everyMs, stop.signal)
    const problem = await run(job)
    if (problem !== null) throw new StorageError(problem)
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
  }
}

/** @throws StorageError */
export function requiredKeyFile(keyFile: string | undefined): string {
  if (keyFile !== undefined) return keyFile
  throw new StorageError('a backup repository needs its key: --key-file', {
    hint: 'create one with weft backups key <file>',
  })
}

/** @param run makes a backup, and resolves with the problem that remains although the backup is complete */
async function repeat(
  run: (job: BackupJob) => Promise<string | null>,
  job: BackupJob,
  everyMs: number,
  stop: AbortSignal,
): Promise<void> {
  let failures = 0
  let hasProblem = false
  let { otherStore = false } = job
  const firstAt = firstBackupAt(await newestBackupAt(job), Date.now(), everyMs)
  if (firstAt > Date.now())
    process.stderr.write(
      `weft: the newest backup is younger than the interval; next backup at ${new Date(firstAt).toISOString()}\n`,
    )
  for (let at = firstAt; ; ) {
    await waitUntil(at, everyMs, stop)
    if (stop.aborted) break
    const startedAt = Date.now()
    const { problem, isComplete } = await run({ ...job, otherStore }).then(
      (problem) => ({ problem, isComplete: true }),
      (error: unknown) => ({ problem: errorMessage(error), isComplete: false }),
    )
    hasProblem = problem !== null
    failures = isComplete ? 0 : failures + 1
    // Later backups must be of the store of the first one.
    if (isComplete) otherStore = false
    at = nextBackupAt({ startedAt, endedAt: Date.now(), failures }, everyMs)
    if (problem !== null)
      process.stderr.write(`weft: ${problem}; next attempt at ${new Date(at).toISOString()}\n`)
  }
  if (hasProblem) process.exitCode = exitCodes.fault
}

async function waitUntil(plannedAt: number, everyMs: number, signal: AbortSignal): Promise<void> {
  for (let at = plannedAt; !signal.aborted; ) {
    at = withinInterval(at, Date.now(), everyMs)
    const left = at - Date.now()
    if (left <= 0) return
    await sleep(Math.min(left, backupTimerMsMax), undefined, { signal }).catch(() => undefined)
  }
}

/** Returns the problem that remains although the backup is complete; null if there is none. */
function problemOf({ backup, pruned, pruneFailure }: BackupJobResult): string | null {
  if (pruneFailure !== null)
    return `the backup ${backup.id} is complete, but old backups could not be deleted: ${pruneFailure}`
  return pruned === null || pruned.damages.length === 0
    ? null
    : 'backups are damaged; run weft backups verify'
}

function asText(to: string, { backup, isFirst, pruned }: BackupJobResult): string {
  const { id, pairs, bytes, chunks, newChunks, newBytes, repairedChunks } = backup
  const repaired = repairedChunks > 0 ? `, ${repairedChunks} damaged chunks written again` : ''
  const lines = [
    `${to} has the backup ${id}: ${pairs} records (${bytes} bytes); new: ${newChunks} of ${chunks} chunks (${newBytes} bytes)${repaired}; verified`,
  ]
  if (isFirst) lines.push(`${to} had no backup before; if you expected some, check that its disk is mounted`)
  if (pruned !== null)
    lines.push(
      `kept ${pruned.kept.length} backups, deleted ${pruned.removed.length} backups and ${pruned.removedChunks} chunks (${pruned.removedBytes} bytes)`,
      ...pruned.damages.map(damageText),
    )
  return lines.join('\n')
}

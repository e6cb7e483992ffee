import { pauseAfter } from '../../core/base/backoff.ts'
import type { Clock } from '../../core/base/clock.ts'
import { errorMessage, OperatorError } from '../../core/base/errors.ts'
import type { Log } from '../../core/base/log.ts'
import { LeaderElection } from '../../core/jobs/leader-election.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Engine } from '../../core/store/engine.ts'
import { type BackupJob, type BackupJobResult, newestBackupAt, runBackupJob } from './backup-job.ts'
import type { BackupPart } from './storage/backup-file.ts'

/** `damaged`: the backup is complete, but an earlier one is damaged. */
const backupResults = ['succeeded', 'failed', 'damaged'] as const
type BackupResult = (typeof backupResults)[number]

const pruneResults = ['succeeded', 'failed'] as const
type PruneResult = (typeof pruneResults)[number]

/** Pauses after failures. */
const pauses = { firstMs: 60_000, maxMs: 3_600_000, jitter: 0 }

/**
 * Maximum time in ms of one timer. The timers of Node have a maximum of 24 days, and a shorter time lets a corrected
 * clock take effect soon.
 */
const timerMsMax = 3_600_000

interface BackupScheduleOptions {
  readonly job: BackupJob
  /** Time in ms from the start of a backup to the start of the next one. */
  readonly everyMs: number
  /** Returns the parts of a new backup. @throws StorageError if there is nothing to back up */
  readonly source: () => AsyncIterable<BackupPart>
  readonly engine: Pick<Engine, 'leases' | 'bus'>
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'backups' | 'backupPrunes' | 'backupWrittenBytes' | 'backupDurationSeconds'>
}

/**
 * Makes backups in a repository at an interval, one at a time, on one node of a cluster. The repository has the
 * time of the newest backup, so the interval continues after a restart and on another node.
 */
export class BackupSchedule {
  readonly #options: BackupScheduleOptions
  readonly #election: LeaderElection
  readonly #stopping = new AbortController()
  #loop: Promise<void> = Promise.resolve()
  #endPause = (): void => undefined
  /** Time of the next backup in epoch milliseconds; null if it must be read from the repository. */
  #nextAt: number | null = null
  #failures = 0

  constructor(options: BackupScheduleOptions) {
    this.#options = options
    const { engine, clock, log } = options
    this.#election = new LeaderElection(engine, 'backups', clock, log, () => {
      // Another node may have made backups meanwhile.
      this.#nextAt = null
      this.#endPause()
    })
    // An increase can be measured only from a value that exists.
    for (const result of backupResults) options.metrics.backups.inc({ result }, 0)
    for (const result of pruneResults) options.metrics.backupPrunes.inc({ result }, 0)
  }

  start(): void {
    this.#election.start()
    this.#loop = this.#run()
  }

  /** Interrupts a backup, and waits until it has ended. Then another node can make backups. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#endPause()
    await this.#loop
    await this.#election.stop()
  }

  async #run(): Promise<void> {
    const { everyMs, clock } = this.#options
    const { signal } = this.#stopping
    while (!signal.aborted) {
      if (!this.#election.isLeader) {
        await this.#pause(timerMsMax)
        continue
      }
      const nextAt = this.#nextAt ?? (await this.#readNewest())
      const now = clock.now()
      // A later time was planned with a wrong clock.
      this.#nextAt = Math.min(nextAt, now + everyMs)
      if (this.#nextAt > now) await this.#pause(Math.min(this.#nextAt - now, timerMsMax))
      else if (this.#election.isLeader && !signal.aborted) this.#nextAt = await this.#backUp(signal)
    }
  }

  async #pause(ms: number): Promise<void> {
    if (this.#stopping.signal.aborted) return
    await new Promise<void>((resolve) => {
      const cancel = this.#options.clock.after(ms, resolve)
      this.#endPause = () => {
        cancel()
        resolve()
      }
    })
  }

  async #readNewest(): Promise<number> {
    const { job, everyMs, clock } = this.#options
    const newestAt = await newestBackupAt(job)
    const now = clock.now()
    // A backup in the future was made with a wrong clock.
    return newestAt === null || newestAt > now ? now : newestAt + everyMs
  }

  async #backUp(signal: AbortSignal): Promise<number> {
    const { job, everyMs, source, clock, log, metrics } = this.#options
    const [startedAt, begun] = [clock.now(), performance.now()]
    try {
      const done = await runBackupJob(job, source(), () => undefined, signal)
      this.#failures = 0
      this.#record(done)
      // The next start prunes after its next backup.
      if (!signal.aborted) this.#recordPrune(done)
    } catch (err) {
      if (signal.aborted) {
        log.info({ event: 'backup.interrupted' }, 'the shutdown has ended a backup')
        return startedAt
      }
      this.#failures += 1
      metrics.backups.inc({ result: 'failed' satisfies BackupResult })
      const reason = errorMessage(err)
      log.error(
        {
          event: 'backup.failed',
          reason,
          failures: this.#failures,
          ...(!(err instanceof OperatorError) && { err }),
        },
        'the backup failed; retrying later',
      )
    }
    metrics.backupDurationSeconds.set((performance.now() - begun) / 1000)
    if (this.#failures === 0) return startedAt + everyMs
    return clock.now() + Math.min(everyMs, pauseAfter(pauses, this.#failures))
  }

  #record({ backup, isFirst, pruned }: BackupJobResult): void {
    const { log, metrics, job } = this.#options
    if (isFirst)
      log.warn(
        { event: 'backup.first', to: job.to },
        'the place had no backup before; if you expected some, check that its disk is mounted',
      )
    const { id, at: _, pairs: records, ...sizes } = backup
    metrics.backupWrittenBytes.inc(backup.newBytes)
    const removed = pruned?.removed.length ?? 0
    log.info(
      { event: 'backup.succeeded', backup: id, records, ...sizes, removed },
      'the backup is complete and verified',
    )
    const damaged = (pruned?.damages ?? []).map(({ object }) => object)
    const result: BackupResult = damaged.length > 0 ? 'damaged' : 'succeeded'
    metrics.backups.inc({ result })
    if (damaged.length > 0)
      log.error({ event: 'backup.damaged', damaged }, 'backups are damaged: run weft backups verify')
  }

  #recordPrune({ backup, pruned, pruneFailure: reason }: BackupJobResult): void {
    const { log, metrics } = this.#options
    if (pruned !== null) metrics.backupPrunes.inc({ result: 'succeeded' satisfies PruneResult })
    if (reason === null) return
    metrics.backupPrunes.inc({ result: 'failed' satisfies PruneResult })
    log.error(
      { event: 'backup.prune_failed', backup: backup.id, reason },
      'the backup is complete, but old backups could not be deleted; retrying after the next backup',
    )
  }
}

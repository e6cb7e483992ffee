import { statfs } from 'node:fs/promises'
import { Gauge } from 'prom-client'
import type { Config } from '../config.ts'
import type { Metrics } from '../metrics.ts'
import { readLastBackup } from '../storage/last-backup.ts'

/**
 * Registers gauges for the disk of the data directory and for the last backup. The gauges have values only
 * with the engine `level`.
 */
export function measureData(
  { registry }: Metrics,
  { engine, dataDir }: Pick<Config, 'engine' | 'dataDir'>,
): void {
  const measure = (name: string, help: string, read: () => Promise<number | null>) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const value = engine === 'level' ? await read() : null
        if (value === null) this.remove()
        else this.set(value)
      },
    })
  measure(
    'weft_disk_free_bytes',
    'Bytes that the server may still write to the disk with the data directory',
    () => bytesOf(dataDir, 'bavail'),
  )
  measure('weft_disk_size_bytes', 'Size of the disk with the data directory', () =>
    bytesOf(dataDir, 'blocks'),
  )
  measure(
    'weft_backup_last_success_timestamp_seconds',
    'Time of the last complete backup, in seconds since 1970; 0: none',
    async () => (await readLastBackup(dataDir)) / 1000,
  )
}

/**
 * Returns the free bytes (`bavail`) or all bytes (`blocks`) of the disk of a path; null if the disk cannot be
 * read.
 */
const bytesOf = (path: string, blocks: 'bavail' | 'blocks'): Promise<number | null> =>
  statfs(path).then(
    (found) => found[blocks] * found.bsize,
    () => null,
  )

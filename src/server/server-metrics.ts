import { statfs } from 'node:fs/promises'
import { Counter, Gauge } from 'prom-client'
import { lastBackupOf } from '../capabilities/backups/storage/last-backup.ts'
import type { Config } from '../core/config/config.ts'
import type { BaseServices } from '../rest/services.ts'

/** Time in ms by which the clocks of nodes may differ. */
const clockDifferenceMsMax = 300_000

type ReadGauge = () => Promise<number | null>

/**
 * Registers the metrics of this node about the other nodes, about the last backup, and about the disk of the data
 * directory, which have values only with the engine `level`.
 */
export function registerServerMetrics({
  config,
  engine,
  clock,
  metrics: { registry },
}: Pick<BaseServices, 'clock' | 'config' | 'engine' | 'metrics'>): void {
  const { bus, cluster } = engine
  const measure = (name: string, help: string, read: ReadGauge) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const value = await read()
        if (value === null) this.remove()
        else this.set(value)
      },
    })
  measure(
    'weft_nodes',
    'Nodes that share the store and are alive, this one included',
    async () => cluster.nodes().length,
  )
  measure(
    'weft_bus_connected',
    '1 while messages of other nodes can arrive; always 1 with one server',
    async () => (bus.isConnected ? 1 : 0),
  )
  const losses = new Counter({
    name: 'weft_bus_losses_total',
    help: 'Message losses that the bus reported; after each, the node compared its logs with the store',
    registers: [registry],
  })
  bus.onLoss(() => losses.inc())
  const bytes = (blocks: 'bavail' | 'blocks') => async () =>
    config.engine === 'level' ? bytesOf(config.dataDir, blocks) : null
  measure(
    'weft_disk_free_bytes',
    'Bytes that the server may still write to the disk with the data directory',
    bytes('bavail'),
  )
  measure('weft_disk_size_bytes', 'Size of the disk with the data directory', bytes('blocks'))
  const lastBackup = lastBackupOf(config, engine.kv)
  measure(
    'weft_backup_last_success_timestamp_seconds',
    'Time of the last complete backup, in seconds since 1970; 0: none',
    readTimes[config.engine](async () => {
      const at = await lastBackup.read()
      // A time in the future is that of a wrong clock. It must not silence an alert until then.
      return at > clock.now() + clockDifferenceMsMax ? 0 : at / 1000
    }),
  )
}

/** How each engine reads the time of the last backup. */
const readTimes: Readonly<Record<Config['engine'], (read: ReadGauge) => ReadGauge>> = {
  memory: () => async () => null,
  level: (read) => read,
  postgres: latestKnown,
}

/**
 * Returns a function that returns the value of the last complete read, and starts the next one. A database that does
 * not answer must not delay the metrics.
 */
function latestKnown(read: ReadGauge): ReadGauge {
  let known: number | null = null
  let isReading = false
  const refresh = async () => {
    if (isReading) return
    isReading = true
    known = await read().catch(() => known)
    isReading = false
  }
  return async () => {
    void refresh()
    return known
  }
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

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as s from '../../../core/base/schema.ts'
import type { Config } from '../../../core/config/config.ts'
import { clusterPart } from '../../../core/directory/tenants/cluster-credentials.ts'
import type { Key, Kv } from '../../../core/store/engine.ts'
import { encodeRecord, type RecordType, readRecord } from '../../../core/store/stored-record.ts'
import { type DatabaseLocation, loadDatabase } from './offline-store.ts'

/** The place that contains the time of the last complete backup, in epoch milliseconds. */
export interface LastBackup {
  /** Returns 0 if no backup is known. */
  read(): Promise<number>
  /** Never throws, because the backup itself has succeeded. */
  note(at: number): Promise<void>
}

/** Returns the place in a data directory: a file that contains the time in the format of ISO 8601. */
export function lastBackupIn(directory: string): LastBackup {
  const path = join(directory, 'last-backup')
  return {
    async read() {
      const text = await readFile(path, 'utf8').catch(() => '')
      return Date.parse(text.trim()) || 0
    },
    note: (at) => writeFile(path, `${new Date(at).toISOString()}\n`, { mode: 0o600 }).catch(() => undefined),
  }
}

/** Returns the place for a server: its database, or else its data directory. */
export const lastBackupOf = ({ engine, dataDir }: Pick<Config, 'engine' | 'dataDir'>, kv: Kv): LastBackup =>
  engine === 'postgres' ? lastBackupInStore(kv) : lastBackupIn(dataDir)

const key: Key = ['lastBackup']

const lastBackupType: RecordType<{ readonly at: number }> = {
  name: 'last backup',
  schema: s.object({ at: s.number }),
}

const timeIn = (value: Uint8Array | null): number =>
  value === null ? 0 : readRecord(lastBackupType, { key, value }).at

/** Reads the time of the last backup of a database, also while servers use it; 0: none. @throws EngineOpenError */
export const readLastBackupOf = async (place: DatabaseLocation): Promise<number> =>
  timeIn(await (await loadDatabase()).readSchemaValue(place, clusterPart, key))

/**
 * Returns the place in a database, so that all nodes that share it have the same time. It is next to the agreement
 * of the nodes, which no export contains.
 */
export function lastBackupInStore(kv: Kv): LastBackup {
  return {
    async read() {
      const [value = null] = await kv.get(clusterPart, [key])
      return timeIn(value)
    },
    note: (at) =>
      kv.commit(clusterPart, { puts: [{ key, value: encodeRecord({ at }) }] }).then(
        () => undefined,
        () => undefined,
      ),
  }
}

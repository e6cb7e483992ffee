import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const folder = join(import.meta.dirname, 'node_modules')

/** Packages of old servers that are not installed: native ones may be missing where others are there. */
export function missingOf(names: readonly string[]): readonly string[] {
  const missing = names.filter((name) => !existsSync(join(folder, name, 'package.json')))
  return missing.length > 0 || canLoadSqlite(names) ? missing : ['the binary of better-sqlite3']
}

function canLoadSqlite(names: readonly string[]): boolean {
  if (!names.includes('better-sqlite3')) return true
  try {
    const Sqlite = createRequire(import.meta.url)('better-sqlite3') as new (file: string) => { close(): void }
    new Sqlite(':memory:').close()
    return true
  } catch {
    return false
  }
}

/** The real y-leveldb. Its types cannot be found from outside. */
export interface Leveldb {
  storeUpdate(name: string, update: Uint8Array): Promise<number>
  flushDocument(name: string): Promise<void>
  setMeta(name: string, key: string, value: unknown): Promise<void>
  destroy(): Promise<void>
}

/** What TypeScript is not to look for. */
const leveldb: string = 'y-leveldb'

export async function openLeveldb(directory: string): Promise<Leveldb> {
  const { LeveldbPersistence } = (await import(leveldb)) as {
    readonly LeveldbPersistence: new (directory: string) => Leveldb
  }
  return new LeveldbPersistence(directory)
}

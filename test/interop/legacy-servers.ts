import { existsSync } from 'node:fs'
import { join } from 'node:path'

const folder = join(import.meta.dirname, 'node_modules')

/** Packages of old servers that are not installed. */
export const missingOf = (names: readonly string[]): readonly string[] =>
  names.filter((name) => !existsSync(join(folder, name, 'package.json')))

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

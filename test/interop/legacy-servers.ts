/** The real y-leveldb. TypeScript cannot find its types. */
export interface Leveldb {
  storeUpdate(name: string, update: Uint8Array): Promise<number>
  flushDocument(name: string): Promise<void>
  setMeta(name: string, key: string, value: unknown): Promise<void>
  destroy(): Promise<void>
}

/** A string type, so that TypeScript does not resolve the module. */
const leveldb: string = 'y-leveldb'

export async function openLeveldb(directory: string): Promise<Leveldb> {
  const { LeveldbPersistence } = (await import(leveldb)) as {
    readonly LeveldbPersistence: new (directory: string) => Leveldb
  }
  return new LeveldbPersistence(directory)
}

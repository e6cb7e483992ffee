import { EngineOpenError } from '../../engine.ts'
import { rangeOf } from '../../key-encoding.ts'
import { encodeFormat, formatKey, formatVersion } from '../../pairs/format-record.ts'
import { checkChecksum } from '../../pairs/record-codec.ts'
import type { Store } from './store.ts'

/**
 * Checks that this server supports the format of a store. If the store is empty, writes the current format.
 * @throws EngineOpenError
 */
export async function ensureFormat(store: Store, path: string): Promise<void> {
  const version = await readFormat(store, path)
  if (version === null) return writeFormat(store)
  if (version > formatVersion) {
    throw new EngineOpenError(
      'newerFormat',
      `${path} was written by a newer version (format ${version}, this one knows ${formatVersion}): use that version`,
    )
  }
  if (version < formatVersion) {
    throw new EngineOpenError(
      'olderFormat',
      `${path} was written by an older version (format ${version}, this one knows ${formatVersion}): run weft export with that version, then weft import weft with this one`,
    )
  }
}

/** Returns the format of a store; null if the store is empty. */
async function readFormat(store: Store, path: string): Promise<number | null> {
  const stored = await store.get(formatKey)
  if (stored !== undefined) return checkChecksum(formatKey, stored)[0] ?? 0
  if (await isEmpty(store)) return null
  throw new EngineOpenError('corrupted', `${path} holds data whose format is not known: restore a backup`)
}

const writeFormat = (store: Store): Promise<void> =>
  store.write([{ key: formatKey, value: encodeFormat() }], true)

async function isEmpty(store: Store): Promise<boolean> {
  for await (const page of store.pages(rangeOf(Buffer.alloc(0)), { limit: 1, values: false })) {
    return page.length === 0
  }
  return true
}

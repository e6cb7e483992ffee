import { EngineOpenError } from '../engine.ts'
import { rangeOf } from '../keys.ts'
import { sealed, unseal } from './records.ts'
import { spaces } from './spaces.ts'
import type { Store } from './store.ts'
import { upgradeFrom1 } from './upgrade-from-1.ts'
import type { UpgradeProgress, UpgradeStep } from './upgrade-step.ts'

/** Number of the layout of keys and records; an older server refuses a newer one. */
export const formatVersion = 2
const formatKey = Buffer.concat([spaces.meta, Buffer.from('format')])

/** By the format that they start from. */
const upgradeSteps: ReadonlyMap<number, UpgradeStep> = new Map([[1, upgradeFrom1]])

/**
 * What to do with a store of an older format: make it one of this format, where it is; refuse it; or take it as it is,
 * for whoever reads pairs without looking into them.
 */
export type OlderFormat =
  | { readonly do: 'upgrade'; readonly onProgress: UpgradeProgress }
  | { readonly do: 'refuse' }
  | { readonly do: 'accept' }

/** Formats from which a store can be brought to this one. */
export const isUpgradable = (format: number): boolean => upgradeSteps.has(format)

/** Returns the format of the store. One that is empty gets the format of this version. @throws EngineOpenError */
export async function settleFormat(store: Store, path: string, older: OlderFormat): Promise<number> {
  const found = await readFormat(store, path)
  if (found === null) return writeFormat(store, formatVersion)
  const { version, unfinishedFrom } = found
  if (version > formatVersion) {
    throw new EngineOpenError(
      'newerFormat',
      `${path} was written by a newer version (format ${version}, this one knows ${formatVersion}): use that version`,
    )
  }
  const from = unfinishedFrom ?? version
  if (from === formatVersion || older.do === 'accept') return version
  const formats = `format ${from}, this one knows ${formatVersion}`
  if (!isUpgradable(from))
    throw new EngineOpenError('olderFormat', `${path} was written by an older version (${formats}): use that`)
  if (older.do === 'refuse') {
    throw new EngineOpenError(
      'olderFormat',
      `${path} was written by an older version (${formats}): back it up, then run weft upgrade, or start the server`,
    )
  }
  return upgrade(store, from, older.onProgress)
}

/** An end in between leaves a store that older versions refuse, and this one goes on with. */
async function upgrade(store: Store, oldest: number, onProgress: UpgradeProgress): Promise<number> {
  for (let from = oldest; from < formatVersion; from++) {
    const formats = { from, to: from + 1 }
    onProgress(formats, 0)
    await writeFormat(store, formats.to, from)
    await upgradeSteps.get(from)?.(store, (share) => onProgress(formats, share))
    await writeFormat(store, formats.to)
    onProgress(formats, 1)
  }
  return formatVersion
}

/** Null for a store without anything in it. */
async function readFormat(
  store: Store,
  path: string,
): Promise<{ version: number; unfinishedFrom: number | undefined } | null> {
  const stored = await store.get(formatKey)
  if (stored !== undefined) {
    const [version = 0, unfinishedFrom] = unseal(formatKey, stored)
    return { version, unfinishedFrom }
  }
  if (await isEmpty(store)) return null
  throw new EngineOpenError('corrupted', `${path} holds data whose format is not known: restore a backup`)
}

/** @param unfinishedFrom the format that parts of the store still have */
async function writeFormat(store: Store, version: number, unfinishedFrom?: number): Promise<number> {
  const bytes = unfinishedFrom === undefined ? Buffer.of(version) : Buffer.of(version, unfinishedFrom)
  await store.write([{ key: formatKey, value: sealed(formatKey, bytes) }], true)
  return version
}

async function isEmpty(store: Store): Promise<boolean> {
  for await (const page of store.pages(rangeOf(Buffer.alloc(0)), { limit: 1, values: false })) {
    return page.length === 0
  }
  return true
}

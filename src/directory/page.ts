import type { Key, KvEntry } from '../engine/engine.ts'
import type { Reader } from './reader.ts'

/** A part of a listing. */
export interface PageRange {
  /** The last id of the page before; undefined for the first page. */
  readonly after: string | undefined
  /** At least 1. */
  readonly limit: number
}

export interface Page<Item> {
  readonly items: readonly Item[]
  /** What the next page comes after; null at the end. */
  readonly next: string | null
}

/** The entries right under `prefix`, in the order of their ids. */
export async function listEntries(
  reader: Reader,
  prefix: Key,
  { after, limit }: PageRange,
): Promise<Page<KvEntry>> {
  const from = after === undefined ? {} : { after: [...prefix, after] }
  const entries = await reader.scan({ prefix, limit: limit + 1, ...from })
  const items = entries.slice(0, limit)
  return { items, next: entries.length > limit ? (items.at(-1)?.key.at(-1) ?? null) : null }
}

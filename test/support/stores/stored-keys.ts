import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openLevelStore } from '../../../src/core/store/level/store/store.ts'

const everything = { gte: Buffer.alloc(0), lt: Buffer.alloc(64, 0xff) }

/**
 * Returns the keys and values of a closed LevelDB as text. The result contains only entries whose key
 * contains `text`.
 */
export async function pairsUnder(data: string, text: string): Promise<readonly string[]> {
  const store = await openLevelStore(join(data, 'store'))
  const found: string[] = []
  try {
    for await (const page of store.pages(everything))
      for (const [key, value] of page)
        if (key.includes(text)) found.push(`${key.toString()} ${value.toString()}`)
  } finally {
    await store.close()
  }
  return found
}

/** Returns the keys that do not belong to records of the audit log. */
export const notAudited = (keys: readonly string[]): readonly string[] =>
  keys.filter((key) => !key.startsWith('k audit '))

/**
 * Returns the keys of a closed LevelDB whose key or value contains one of `texts`. The keys are reduced to
 * their printable characters.
 */
export async function keysHolding(data: string, texts: readonly string[]): Promise<readonly string[]> {
  const store = await openLevelStore(join(data, 'store'))
  const found: string[] = []
  try {
    for await (const page of store.pages(everything))
      for (const [key, value] of page)
        if (texts.some((text) => key.includes(text) || value.includes(text)))
          found.push(key.toString('latin1').replaceAll(/[^ -~]+/g, ' '))
  } finally {
    await store.close()
  }
  return found
}

/** Returns the files whose bytes contain a text. */
export async function filesWith(folder: string, text: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
  const found = await Promise.all(paths.map(async (path) => (await readFile(path)).includes(text)))
  return paths.filter((_, index) => found[index])
}

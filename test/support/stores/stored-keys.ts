import { join } from 'node:path'
import { openLevelStore } from '../../../src/engine/level/store/store.ts'

const everything = { gte: Buffer.alloc(0), lt: Buffer.alloc(64, 0xff) }

/** Keys and values of a LevelDB that is closed, as text, of which the key has `text`. */
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

/** Of such keys those that are no records of the audit log. */
export const notAudited = (keys: readonly string[]): readonly string[] =>
  keys.filter((key) => !key.startsWith('k audit '))

/** Keys under which a LevelDB that is closed has one of `texts`, in the key or in the value; printable characters only. */
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

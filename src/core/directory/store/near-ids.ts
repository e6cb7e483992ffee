import { nearMiss } from '../../base/text.ts'
import type { Key } from '../../store/engine.ts'
import { lastSegment } from '../../store/key-encoding.ts'
import type { DirectoryReader } from './directory-reader.ts'
import { listEntries } from './list-page.ts'

/** Maximum number of ids in each of two reads. */
const idsMax = 200

/**
 * Returns the id directly under `prefix` of which `id`, which may exist too, is most likely a misspelling; null if
 * there is none. Compares the first ids, and those that follow the first half of `id`. So a misspelling may stay
 * unnoticed among many ids, and the work is limited.
 */
export async function nearMissAmong(
  reader: DirectoryReader,
  prefix: Key,
  id: string,
): Promise<string | null> {
  const points = Array.from(id)
  const half = points.slice(0, points.length >> 1).join('')
  const pages = await Promise.all(
    [undefined, half]
      .filter((after) => after !== '')
      .map((after) => listEntries(reader, prefix, { after, limit: idsMax })),
  )
  const ids = pages.flatMap(({ items }) => items.map(({ key }) => lastSegment(key)))
  return nearMiss(
    id,
    ids.filter((each) => each !== id),
  )
}

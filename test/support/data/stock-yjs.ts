import { createRequire } from 'node:module'
import type { Yjs } from './digest.ts'

/**
 * A second copy of Yjs, as it is published: the server changes classes of the copy that it imports. Yjs warns of the
 * second copy, which is harmless while no document meets types of the other copy.
 */
export const stock: Yjs = quietly(() => createRequire(import.meta.url)('yjs') as Yjs)

function quietly<T>(load: () => T): T {
  const { error } = console
  console.error = () => {}
  try {
    return load()
  } finally {
    console.error = error
  }
}

import { createRequire } from 'node:module'
import type { Yjs } from './digest.ts'

/**
 * A second copy of Yjs without changes. It is necessary because the server changes classes of the copy that
 * it imports. Yjs warns about the second copy. The warning is harmless as long as no document contains types
 * of the other copy.
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

import type { Engine, Kv } from '../../../src/core/store/engine.ts'
import { holdable } from './pausable-engine.ts'

/**
 * Returns an engine that counts reads. Each requested key, each requested range, and each entry found in a
 * range counts.
 */
export function countReads(engine: Engine): { readonly engine: Engine; readonly reads: () => number } {
  let reads = 0
  const { kv } = engine
  const counted: Kv = {
    get: (part, keys) => {
      reads += keys.length
      return kv.get(part, keys)
    },
    scan: async (part, range) => {
      const entries = await kv.scan(part, range)
      reads += 1 + entries.length
      return entries
    },
    commit: (part, commit) => kv.commit(part, commit),
  }
  return { engine: { ...holdable(engine), kv: counted }, reads: () => reads }
}

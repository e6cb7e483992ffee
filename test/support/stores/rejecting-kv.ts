import { type Engine, type Kv, type KvCommit, StoreUnavailableError } from '../../../src/core/store/engine.ts'

interface RejectingEngine extends Engine {
  /** Determines which commits of records the engine rejects. By default, it rejects none. */
  rejects: (commit: KvCommit) => boolean
  /** Number of commits that were rejected so far. */
  rejected: number
}

/** Returns a real engine that rejects some commits of records, as if its store did not answer. */
export function rejectingCommits(engine: Engine): RejectingEngine {
  const { kv } = engine
  const commit: Kv['commit'] = async (part, parts) => {
    if (!rejecting.rejects(parts)) return kv.commit(part, parts)
    rejecting.rejected += 1
    throw new StoreUnavailableError('the store does not answer')
  }
  const rejecting: RejectingEngine = {
    ...engine,
    kv: { get: (part, keys) => kv.get(part, keys), scan: (part, range) => kv.scan(part, range), commit },
    rejects: () => false,
    rejected: 0,
  }
  return rejecting
}

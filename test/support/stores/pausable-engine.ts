import type { DocumentLog, Engine } from '../../../src/core/store/engine.ts'
import { delegatedLog } from './delegated-log.ts'

export interface HeldEngine extends Engine {
  /** Pauses the disk: the engine then acknowledges nothing. */
  hold(): void
  /** Continues: the engine acknowledges all waiting appends. */
  release(): void
  /** Returns the number of appends that are waiting for their acknowledgment. */
  readonly waiting: () => number
}

/**
 * Returns a real engine whose disk can pause. During a pause, appends reach the engine, but resolve only
 * after `release`.
 */
export function holdable(engine: Engine): HeldEngine {
  let gate: Promise<void> | null = null
  let open: () => void = () => {}
  let waiting = 0
  const { log } = engine
  const append: DocumentLog['append'] = async (...parameters) => {
    const appended = await log.append(...parameters)
    waiting += 1
    await gate
    waiting -= 1
    return appended
  }
  return {
    ...engine,
    log: { ...delegatedLog(log), append },
    blobs: engine.blobs,
    bus: engine.bus,
    kv: engine.kv,
    queue: engine.queue,
    cluster: engine.cluster,
    health: () => engine.health(),
    pendingBytes: () => engine.pendingBytes(),
    dump: () => engine.dump(),
    close: () => engine.close(),
    hold() {
      gate = new Promise((resolve) => {
        open = resolve
      })
    },
    release() {
      open()
      gate = null
    },
    waiting: () => waiting,
  }
}

/**
 * Returns a pausable engine with some methods of its log replaced, for example for slow loads or failing
 * deletions.
 */
export function withLog(engine: Engine, replaced: (log: DocumentLog) => Partial<DocumentLog>): Engine {
  const held = holdable(engine)
  return { ...held, log: { ...held.log, ...replaced(engine.log) } }
}

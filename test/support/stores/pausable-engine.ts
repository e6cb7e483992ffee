import type { DocumentLog, Engine } from '../../../src/engine/engine.ts'
import { delegatedLog } from './delegated-log.ts'

export interface HeldEngine extends Engine {
  /** From now on the engine acknowledges nothing. */
  hold(): void
  /** Acknowledges everything that waits. */
  release(): void
  /** The number of appends that wait. */
  readonly waiting: () => number
}

/** A real engine whose disk can pause: appends reach it, but resolve only after `release`. */
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

/** Returns the engine with parts of its log replaced, such as slow loads and failing deletions. */
export function withLog(engine: Engine, replaced: (log: DocumentLog) => Partial<DocumentLog>): Engine {
  const held = holdable(engine)
  return { ...held, log: { ...held.log, ...replaced(engine.log) } }
}

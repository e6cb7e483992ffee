import { type Clock, systemClock } from '../../clock.ts'
import type { Engine, Health } from '../engine.ts'
import { Gate } from '../gate.ts'
import { LocalBus } from '../local-bus.ts'
import { SingleNode } from '../single-node.ts'
import { MemoryBlobs } from './blobs.ts'
import { MemoryKv } from './kv.ts'
import { MemoryLog } from './log.ts'
import { MemoryQueue } from './queue.ts'

export interface MemoryEngineOptions {
  readonly clock?: Clock
}

/** Keeps everything in this process and forgets it at exit: for tests and trials. All other promises hold. */
export async function openMemoryEngine({ clock = systemClock }: MemoryEngineOptions = {}): Promise<Engine> {
  const gate = new Gate()
  const queue = new MemoryQueue(gate, clock)
  return {
    log: new MemoryLog(gate, queue, clock),
    blobs: new MemoryBlobs(gate),
    bus: new LocalBus(clock),
    kv: new MemoryKv(gate, queue),
    queue,
    cluster: new SingleNode(),
    health: (): Health => (gate.isOpen ? { ok: true } : { ok: false, reason: 'the store is closed' }),
    pendingBytes: () => 0,
    dump: () => null,
    close: async () => gate.close(),
  }
}

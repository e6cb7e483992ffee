import { type Clock, systemClock } from '../../base/clock.ts'
import type { Engine, Health } from '../engine.ts'
import { FenceCache } from '../fences.ts'
import { LocalBus } from '../local-bus.ts'
import { LocalLeaseStore } from '../local-lease-store.ts'
import { OpenCalls } from '../open-calls.ts'
import { noForeignChanges, SingleNode } from '../single-node.ts'
import { MemoryBlobs } from './blobs.ts'
import { MemoryKv } from './kv.ts'
import { MemoryLog } from './log.ts'
import { MemoryQueue } from './queue.ts'

export interface MemoryEngineOptions {
  readonly clock?: Clock
}

/**
 * Opens an engine that keeps all data in the memory of this process. All data is lost when the process exits.
 * The engine is for tests and trials. It has all properties of the other engines except durability.
 */
export async function openMemoryEngine({ clock = systemClock }: MemoryEngineOptions = {}): Promise<Engine> {
  const gate = new OpenCalls()
  const queue = new MemoryQueue(gate, clock)
  const fences = new FenceCache()
  const log = new MemoryLog(gate, queue, clock, fences)
  const blobs = new MemoryBlobs(gate)
  const kv = new MemoryKv(gate, queue, fences)
  return {
    log,
    blobs,
    bus: new LocalBus(),
    kv,
    fences,
    queue,
    foreignChanges: noForeignChanges,
    leases: new LocalLeaseStore(),
    cluster: new SingleNode(),
    health: (): Health => (gate.isOpen ? { ok: true } : { ok: false, reason: 'the store is closed' }),
    pendingBytes: () => 0,
    storedBytes: async (under) => {
      gate.pass()
      return log.storedBytes(under.logs) + blobs.storedBytes(under.blobs) + kv.storedBytes(under.parts)
    },
    dump: () => null,
    close: async () => gate.close(),
  }
}

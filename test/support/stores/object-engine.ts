import { BackupKey } from '../../../src/capabilities/backups/object-sealer.ts'
import type { ObjectStore } from '../../../src/capabilities/backups/object-store.ts'
import { type ObjectEngine, withObjects } from '../../../src/capabilities/backups/objects/object-engine.ts'
import { SealedObjects } from '../../../src/capabilities/backups/objects/sealed-objects.ts'
import type { Clock } from '../../../src/core/base/clock.ts'
import { createLog } from '../../../src/core/base/log.ts'
import type { Engine } from '../../../src/core/store/engine.ts'

const key = new BackupKey(Buffer.alloc(32, 7))

/** Returns an engine whose large blobs are objects of a store. */
export const overObjects = (
  engine: Engine,
  store: ObjectStore | null,
  clock: Clock,
  options: { readonly key?: BackupKey; readonly callMs?: number } = {},
): ObjectEngine =>
  withObjects(
    engine,
    store === null ? null : new SealedObjects({ store, key, ...options }),
    clock,
    createLog('silent'),
  )

import { BackupKey } from '../../../src/backups/backup-key.ts'
import type { ObjectStore } from '../../../src/backups/object-store.ts'
import type { Clock } from '../../../src/clock.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import { createLog } from '../../../src/log.ts'
import { type ObjectEngine, withObjects } from '../../../src/objects/object-engine.ts'
import { SealedObjects } from '../../../src/objects/sealed-objects.ts'

const key = new BackupKey(Buffer.alloc(32, 7))

/** Returns an engine whose large blobs are objects of a store. */
export const overObjects = (
  engine: Engine,
  store: ObjectStore | null,
  clock: Clock,
  options: { readonly key?: BackupKey; readonly callMs?: number } = {},
): ObjectEngine =>
  withObjects(engine, {
    objects: store === null ? null : new SealedObjects({ store, key, ...options }),
    clock,
    log: createLog('silent'),
  })

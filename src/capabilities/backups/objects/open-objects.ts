import type { Clock } from '../../../core/base/clock.ts'
import { type Config, environmentOf } from '../../../core/config/config.ts'
import { parseBackupKey } from '../object-sealer.ts'
import { openObjectStore } from '../open-object-store.ts'
import { type Finding, judge, ok } from '../storage/finding.ts'
import { SealedObjects, type SealedObjectsOptions } from './sealed-objects.ts'

/**
 * Opens the object storage of saved versions; null if none is configured. Checks its settings, but does not connect
 * to it, so that a server starts while it is not available.
 * @throws StorageError, ConfigError
 */
export async function openObjects(
  { versionsTo, versionsKey }: Pick<Config, 'versionsTo' | 'versionsKey'>,
  options: Pick<SealedObjectsOptions, 'onChange' | 'metrics'> & { readonly clock: Clock },
): Promise<SealedObjects | null> {
  if (versionsTo === null) return null
  const key = parseBackupKey(versionsKey ?? '', environmentOf('versionsKey'))
  return new SealedObjects({ ...options, store: await openObjectStore(versionsTo, options.clock), key })
}

/** Checks that the object storage of saved versions can be used. Returns nothing if none is configured. */
export async function examineObjects(config: Config, clock: Clock): Promise<readonly Finding[]> {
  if (config.versionsTo === null) return []
  const probed = await judge(async () => {
    const objects = await openObjects(config, { clock })
    const startedAt = performance.now()
    await objects?.probe()
    const ms = Math.round(performance.now() - startedAt)
    return ok(`${objects?.name} can be written and read (${ms} ms for three calls)`)
  })
  return [{ name: 'version storage', ...probed }]
}

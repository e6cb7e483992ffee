import type { Clock } from '../../../core/base/clock.ts'
import type { Config } from '../../../core/config/config.ts'
import { type Finding, judge, ok } from '../storage/finding.ts'
import { openObjects } from './open-objects.ts'

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

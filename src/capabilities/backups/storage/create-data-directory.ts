import { createAudit } from '../../../core/audit/audit.ts'
import { startAuditing } from '../../../core/audit/start.ts'
import { systemClock } from '../../../core/base/clock.ts'
import { createLog } from '../../../core/base/log.ts'
import type { Config } from '../../../core/config/config.ts'
import { bootstrapNode } from '../../../core/directory/tenants/cluster-credentials.ts'
import {
  makeDataDirectory,
  type ServerCredentials,
} from '../../../core/directory/tenants/credentials-file.ts'
import { createTenancy } from '../../../core/directory/tenants/tenancy.ts'
import { openForImport } from './offline-store.ts'

/**
 * Creates a data directory with credentials, as the first start of a server would do. Does not start to
 * serve.
 * @throws EngineOpenError, BootstrapError, CredentialsFileError
 */
export async function createDataDirectory(config: Config): Promise<ServerCredentials> {
  await makeDataDirectory(config.dataDir)
  const { engine, close } = await openForImport(config.dataDir)
  try {
    const { tenants } = createTenancy(engine, systemClock)
    const parts = { kv: engine.kv, tenants, clock: systemClock, log: createLog('silent'), keepMs: 0 }
    const carryOut = await startAuditing(createAudit(parts).audit, config.audit)
    const { clock, log } = parts
    const options = { configured: config, directory: config.dataDir, tenants, clock, log, carryOut }
    return (await bootstrapNode(engine, { ...options, keptIn: 'directory' })).credentials
  } finally {
    await close()
  }
}

import { createAudit } from '../audit/audit.ts'
import { startAuditing } from '../audit/start.ts'
import { systemClock } from '../clock.ts'
import type { Config } from '../config.ts'
import { bootstrapNode } from '../directory/tenants/cluster-credentials.ts'
import { makeDataDirectory, type ServerCredentials } from '../directory/tenants/credentials-file.ts'
import { createTenancy } from '../directory/tenants/tenancy.ts'
import { createLog } from '../log.ts'
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

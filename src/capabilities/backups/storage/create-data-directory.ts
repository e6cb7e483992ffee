import { startAuditing } from '../../../core/audit/audit.ts'
import { AuditLog } from '../../../core/audit/log.ts'
import { systemClock } from '../../../core/base/clock.ts'
import { createLog } from '../../../core/base/log.ts'
import type { Config } from '../../../core/config/config.ts'
import { bootstrapNode } from '../../../core/directory/tenants/cluster-credentials.ts'
import {
  makeDataDirectory,
  type ServerCredentials,
} from '../../../core/directory/tenants/credentials-file.ts'
import { createTenancy } from '../../../core/directory/tenants/tenancy.ts'
import { openOrCreateStore } from './offline-store.ts'

/**
 * Creates a data directory with credentials, as the first start of a server would do. Does not start to
 * serve.
 * @throws EngineOpenError, BootstrapError, CredentialsFileError
 */
export async function createDataDirectory(config: Config): Promise<ServerCredentials> {
  await makeDataDirectory(config.dataDir)
  const engine = await openOrCreateStore(config.dataDir)
  try {
    const { tenants } = createTenancy(engine, systemClock)
    const [clock, log] = [systemClock, createLog('silent')]
    const carryOut = await startAuditing(new AuditLog(engine.kv, clock, log), config.audit)
    const options = { configured: config, directory: config.dataDir, tenants, clock, log, carryOut }
    return (await bootstrapNode(engine, { ...options, keptIn: 'directory' })).credentials
  } finally {
    await engine.close()
  }
}

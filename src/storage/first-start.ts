import { createAudit } from '../audit/audit.ts'
import { startAuditing } from '../audit/start.ts'
import { systemClock } from '../clock.ts'
import type { Config } from '../config.ts'
import { bootstrapNode } from '../directory/agreement.ts'
import { type Credentials, makeDataDirectory } from '../directory/credentials-file.ts'
import { createTenancy } from '../directory/tenancy.ts'
import { createLog } from '../log.ts'
import { openToFill } from './stopped.ts'

/**
 * Makes a data directory as the first start of a server does, with its credentials, without serving.
 * @throws EngineOpenError, BootstrapError, CredentialsFileError
 */
export async function makeData(config: Config): Promise<Credentials> {
  await makeDataDirectory(config.data)
  const { engine, close } = await openToFill(config.data)
  try {
    const { tenants } = createTenancy(engine, systemClock)
    const parts = { kv: engine.kv, tenants, clock: systemClock, log: createLog('silent'), keepMs: 0 }
    const onChange = await startAuditing(createAudit(parts).audit, config.audit)
    const options = { configured: config, directory: config.data, tenants, clock: systemClock, onChange }
    return (await bootstrapNode(engine, options)).credentials
  } finally {
    await close()
  }
}

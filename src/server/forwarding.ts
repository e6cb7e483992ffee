import { Gauge } from 'prom-client'
import type { ServerCredentials } from '../directory/tenants/credentials-file.ts'
import { Forwarding } from '../sync/nodes/forwarding.ts'
import { ForwardingSigner } from '../sync/nodes/forwarding-signature.ts'
import type { ServerBase } from './services.ts'

type Parts = Pick<ServerBase, 'config' | 'clock' | 'engine' | 'log' | 'metrics'>

/** What sends clients to the node at which their document is at home; null where that is not wanted, or nobody else is. */
export function createForwarding(
  { config, clock, engine, log, metrics }: Parts,
  { jwtSecret }: Pick<ServerCredentials, 'jwtSecret'>,
): Forwarding | null {
  const { bus, cluster } = engine
  if (!config.forwardToHomeNode || !cluster.isShared) return null
  const secrets = [jwtSecret, config.jwtSecretPrevious].filter((each) => each !== null)
  const forwarding = new Forwarding({ bus, cluster, seal: new ForwardingSigner(secrets, clock), logger: log })
  measure(metrics, forwarding)
  return forwarding
}

const measure = ({ registry }: Parts['metrics'], forwarding: Forwarding): Gauge =>
  new Gauge({
    name: 'weft_connections_forwarded',
    help: 'Realtime connections that another node serves, through this one',
    registers: [registry],
    collect() {
      this.set(forwarding.size)
    },
  })

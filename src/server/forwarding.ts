import { Gauge } from 'prom-client'
import type { Credentials } from '../directory/credentials-file.ts'
import { Forwarding } from '../sync/nodes/forwarding.ts'
import { HopSeal } from '../sync/nodes/hop.ts'
import type { Base } from './services.ts'

type Parts = Pick<Base, 'config' | 'clock' | 'engine' | 'log' | 'metrics'>

/** What sends clients to the node at which their document is at home; null where that is not wanted, or nobody else is. */
export function createForwarding(
  { config, clock, engine, log, metrics }: Parts,
  { jwtSecret }: Pick<Credentials, 'jwtSecret'>,
): Forwarding | null {
  const { bus, cluster } = engine
  if (!config.forwardToHome || !cluster.isShared) return null
  const secrets = [jwtSecret, config.jwtSecretPrevious].filter((each) => each !== null)
  const forwarding = new Forwarding({ bus, cluster, seal: new HopSeal(secrets, clock), logger: log })
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

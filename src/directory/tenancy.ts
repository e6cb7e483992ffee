import type { Clock } from '../clock.ts'
import type { Engine } from '../engine/engine.ts'
import { Domains } from './domains.ts'
import { Revocations } from './revocations.ts'
import { Tenants } from './tenants.ts'
import { Workspaces } from './workspaces.ts'

/** Workspaces, API keys, their tokens and domains, and whose realtime tokens are revoked. */
export interface Tenancy {
  readonly tenants: Tenants
  readonly workspaces: Workspaces
  readonly domains: Domains
  readonly revocations: Revocations
}

export function createTenancy(
  { kv, bus, cluster }: Pick<Engine, 'kv' | 'bus' | 'cluster'>,
  clock: Clock,
): Tenancy {
  const tenants = new Tenants(kv)
  return {
    tenants,
    workspaces: new Workspaces({ tenants, clock }),
    domains: new Domains(tenants, bus),
    revocations: new Revocations({ kv, bus, cluster, clock }),
  }
}

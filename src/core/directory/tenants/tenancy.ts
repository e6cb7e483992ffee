import type { Clock } from '../../base/clock.ts'
import type { Engine } from '../../store/engine.ts'
import { AttributionSetting } from './attribution-setting.ts'
import { DomainService } from './domain-service.ts'
import { MintingSecrets } from './minting-secrets.ts'
import { TenantStore } from './tenant-store.ts'
import { TokenRevocations } from './token-revocations.ts'
import { WorkspaceService } from './workspace-service.ts'

/** The services for workspaces, API keys, their tokens and domains, and revocations of realtime tokens. */
export interface Tenancy {
  readonly tenants: TenantStore
  readonly workspaces: WorkspaceService
  readonly domains: DomainService
  readonly attribution: AttributionSetting
  readonly revocations: TokenRevocations
  readonly mintingSecrets: MintingSecrets
}

export function createTenancy({ kv, bus }: Pick<Engine, 'kv' | 'bus'>, clock: Clock): Tenancy {
  const tenants = new TenantStore(kv)
  return {
    tenants,
    workspaces: new WorkspaceService(tenants, bus, clock),
    domains: new DomainService(tenants, bus),
    attribution: new AttributionSetting(tenants, clock),
    revocations: new TokenRevocations(kv, bus, clock),
    mintingSecrets: new MintingSecrets(tenants, bus, clock),
  }
}

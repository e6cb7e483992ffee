import type { HttpConnectionLimits } from '../api/http-connections.ts'
import type { ApiQuotas } from '../api/quotas.ts'
import type { Clock } from '../clock.ts'
import type { Config } from '../config.ts'
import { HeldBytes } from '../quota/held-bytes.ts'
import { openConnectionsMax } from '../quota/open-files.ts'
import { RateLimiter } from '../quota/rate-limiter.ts'
import type { LimitReports } from '../quota/reports.ts'
import type { AdmissionLimits } from '../sync/admission.ts'
import { Inflow } from '../sync/inflow.ts'

interface Parts {
  readonly config: Config
  readonly clock: Clock
  readonly reports: LimitReports
}

/** Null where `perSecond` is 0: no limit. */
const rate = (perSecond: number, burst: number, clock: Clock): RateLimiter | null =>
  perSecond === 0 ? null : new RateLimiter({ perSecond, burst, clock })

/** Who may open websockets. */
export const admissionOf = ({ config, clock }: Parts): AdmissionLimits => ({
  connectionsMax: config.maxConnections,
  connectionsPerAddressMax: config.maxConnectionsPerAddress,
  connectionsPerWorkspaceMax: config.maxConnectionsPerWorkspace,
  pendingPerAddressMax: config.maxPendingPerAddress,
  connects: rate(config.connectsPerAddressPerSecond, config.connectsPerAddressBurst, clock),
})

/** Who may hold connections. */
export const httpConnectionsOf = ({ config, reports }: Parts): HttpConnectionLimits => ({
  perAddressMax: config.trustProxy === 0 ? config.maxHttpConnectionsPerAddress : 0,
  inAllMax: openConnectionsMax(),
  acted: (limit, address) => reports.acted(limit, address),
})

/** What is read from websockets. */
export const inflowOf = ({ config, clock, reports }: Parts): Inflow =>
  new Inflow({
    bytesPerSecond: config.receiveBytesPerSecond,
    burstBytes: config.receiveBurstBytes,
    clock,
    acted: (workspaceId) => reports.acted('receiveBytesPerSecond', workspaceId),
  })

/** Bytes of bodies in memory; what one workspace may have leaves room for others. */
const heldBodies = { ofWorkspace: 134_217_728, inAll: 402_653_184 }

/** What calls may take. */
export const apiQuotasOf = ({ config, clock, reports }: Parts): ApiQuotas => ({
  addressCalls: rate(config.callsPerAddressPerSecond, config.callsPerAddressBurst, clock),
  calls: rate(config.rateLimitPerSecond, config.rateLimitBurst, clock),
  held: new HeldBytes(heldBodies),
  bodies: rate(config.bodyBytesPerSecond, config.bodyBurstBytes, clock),
  proxies: config.trustProxy,
  reports,
})

import type { HttpConnectionLimits } from '../api/http-connections.ts'
import type { ApiQuotas } from '../api/quotas.ts'
import type { Clock } from '../clock.ts'
import type { Config } from '../config.ts'
import { HeldBytes } from '../quota/held-bytes.ts'
import type { LimitName } from '../quota/limits.ts'
import { openConnectionsMax } from '../quota/open-files.ts'
import { MinuteLimiter, RateLimiter } from '../quota/rate-limiter.ts'
import type { LimitReports } from '../quota/reports.ts'
import type { SharedRates } from '../quota/shared-rates.ts'
import type { AdmissionLimits } from '../sync/admission.ts'
import { Inflow } from '../sync/inflow.ts'

interface Parts {
  readonly config: Config
  readonly clock: Clock
  readonly reports: LimitReports
}

interface SharedParts extends Pick<Parts, 'config' | 'clock'> {
  /** Null: nobody else counts. */
  readonly rates: SharedRates | null
}

/** Null where `perSecond` is 0: no limit. */
const rate = (perSecond: number, burst: number, clock: Clock): RateLimiter | null =>
  perSecond === 0 ? null : new RateLimiter({ perSecond, burst, clock })

/** Likewise; all nodes count together. @param rates null: there is this one only */
function sharedRate(
  perSecond: number,
  burst: number,
  { clock, rates, limit }: { clock: Clock; rates: SharedRates | null; limit: LimitName },
): RateLimiter | null {
  if (perSecond === 0) return null
  const used = rates?.share(limit, (key, cost) => limiter.chargeOthers(key, cost))
  const limiter: RateLimiter = new RateLimiter({ perSecond, burst, clock, ...(used && { used }) })
  return limiter
}

/** Calls of `workspace/get`. Null: no limit. */
export function workspaceReadsOf({ config, clock, rates }: SharedParts): MinuteLimiter | null {
  const { rateLimitWorkspaceGetPerMinute: perMinute } = config
  if (perMinute === 0) return null
  const limit: LimitName = 'rateLimitWorkspaceGetPerMinute'
  const used = rates?.share(limit, (key, calls) => limiter.chargeOthers(key, calls))
  const limiter: MinuteLimiter = new MinuteLimiter({ perMinute, clock, ...(used && { used }) })
  return limiter
}

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
export const apiQuotasOf = ({ config, clock, reports, rates }: Parts & SharedParts): ApiQuotas => ({
  addressCalls: rate(config.callsPerAddressPerSecond, config.callsPerAddressBurst, clock),
  calls: sharedRate(config.rateLimitPerSecond, config.rateLimitBurst, {
    clock,
    rates,
    limit: 'rateLimitPerSecond',
  }),
  held: new HeldBytes(heldBodies),
  bodies: sharedRate(config.bodyBytesPerSecond, config.bodyBurstBytes, {
    clock,
    rates,
    limit: 'bodyBytesPerSecond',
  }),
  proxies: config.trustProxy,
  reports,
})

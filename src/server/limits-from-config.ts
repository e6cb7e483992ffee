import type { Clock } from '../core/base/clock.ts'
import { type Config, options } from '../core/config/config.ts'
import type { Rate } from '../core/config/option-parsers.ts'
import type { Tenant } from '../core/model/address.ts'
import { exhausted, type LimitName } from '../core/quota/limits.ts'
import { createMemoryAccounts, defaultBudgetBytes, type MemoryLedger } from '../core/quota/memory-bounds.ts'
import { openConnectionsMax } from '../core/quota/open-files.ts'
import { MinuteLimiter, RateLimiter } from '../core/quota/rate-limiter.ts'
import { SlowTransfers } from '../core/quota/slow-transfers.ts'
import { WorkTurns } from '../core/quota/work-turns.ts'
import type { AdmissionLimits } from '../core/sync/admission/admission.ts'
import { ReceiveRateLimit } from '../core/sync/socket/receive-rate-limit.ts'
import type { HttpConnectionLimits } from '../rest/http/connection-limits.ts'
import type { ApiLimits } from '../rest/http/rate-limits.ts'
import type { BaseServices, CoreServices } from '../rest/services.ts'

type RateServices = Pick<CoreServices, 'config' | 'clock' | 'rates'>

/** Creates a limiter for a rate; null if the rate is unlimited. */
const limiterOf = (rate: Rate, clock: Clock): RateLimiter | null =>
  rate.perSecond === 0 ? null : new RateLimiter(rate, clock)

/** Creates a limiter for a rate that applies to all nodes together; null if the rate is unlimited. */
function sharedLimiterOf(
  limit: 'callsPerKey' | 'callsPerAgent' | 'bodyBytesPerKey' | 'newDocumentsPerWorkspace',
  { config, clock, rates }: RateServices,
): RateLimiter | null {
  const rate = config[limit]
  if (rate.perSecond === 0) return null
  const used = rates.share(limit, (key, cost) => limiter.chargeOthers(key, cost))
  const limiter: RateLimiter = new RateLimiter(rate, clock, used)
  return limiter
}

/** Returns the limit for calls of `workspace/get`; null if it is unlimited. */
export function workspaceReadsOf({ config, clock, rates }: RateServices): MinuteLimiter | null {
  const { workspaceReadsPerMinute: perMinute } = config
  if (perMinute === 0) return null
  const limit: LimitName = 'workspaceReadsPerMinute'
  const used = rates.share(limit, (key, calls) => limiter.chargeOthers(key, calls))
  const limiter: MinuteLimiter = new MinuteLimiter({ perMinute, clock, used })
  return limiter
}

/**
 * Returns the maximum duration of the work of one call on a thread, in ms. It grows with the largest document, so that an
 * operator who permits larger documents does not have to raise a second limit.
 */
export const threadJobMsOf = ({
  maxDocumentBytes,
  threadJobSeconds,
}: Pick<Config, 'maxDocumentBytes' | 'threadJobSeconds'>): number =>
  threadJobSeconds * 1000 * Math.max(1, maxDocumentBytes / options.maxDocumentBytes.default)

/** Returns the limits for new websockets. */
export const admissionOf = ({ config, clock }: BaseServices): AdmissionLimits => ({
  connectionsMax: config.maxConnections,
  connectionsPerAddressMax: config.maxConnectionsPerAddress,
  connectionsPerWorkspaceMax: config.maxConnectionsPerWorkspace,
  unauthenticatedPerAddressMax: config.maxUnauthenticatedPerAddress,
  connects: limiterOf(config.connectsPerAddress, clock),
})

/**
 * Minimum of the limit for the HTTP connections of one address. Each websocket starts as an HTTP connection,
 * and an operator who permits few websockets does not want to reject pages and calls.
 */
const httpConnectionsMin = 5000

export const httpConnectionsOf = ({
  config,
  reports,
}: Pick<BaseServices, 'config' | 'clock' | 'reports'>): HttpConnectionLimits => ({
  perAddressMax: config.trustProxy === 0 ? Math.max(httpConnectionsMin, config.maxConnectionsPerAddress) : 0,
  inAllMax: openConnectionsMax(),
  onExceeded: (limit, address) => reports.exceeded(limit, address),
})

/**
 * Returns a function that throws if a workspace must not create another document by websocket at this time.
 * The limit applies to all nodes together.
 */
export function creationsOf(services: RateServices): (address: Pick<Tenant, 'workspaceId'>) => void {
  const limit = 'newDocumentsPerWorkspace'
  const limiter = sharedLimiterOf(limit, services)
  return ({ workspaceId }) => {
    const waitMs = limiter?.take(workspaceId) ?? 0
    if (limiter === null || waitMs === 0) return
    const { perSecond } = limiter
    const seconds = Math.ceil(waitMs / 1000)
    throw exhausted(limit, perSecond, {
      problem: `the workspace creates too many documents: ${limit} is ${perSecond} per second`,
      remedy: `try again after ${seconds} s`,
      retryAfterSeconds: seconds,
    })
  }
}

/** Returns the limit for the bytes that the server reads from websockets. */
export const inflowOf = ({ config, clock, reports }: BaseServices): ReceiveRateLimit =>
  new ReceiveRateLimit(config.receiveBytesPerWorkspace, clock, (workspaceId) =>
    reports.exceeded('receiveBytesPerWorkspace', workspaceId),
  )

/** Returns the accounts for all memory that clients can use. The metrics contain all these accounts. */
export function memoryAccountsOf({
  config,
  metrics,
  reports,
}: Pick<BaseServices, 'config' | 'reports' | 'metrics'>): MemoryLedger {
  const sizes = {
    messageBytesMax: config.maxMessageBytes,
    bodyBytesMax: config.maxBodyBytes,
    documentBytesMax: config.maxDocumentBytes,
    sendBufferBytesMax: config.sendBufferBytes,
  }
  const budgetBytes = config.memoryBudgetBytes === 0 ? defaultBudgetBytes() : config.memoryBudgetBytes
  const holders = createMemoryAccounts(budgetBytes, sizes, (limit, who) => reports.exceeded(limit, who))
  metrics.memoryAccounts.push(...Object.values(holders))
  return holders
}

/** Returns the limits for REST calls. */
export const apiQuotasOf = (services: CoreServices): ApiLimits => ({
  addressCalls: limiterOf(services.config.callsPerAddress, services.clock),
  workspaceCalls: services.callQuota,
  calls: sharedLimiterOf('callsPerKey', services),
  agentCalls: sharedLimiterOf('callsPerAgent', services),
  bodyMemory: services.memoryAccounts.requestBodies,
  bodyTurns: new WorkTurns(),
  unread: {
    holder: services.memoryAccounts.unreadResponses,
    transfers: new SlowTransfers(services.transferTimeoutMs),
    tooSlow: (who) => services.reports.exceeded('transferTimeoutSeconds', who),
  },
  bodies: sharedLimiterOf('bodyBytesPerKey', services),
  proxies: services.config.trustProxy,
  reports: services.reports,
  usage: services.counts,
})

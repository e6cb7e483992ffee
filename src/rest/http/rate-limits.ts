import type { IncomingMessage } from 'node:http'
import { clientAddress } from '../../core/access/client-address.ts'
import { type AgentCaller, type Caller, isInTenant } from '../../core/access/credentials/authenticator.ts'
import { forwardedRequests } from '../../core/access/forwarded-requests.ts'
import type { ApiError } from '../../core/base/errors.ts'
import type { OptionKey } from '../../core/config/config.ts'
import type { CallQuota } from '../../core/directory/call-quota.ts'
import type { UsageSource } from '../../core/directory/usage-counts.ts'
import type { LimitReports } from '../../core/quota/limit-reports.ts'
import { exhausted, type LimitName, limitOf, limitScopes } from '../../core/quota/limits.ts'
import type { MemoryAccount, MemoryOwner } from '../../core/quota/memory-account.ts'
import type { RateLimiter } from '../../core/quota/rate-limiter.ts'
import type { SlowTransfers } from '../../core/quota/slow-transfers.ts'
import type { WorkTurns } from '../../core/quota/work-turns.ts'
import type { Services } from '../services.ts'
import { CallUsage } from './call-usage.ts'
import type { BodyMeter } from './request-body.ts'
import type { ServedResponse } from './served-response.ts'

export interface UnreadResponsesOptions {
  readonly holder: MemoryAccount
  readonly transfers: SlowTransfers
  /**
   * Called when the client of a response reads too slowly, or not at all.
   * @param who the workspace or address of the client
   */
  readonly tooSlow: (who: string) => void
}

/** Limits of calls. A rate limit that is null does not limit anything. */
export interface ApiLimits {
  /** Limits the calls from an address, before the caller is authenticated. */
  readonly addressCalls: RateLimiter | null
  /** Limits the calls of an API key. */
  readonly calls: RateLimiter | null
  /** Limits the calls of workspaces that have their own limit. */
  readonly workspaceCalls: Pick<CallQuota, 'ready' | 'take' | 'charge' | 'waitMs'>
  readonly agentCalls: RateLimiter | null
  /** Limits the bytes in the request bodies of an API key. */
  readonly bodies: RateLimiter | null
  /** Limits the memory of request bodies. */
  readonly bodyMemory: MemoryAccount
  /** Turns of the event loop for large bodies. */
  readonly bodyTurns: WorkTurns
  readonly unread: UnreadResponsesOptions
  /** Number of reverse proxies whose `X-Forwarded-For` is trusted. */
  readonly proxies: number
  readonly reports: LimitReports
  /** Counts the usage of workspaces. */
  readonly usage: UsageSource
}

/**
 * Limits the calls of one address, before anything of a call is read. A flood of invalid calls then costs
 * next to nothing, and guessing credentials is slow.
 * @param cost number of calls that one request counts as; 0: the request is always accepted
 * @throws ApiError RESOURCE_EXHAUSTED
 */
export function limitAddress(
  { addressCalls, proxies }: ApiLimits,
  request: IncomingMessage,
  response: ServedResponse,
  cost: number,
): void {
  const address = clientAddress(request, proxies)
  response.weftLocals.address = address
  if (cost > 0) take(addressCalls, 'callsPerAddress', address, 'too many calls from this address', cost)
}

/**
 * Applies the limits of an authenticated caller before the body is read. The memory of the body is reserved until the
 * response is sent. The node that has forwarded a request has applied its rate limits.
 * @throws ApiError RESOURCE_EXHAUSTED
 */
export async function limitCaller(
  limits: ApiLimits,
  caller: Caller,
  request: IncomingMessage,
  response: ServedResponse,
  bytesMax: number,
): Promise<BodyMeter> {
  const isForwarded = forwardedRequests.has(request)
  if (!isForwarded) await countCall(limits, caller, request, response)
  const bodies = isForwarded ? null : limits.bodies
  const key = rateKeyOf(caller)
  const announced = Number(request.headers['content-length'] ?? 0)
  const isCharged = announced > 0 && announced <= bytesMax
  take(bodies, 'bodyBytesPerKey', key, 'too many bytes with this API key', isCharged ? announced : 0)
  const owner = memoryOwnerOf(response)
  const workspaceId = owner.workspaceId ?? ''
  const claim = limits.bodyMemory.open(owner, () => request.destroy())
  response.once('close', () => claim.release())
  return {
    count: (bytes) => !isCharged && bodies?.charge(key, bytes),
    keep: (bytes) => claim.reserve(bytes),
    complete: () => claim.pin(),
    turn: () => limits.bodyTurns.next(workspaceId),
  }
}

/** Counts a call of a caller. First reads the limit of the workspace, if this node does not know it. */
async function countCall(
  { calls, workspaceCalls, agentCalls, usage }: ApiLimits,
  caller: Caller,
  request: IncomingMessage,
  response: ServedResponse,
): Promise<void> {
  if (caller.level !== 'operator') await workspaceCalls.ready(ownerOf(caller))
  if (caller.level === 'agent')
    take(agentCalls, 'callsPerAgent', agentKeyOf(caller), 'too many calls of this agent')
  take(calls, 'callsPerKey', rateKeyOf(caller), 'too many calls with this API key')
  if (caller.level === 'operator') return
  workspaceCalls.take(ownerOf(caller))
  response.weftLocals.call = new CallUsage(usage, ownerOf(caller), request.socket, response)
}

/**
 * Counts further messages in the body of a request of an agent, as many calls.
 * @throws ApiError RESOURCE_EXHAUSTED
 */
export function limitMessages(
  { calls, workspaceCalls, agentCalls }: ApiLimits,
  caller: AgentCaller,
  messages: number,
): void {
  take(agentCalls, 'callsPerAgent', agentKeyOf(caller), 'too many calls of this agent', messages)
  take(calls, 'callsPerKey', rateKeyOf(caller), 'too many calls with this API key', messages)
  workspaceCalls.take(ownerOf(caller), messages)
}

/**
 * Counts further calls for a call that has been accepted, also beyond the limit.
 * @returns the milliseconds until the limits accept the next call
 */
export function chargeCalls(
  { calls, workspaceCalls }: Pick<ApiLimits, 'calls' | 'workspaceCalls'>,
  caller: Caller,
  number: number,
): number {
  if (number === 0 || caller.level === 'operator') return 0
  const key = rateKeyOf(caller)
  calls?.charge(key, number)
  workspaceCalls.charge(ownerOf(caller), number)
  return Math.max(calls?.waitMs(key) ?? 0, workspaceCalls.waitMs(ownerOf(caller)))
}

/**
 * Counts the bytes that a call adds to the workspace of the caller. If the workspace has reached its storage
 * limit, counts nothing and returns the error.
 */
export async function countGrowth(
  { storage }: Pick<Services, 'storage'>,
  caller: Caller,
  bytes: number,
): Promise<ApiError | null> {
  if (caller.level === 'operator') return null
  const workspaceId = ownerOf(caller)
  const full = await storage.errorIfFull(workspaceId)
  if (full === null) storage.added(workspaceId, bytes)
  return full
}

/**
 * Returns the key by which the calls of a caller are counted. An API key contains no spaces, so it never
 * equals the key of a workspace.
 */
function rateKeyOf(caller: Caller): string {
  if (isInTenant(caller)) return caller.tenant.apiKey
  return caller.level === 'workspace' ? `workspace ${caller.workspaceId}` : theOperator
}

/** Returns the key by which the calls of an agent are counted. */
export const agentKeyOf = ({ tenant, identity }: AgentCaller): string => `${tenant.apiKey} ${identity.userId}`

function ownerOf(caller: Caller): string {
  if (isInTenant(caller)) return caller.tenant.workspaceId
  return caller.level === 'workspace' ? caller.workspaceId : theOperator
}

/**
 * Returns the owner of the memory of a call: the workspace of the caller (null before authentication) and the
 * address of the caller.
 */
export function memoryOwnerOf({ weftLocals: { caller, address } }: ServedResponse): MemoryOwner {
  return { workspaceId: caller === undefined ? null : ownerOf(caller), address: String(address) }
}

const theOperator = 'the operator'

/** Counts and logs a limit that was exceeded, if `error` is the error of a limit. */
export function reportLimit({ reports }: ApiLimits, error: unknown, { weftLocals }: ServedResponse): void {
  const limit = limitOf(error)
  if (limit !== null) reports.exceeded(limit, whoseIs(limit, weftLocals))
}

function whoseIs(limit: LimitName, { address, caller }: ServedResponse['weftLocals']): string {
  if (caller === undefined || limitScopes[limit] === 'address') return String(address)
  if (caller.level === 'agent' && limitScopes[limit] === 'agent') return agentKeyOf(caller)
  return isInTenant(caller) && limitScopes[limit] !== 'workspace' ? caller.tenant.apiKey : ownerOf(caller)
}

type RateOption = Extract<OptionKey, LimitName>

function take(limiter: RateLimiter | null, limit: RateOption, key: string, what: string, cost = 1): void {
  const waitMs = limiter?.take(key, cost) ?? 0
  if (limiter === null || waitMs === 0) return
  const seconds = Math.ceil(waitMs / 1000)
  const { perSecond } = limiter
  throw exhausted(limit, perSecond, {
    problem: `${what}: the limit ${limit} is ${perSecond} per second`,
    remedy: `try again after ${seconds} s (Retry-After), call less often`,
    retryAfterSeconds: seconds,
  })
}

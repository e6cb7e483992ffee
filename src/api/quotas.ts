import type { NextFunction, Request, Response } from 'express'
import { clientAddress } from '../access/client-address.ts'
import type { AnyCaller } from '../access/credentials.ts'
import type { HeldBytes } from '../quota/held-bytes.ts'
import { exhausted, type LimitName, limitOf, limitScopes } from '../quota/limits.ts'
import type { RateLimiter } from '../quota/rate-limiter.ts'
import type { LimitReports } from '../quota/reports.ts'
import type { BodyMeter } from './body.ts'

/** What calls may take. Null: no limit. */
export interface ApiQuotas {
  /** Calls from an address, before anything is known of the caller. */
  readonly addressCalls: RateLimiter | null
  /** Calls of an API key. */
  readonly calls: RateLimiter | null
  /** Bytes of the bodies of an API key. */
  readonly bodies: RateLimiter | null
  /** Bodies that are in memory. */
  readonly held: HeldBytes
  /** Reverse proxies in front whose `X-Forwarded-For` is believed. */
  readonly proxies: number
  readonly reports: LimitReports
}

/**
 * For every call, before it is looked at: a flood of bad ones costs next to nothing, and guessing credentials takes its
 * time. @param cost in calls; 0: always taken @throws ApiError RESOURCE_EXHAUSTED
 */
export const limitAddress =
  ({ addressCalls, proxies }: ApiQuotas, cost = 1) =>
  (request: Request, response: Response, next: NextFunction): void => {
    const address = clientAddress(request, proxies)
    response.locals.address = address
    if (cost > 0)
      take(addressCalls, 'callsPerAddressPerSecond', address, 'too many calls from this address', cost)
    next()
  }

/**
 * For a caller who is known, before the body is read. What the body takes is counted until it is answered.
 * @throws ApiError RESOURCE_EXHAUSTED
 */
export function limitCaller(
  { calls, bodies, held }: ApiQuotas,
  caller: AnyCaller,
  { headers }: Request,
  response: Response,
  bytesMax: number,
): BodyMeter {
  const key = rateKeyOf(caller)
  take(calls, 'rateLimitPerSecond', key, 'too many calls')
  const announced = Number(headers['content-length'] ?? 0)
  const isCharged = announced > 0 && announced <= bytesMax
  take(bodies, 'bodyBytesPerSecond', key, 'too many bytes', isCharged ? announced : 0)
  const hold = held.enter(ownerOf(caller))
  response.once('close', () => hold.release())
  return {
    count: (bytes) => !isCharged && bodies?.charge(key, bytes),
    keep: (bytes) => hold.add(bytes),
  }
}

/** API keys have no spaces. */
function rateKeyOf(caller: AnyCaller): string {
  if (caller.level === 'key') return caller.tenant.apiKey
  return caller.level === 'workspace' ? `workspace ${caller.workspaceId}` : theOperator
}

function ownerOf(caller: AnyCaller): string {
  if (caller.level === 'key') return caller.tenant.workspaceId
  return caller.level === 'workspace' ? caller.workspaceId : theOperator
}

const theOperator = 'the operator'

/** Counts and logs the limit that `error` tells of, if it does. */
export function reportLimit({ reports }: ApiQuotas, error: unknown, { locals }: Response): void {
  const limit = limitOf(error)
  if (limit !== null) reports.acted(limit, whoseIs(limit, locals))
}

function whoseIs(limit: LimitName, { address, caller }: Response['locals']): string {
  const known = caller as AnyCaller | undefined
  if (known === undefined || limitScopes[limit] === 'address') return String(address)
  return known.level === 'key' && limitScopes[limit] !== 'workspace' ? known.tenant.apiKey : ownerOf(known)
}

function take(limiter: RateLimiter | null, limit: LimitName, key: string, what: string, cost = 1): void {
  const waitMs = limiter?.take(key, cost) ?? 0
  if (limiter === null || waitMs === 0) return
  const seconds = Math.ceil(waitMs / 1000)
  throw exhausted(limit, limiter.perSecond, `${what}; try again after ${seconds} s`, seconds)
}

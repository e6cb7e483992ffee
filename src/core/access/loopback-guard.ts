import type { IncomingHttpHeaders } from 'node:http'
import { isLoopbackHost } from '../config/public-url.ts'

/**
 * Returns the reason why a request must be rejected while authentication is disabled; null if the request is
 * allowed. Without this check, a page of another site could make a browser on this machine call this server,
 * by a host name that resolves to 127.0.0.1 (DNS rebinding). The headers `Host` and `Origin` reveal such a
 * request.
 */
export function loopbackViolation(headers: IncomingHttpHeaders): string | null {
  if (!isLoopbackUrl(`http://${headers.host ?? ''}`))
    return 'without authentication, the Host header must be a loopback address'
  if (headers.origin !== undefined && !isLoopbackUrl(headers.origin))
    return 'without authentication, only pages served from this machine may connect'
  return null
}

function isLoopbackUrl(url: string): boolean {
  if (!URL.canParse(url)) return false
  return isLoopbackHost(new URL(url).hostname.replace(/^\[|\]$/g, ''))
}

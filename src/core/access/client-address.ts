import type { IncomingMessage } from 'node:http'
import ipaddr from 'ipaddr.js'
import { forwardedRequests } from './forwarded-requests.ts'

/** Prefix length in bits of the IPv6 subnet of one client (RFC 6177). */
const subnetBits = 64
/** Maximum length of a client address. Text that is not an IP address is truncated to this length. */
const nameLengthMax = 64

/**
 * Returns the client address of a request, as limits count it. Without reverse proxies, this is the address
 * of the connection. Behind `proxies` reverse proxies, it is the last entry of `X-Forwarded-For` that the
 * client cannot have forged. IPv4-mapped addresses are converted to IPv4, ports are removed, and an IPv6
 * address is replaced by its /64 prefix (`2001:db8:0:1::/64`). A node that forwards a request states the address.
 */
export function clientAddress(request: IncomingMessage, proxies: number): string {
  const forwarded = forwardedRequests.get(request)
  if (forwarded !== undefined) return forwarded.clientAddress
  const peer = request.socket.remoteAddress ?? ''
  if (proxies === 0) return subnetOf(peer)
  const header = [request.headers['x-forwarded-for'] ?? []].flat().join(',')
  const hops = header
    .split(',')
    .map((hop) => hop.trim())
    .filter((hop) => hop !== '')
  return subnetOf(hops.at(-proxies) ?? hops[0] ?? peer)
}

/** Returns the /64 prefix of an IPv6 address, and any other address unchanged. */
export function subnetOf(text: string): string {
  if (plainV4.test(text)) return text
  const bare =
    withPort
      .exec(text)
      ?.slice(1)
      .find((part) => part !== undefined) ?? text
  if (!ipaddr.isValid(bare)) return bare.slice(0, nameLengthMax)
  const address = ipaddr.process(bare)
  if (address.kind() === 'ipv4') return address.toString()
  const [network] = [ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/${subnetBits}`)]
  return `${network.toString()}/${subnetBits}`
}

/**
 * Matches IPv4 addresses in the form in which sockets report them. Most calls have such an address, and it
 * needs no conversion.
 */
const plainV4 = /^\d+\.\d+\.\d+\.\d+$/
/** Matches an address with a port, as some proxies send it: `203.0.113.7:4711`, `[2001:db8::1]:4711`. */
const withPort = /^(?:(\d+\.\d+\.\d+\.\d+):\d+|\[([^\]]+)\](?::\d+)?)$/

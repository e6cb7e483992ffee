import type { IncomingMessage } from 'node:http'
import ipaddr from 'ipaddr.js'

/** Bits of an IPv6 address that whoever has one has all the rest of (RFC 6177). */
const subnetBits = 64
/** What is no address is cut to this many characters: it is a name like any other, only not a long one. */
const nameLengthMax = 64

/**
 * Where a request comes from, as what limits are counted by: the address of the connection, or, behind `proxies`
 * reverse proxies, the last entry of `X-Forwarded-For` that none of them could have been told by the client.
 * IPv4-mapped addresses read as IPv4, ports are left out; of IPv6 addresses it is the /64 (`2001:db8:0:1::/64`).
 */
export function clientAddress(request: IncomingMessage, proxies: number): string {
  const peer = request.socket.remoteAddress ?? ''
  if (proxies === 0) return subnetOf(peer)
  const header = [request.headers['x-forwarded-for'] ?? []].flat().join(',')
  const hops = header
    .split(',')
    .map((hop) => hop.trim())
    .filter((hop) => hop !== '')
  return subnetOf(hops.at(-proxies) ?? hops[0] ?? peer)
}

/** The address itself, or of an IPv6 address its /64. */
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

/** As sockets say it: nothing is to be done, and it is done for every call. */
const plainV4 = /^\d+\.\d+\.\d+\.\d+$/
/** Some proxies say the port, too: `203.0.113.7:4711`, `[2001:db8::1]:4711`. */
const withPort = /^(?:(\d+\.\d+\.\d+\.\d+):\d+|\[([^\]]+)\](?::\d+)?)$/

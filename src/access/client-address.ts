import type { IncomingMessage } from 'node:http'

/**
 * The address a request comes from: of the connection, or, behind `proxies` reverse proxies, the last entry of
 * `X-Forwarded-For` that none of them could have been told by the client. IPv4-mapped addresses read as IPv4.
 */
export function clientAddress(request: IncomingMessage, proxies: number): string {
  const peer = request.socket.remoteAddress ?? ''
  if (proxies === 0) return plain(peer)
  const header = [request.headers['x-forwarded-for'] ?? []].flat().join(',')
  const hops = header
    .split(',')
    .map((hop) => hop.trim())
    .filter((hop) => hop !== '')
  return plain(hops.at(-proxies) ?? hops[0] ?? peer)
}

const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '')

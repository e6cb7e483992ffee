import { BlockList, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { withoutTrailing } from '../base/text.ts'
import type { Config } from './config.ts'

/** Returns the URL at which clients reach the server. The URL has no trailing slash. */
export const publicUrlOf = ({ publicUrl, port }: Pick<Config, 'publicUrl' | 'port'>): string =>
  withoutTrailing('/', publicUrl ?? `http://localhost:${port}`)

/** Addresses with which the server listens on all addresses of the machine. */
const anyAddress = new Set(['0.0.0.0', '::'])
const localNames = new Set(['127.0.0.1', '::1', 'localhost'])

/** Returns the URL at which clients on the same machine reach the server. */
export function localUrlAt(host: string, port: number): string {
  return httpUrl(anyAddress.has(host) || localNames.has(host) ? 'localhost' : host, port)
}

/** Returns the URL at which other machines of a private network reach the server, unless the operator has set it. */
export const nodeUrlAt = (host: string, port: number): string =>
  httpUrl(anyAddress.has(host) ? (machineAddress() ?? 'localhost') : host, port)

const httpUrl = (name: string, port: number): string =>
  `http://${isIP(name) === 6 ? `[${name}]` : name}:${port}`

/** Returns the first IPv4 address of this machine that is not one of the loopback interface. */
const machineAddress = (): string | undefined =>
  Object.values(networkInterfaces())
    .flat()
    .find((address) => address?.family === 'IPv4' && !address.internal)?.address

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/**
 * Returns whether a host name or an IP literal (without brackets) always refers to this machine. One such
 * name is `localhost` (RFC 6761 6.3).
 */
export function isLoopbackHost(host: string): boolean {
  const family = isIP(host)
  if (family === 0) return host.toLowerCase() === 'localhost'
  return loopback.check(host, family === 4 ? 'ipv4' : 'ipv6')
}

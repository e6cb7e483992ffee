import { isIP } from 'node:net'
import { hostname } from 'node:os'

/** Listens on all of a machine's addresses: none of them in particular. */
const anyAddress = new Set(['0.0.0.0', '::'])
const loopback = new Set(['127.0.0.1', '::1', 'localhost'])

/** The URL for clients on the same machine. */
export function localUrlAt(host: string, port: number): string {
  const name = anyAddress.has(host) || loopback.has(host) ? 'localhost' : host
  return `http://${isIP(name) === 6 ? `[${name}]` : name}:${port}`
}

/** How others reach a server that has not been told: as what it listens on, or by the name of the machine. */
export function nodeUrlAt(host: string, port: number): string {
  const name = anyAddress.has(host) ? hostname() : host
  return `http://${isIP(name) === 6 ? `[${name}]` : name}:${port}`
}

import { isIP } from 'node:net'

/** Listens on all of a machine's addresses: none of them in particular. */
const anyAddress = new Set(['0.0.0.0', '::'])
const loopback = new Set(['127.0.0.1', '::1', 'localhost'])

/** The URL for clients on the same machine. */
export function localUrlAt(host: string, port: number): string {
  const name = anyAddress.has(host) || loopback.has(host) ? 'localhost' : host
  return `http://${isIP(name) === 6 ? `[${name}]` : name}:${port}`
}

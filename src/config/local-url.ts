import { isIP } from 'node:net'

/** Special addresses that make the server listen on all addresses of the machine. */
const anyAddress = new Set(['0.0.0.0', '::'])
const loopback = new Set(['127.0.0.1', '::1', 'localhost'])

/** Returns the URL of the server for clients on the same machine. */
export function localUrlAt(host: string, port: number): string {
  const name = anyAddress.has(host) || loopback.has(host) ? 'localhost' : host
  return `http://${isIP(name) === 6 ? `[${name}]` : name}:${port}`
}

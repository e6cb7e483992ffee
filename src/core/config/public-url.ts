import { isIP } from 'node:net'
import { withoutTrailing } from '../base/text.ts'
import type { Config } from './config.ts'

/** Returns the URL at which clients reach the server. The URL has no trailing slash. */
export const publicUrlOf = ({ publicUrl, port }: Pick<Config, 'publicUrl' | 'port'>): string =>
  withoutTrailing('/', publicUrl ?? `http://localhost:${port}`)

/** Addresses with which the server listens on all addresses of the machine. */
const anyAddress = new Set(['0.0.0.0', '::'])
const loopback = new Set(['127.0.0.1', '::1', 'localhost'])

/** Returns the URL at which clients on the same machine reach the server. */
export function localUrlAt(host: string, port: number): string {
  const name = anyAddress.has(host) || loopback.has(host) ? 'localhost' : host
  return `http://${isIP(name) === 6 ? `[${name}]` : name}:${port}`
}

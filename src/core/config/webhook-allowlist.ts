import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { Parser } from './option-parsers.ts'

const name = /^(?!-)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/

/** Returns whether an entry is an IP address or a CIDR range. Otherwise it is a host name. */
export const isListedRange = (entry: string): boolean => isIP(entry) !== 0 || entry.includes('/')

/** Parses a list such as `hooks.internal,10.1.0.0/16,::1`. Converts the entries to lower case. */
export const webhookAllowlist: Parser<readonly string[]> = {
  expected: 'comma-separated host names, IP addresses and CIDRs',
  parse(text) {
    const entries = text.split(',').map((entry) => entry.trim().toLowerCase())
    return entries.every(isEntry) ? entries : undefined
  },
}

/**
 * Returns whether an entry is valid. A host name whose last part is a number is invalid, because URLs treat
 * such a name as an IP address.
 */
function isEntry(entry: string): boolean {
  if (entry.includes('%')) return false
  if (isListedRange(entry))
    return (
      isIP(entry) !== 0 || ipaddr.IPv4.isValidCIDRFourPartDecimal(entry) || ipaddr.IPv6.isValidCIDR(entry)
    )
  return name.test(entry) && entry.length <= 253 && !/(^|\.)(\d+|0x[0-9a-f]*)$/.test(entry)
}

/**
 * Returns whether pages of a host may connect, by the rule of the server.
 * @param domains as they are stored; if there are none, all pages may connect
 */
export function isHostAllowed(domains: readonly string[], host: string): boolean {
  if (domains.length === 0) return true
  const name = host.toLowerCase().replace(/^(www\.)+/, '')
  return domains.some((domain) =>
    domain.startsWith('*.') ? name.endsWith(domain.slice(1)) : domain === name,
  )
}

/**
 * Returns the domains to add. They include `host` if its pages may connect before the change but could not
 * afterwards.
 */
export function withCurrentHost(domains: readonly string[], added: string, host: string): readonly string[] {
  const isListed = domains.length > 0 && isHostAllowed(domains, host)
  return isListed || isHostAllowed([added], host) ? [added] : [added, host]
}

/**
 * Returns whether pages from a host may connect. The rule is the same as in the server.
 * @param domains allowed domains in the stored form; if there are none, pages from all hosts may connect
 */
export function isHostAllowed(domains: readonly string[], host: string): boolean {
  if (domains.length === 0) return true
  const name = host.toLowerCase().replace(/^(www\.)+/, '')
  return domains.some((domain) =>
    domain.startsWith('*.') ? name.endsWith(domain.slice(1)) : domain === name,
  )
}

/**
 * Returns the domains that must be added. `host` is one of them if the change would otherwise lock out the
 * pages from this host.
 */
export function withCurrentHost(domains: readonly string[], added: string, host: string): readonly string[] {
  const isListed = domains.length > 0 && isHostAllowed(domains, host)
  return isListed || isHostAllowed([added], host) ? [added] : [added, host]
}

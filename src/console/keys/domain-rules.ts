/** Whether pages of a host may connect, as the server decides it. @param domains as they are stored; none: all may */
export function isHostAllowed(domains: readonly string[], host: string): boolean {
  if (domains.length === 0) return true
  const name = host.toLowerCase().replace(/^(www\.)+/, '')
  return domains.some((domain) =>
    domain.startsWith('*.') ? name.endsWith(domain.slice(1)) : domain === name,
  )
}

/** Returns the domains to add so that pages of `host`, which may connect now, still may afterwards. */
export function withCurrentHost(domains: readonly string[], added: string, host: string): readonly string[] {
  const isListed = domains.length > 0 && isHostAllowed(domains, host)
  return isListed || isHostAllowed([added], host) ? [added] : [added, host]
}

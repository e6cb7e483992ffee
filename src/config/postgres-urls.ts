/**
 * Returns the servers of a URL: `postgres://user@a:5432,b:5433/database` has two, as in libpq. One URL for
 * each, in that order; with one server it is the URL itself.
 */
export function postgresUrls(url: string): readonly string[] {
  const [, before = '', hosts = '', after = ''] = /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(url) ?? []
  return hosts.split(',').map((host) => `${before}${host}${after}`)
}

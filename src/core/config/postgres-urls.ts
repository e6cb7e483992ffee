/**
 * Splits a URL that contains several servers into one URL for each server, in the same order. The form is
 * that of libpq: `postgres://user@a:5432,b:5433/database` has two servers. A URL with one server is returned
 * unchanged.
 */
export function postgresUrls(url: string): readonly string[] {
  const [, before = '', hosts = '', after = ''] = /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(url) ?? []
  return hosts.split(',').map((host) => `${before}${host}${after}`)
}
